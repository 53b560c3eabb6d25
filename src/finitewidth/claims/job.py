"""The job that judges a paper: it reads the tables that claims and numbers need, and compares."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from finitewidth.claims import ledger, reported
from finitewidth.claims.columns import NUMBERS, PARTS, VERDICTS
from finitewidth.claims.verdicts import CannotDecideError
from finitewidth.declarations import reported_numbers
from finitewidth.declarations.references import table_file
from finitewidth.records import result_files


@dataclass(frozen=True, kw_only=True)
class Run:
    """What a run tells of itself to those who judge a paper."""

    preset: str
    results: str  # folder of its results
    situations: Mapping[str, ledger.Situation]  # of every claim that has a judge
    bases: Mapping[str, Mapping[str, reported.Basis]]  # ``artifact/quantity`` -> part -> basis


def run_claims(
    paper: str,
    tables: Sequence[str],
    reported_file: str | None,
    outputs: Mapping[str, str],
    settings: Mapping[str, Any],
) -> None:
    """Judge all claims of a paper and compare all its printed numbers.

    All files are CSV: the ``tables`` that claims and numbers read, the printed numbers, if there
    are any, and the ``outputs``: ``verdicts``, ``parts`` and ``numbers``. The settings are those of
    `run_of`.

    Raises:
        ValueError: if two comparisons of a claim have the same name.
    """
    run = run_of(settings)
    by_file = {}
    for file in tables:
        name = Path(file).relative_to(run.results).as_posix()
        by_file[name] = result_files.read_table(file)
    verdicts, parts = _judged(paper, by_file, run)
    printed = []
    if reported_file:
        printed = reported_numbers.read_reported(Path(reported_file).parent, paper)
    result_files.write_table(outputs["verdicts"], verdicts)
    result_files.write_table(outputs["parts"], parts)
    result_files.write_table(outputs["numbers"], _compared(paper, printed, by_file, run))


def run_of(settings: Mapping[str, Any]) -> Run:
    """The run of `finitewidth.pipeline.claim_input.ClaimInput.settings`.

    There, ``situations`` has the fields of a `ledger.Situation` for each claim, and ``numbers``
    those of a `reported.Basis` for each part of printed numbers.
    """
    situations = {}
    for claim, fields in settings["situations"].items():
        situations[claim] = ledger.Situation(**fields)
    bases = {}
    for quantity, parts in settings["numbers"].items():
        bases[quantity] = {part: reported.Basis(**fields) for part, fields in parts.items()}
    return Run(
        preset=settings["preset"],
        results=settings["results"],
        situations=situations,
        bases=bases,
    )


def _judged(
    paper: str, by_file: Mapping[str, pd.DataFrame], run: Run
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The verdicts on all claims of a paper, and their comparisons."""
    verdicts = []
    parts = []
    for claim in ledger.claims_of(paper):
        situation = run.situations[claim.id] if claim.judge else ledger.Situation()
        judged = ledger.judge(claim, _tables(by_file, claim.reads), situation)
        refuse_equal_names(claim.id, [part["part"] for part in judged.parts])
        verdicts.append(ledger.verdict_row(claim, judged, run.preset, situation))
        parts += [{"claim": claim.id, **part} for part in judged.parts]
    return (
        pd.DataFrame(verdicts, columns=VERDICTS.names),
        pd.DataFrame(parts, columns=PARTS.names),
    )


def _compared(
    paper: str,
    printed: Sequence[reported_numbers.Reported],
    by_file: Mapping[str, pd.DataFrame],
    run: Run,
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
        bases[key] = run.bases["/".join(key)]
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
