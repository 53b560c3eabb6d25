"""The captions of one paper as one job: templates, settings and verdicts in, text files out."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from finitewidth.captions.text import filled, written
from finitewidth.claims.sentences import decisive_sentence
from finitewidth.common import result_files
from finitewidth.common.errors import ResultError


def write_captions(captions: Mapping[str, Mapping[str, Any]], verdicts: Sequence[str]) -> None:
    """Write the captions of a paper's finished artifacts.

    Of each, ``captions`` has ``template`` (a file), ``settings`` (those that the template names),
    ``footer`` (text without a full stop) and ``output`` (the file to write). The tables of
    ``verdicts`` have the claims that these artifacts carry.
    """
    rows = [row for file in verdicts for row in result_files.read_rows(file, empty=True)]
    for artifact, caption in captions.items():
        try:
            template = Path(caption["template"]).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            template = caption["template"]
            raise ResultError(f"the template {template} cannot be read ({error})") from error
        claims = [
            f"Claim {row['claim']} ({row['paper']}, {row['place']}): {row['statement']} "
            f"Verdict: {row['verdict']}. {decisive_sentence(row)}"
            for row in rows
            if artifact in row["artifacts"].split()
        ]
        text = filled(template, caption["settings"])
        result_files.write_text(caption["output"], written(text, claims, f"{caption['footer']}."))
