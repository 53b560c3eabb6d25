"""The captions of one paper as one job: tables and verdicts in, reStructuredText files out."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from finitewidth.captions.facts import facts_of
from finitewidth.captions.render import Context, Judged, render
from finitewidth.common import result_files
from finitewidth.common.errors import ResultError


def write_captions(captions: Mapping[str, Mapping[str, Any]], verdicts: Sequence[str]) -> None:
    """Render the captions of a paper's finished artifacts and write each to a file.

    Args:
        captions: artifact -> ``template`` (a file), ``inputs`` (the name of a table, as the
            artifact's renderer sees it -> CSV), ``footer`` (text without a full stop) and
            ``output`` (the file to write). A table that several artifacts show is read once.
        verdicts: tables of verdicts, CSV with the columns of `Judged` and ``claim``.

    Raises:
        ResultError: a table or a template is missing or damaged, a caption asks for a fact that
            is not known, or a file cannot be written.
    """
    read = cache(result_files.read_table)
    judged = read_verdicts(verdicts)
    for artifact, caption in captions.items():
        template = read_template(caption["template"])
        # a copy each: no artifact sees what another one changed
        tables = {name: read(str(file)).copy() for name, file in caption["inputs"].items()}
        context = Context(facts_of(artifact, tables), judged, caption["footer"])
        result_files.write_text(caption["output"], render(template, artifact, context))


def read_verdicts(files: Sequence[str]) -> dict[str, Judged]:
    """Claim -> verdict, of all papers.

    Raises:
        ResultError: a table is missing or damaged.
    """
    found = {}
    for file in files:
        rows = result_files.read_table(file, ("claim", "verdict", "comparisons", "failing"))
        for row in rows.itertuples():
            found[row.claim] = Judged(row.verdict, int(row.comparisons), int(row.failing))
    return found


def read_template(file: str | Path) -> str:
    """The text of a caption's template.

    Raises:
        ResultError: there is no such file, or it is not UTF-8.
    """
    try:
        return Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ResultError(f"the template {file} cannot be read ({error})") from error
