"""The job that judges a paper: it reads the tables that claims and numbers need, and compares."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from finitewidth.claims import ledger, reported
from finitewidth.claims.columns import NUMBERS, PARTS, VERDICTS
from finitewidth.claims.verdicts import CannotDecideError
from finitewidth.declarations import reported_numbers
from finitewidth.declarations.references import table_file
from finitewidth.records import result_files


def run_claims(
    paper: str,
    tables: Sequence[str],
    reported_file: str | None,
    outputs: Mapping[str, str],
    settings: Mapping[str, Any],
) -> None:
    """Judge all claims of a paper and compare all its printed numbers.

    All files are CSV: the ``tables`` that claims and numbers read, the printed numbers, if there
    are any, and the ``outputs``: ``verdicts``, ``parts`` and ``numbers``. The settings are
    ``preset``; ``results``, the folder of its results; ``situations``, the id of every claim that
    has a judge -> the fields of its `ledger.Situation`; ``numbers``, ``artifact/quantity`` -> part
    -> the fields of its `reported.Basis`.

    Raises:
        ValueError: if two comparisons of a claim have the same name.
    """
    by_file = {
        Path(file).relative_to(settings["results"]).as_posix(): result_files.read_table(file)
        for file in tables
    }
    verdicts, parts = _judged(paper, by_file, settings)
    printed = []
    if reported_file:
        printed = reported_numbers.read_reported(Path(reported_file).parent, paper)
    result_files.write_table(outputs["verdicts"], verdicts)
    result_files.write_table(outputs["parts"], parts)
    result_files.write_table(outputs["numbers"], _compared(paper, printed, by_file, settings))


def _judged(
    paper: str, by_file: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The verdicts on all claims of a paper, and their comparisons."""
    verdicts = []
    parts = []
    for claim in ledger.claims_of(paper):
        situation = ledger.Situation()
        if claim.judge:
            situation = ledger.Situation(**settings["situations"][claim.id])
        judged = ledger.judge(claim, _tables(by_file, claim.reads), situation)
        refuse_equal_names(claim.id, [part["part"] for part in judged.parts])
        verdicts.append(ledger.verdict_row(claim, judged, settings["preset"], situation))
        parts += [{"claim": claim.id, **part} for part in judged.parts]
    return (
        pd.DataFrame(verdicts, columns=VERDICTS.names),
        pd.DataFrame(parts, columns=PARTS.names),
    )


def _compared(
    paper: str,
    printed: Sequence[reported_numbers.Reported],
    by_file: Mapping[str, pd.DataFrame],
    settings: Mapping[str, Any],
) -> pd.DataFrame:
    """The printed numbers of a paper beside ours."""
    ours = {}
    bases = {}
    for numbers in ledger.numbers_of(paper):
        key = (numbers.artifact, numbers.quantity)
        try:
            ours[key] = tuple(numbers.find(_tables(by_file, numbers.reads)))
        except CannotDecideError:  # this run has no rows of what the paper speaks about
            ours[key] = ()
        parts = settings["numbers"]["/".join(key)]
        bases[key] = {part: reported.Basis(**fields) for part, fields in parts.items()}
    rows = reported.compare(printed, ours, bases)
    return pd.DataFrame(rows, columns=NUMBERS.names)


def refuse_equal_names(claim: str, names: Sequence[str]) -> None:
    """Raise a ValueError if comparisons of a claim share a name, so that none could be cited."""
    for name, count in Counter(names).items():
        if count > 1:
            message = f"{claim}: {count} comparisons have the name {name!r}; say what differs"
            raise ValueError(message)


def _tables(
    by_file: Mapping[str, pd.DataFrame], references: Mapping[str, str]
) -> dict[str, pd.DataFrame]:
    """The tables that references name, as far as this run has them."""
    files = {name: table_file(reference) for name, reference in references.items()}
    return {name: by_file[file] for name, file in files.items() if file in by_file}
