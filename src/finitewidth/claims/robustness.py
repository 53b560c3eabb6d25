"""Do verdicts depend on chance? The same claims judged under several base seeds, and compared.

A run under each base seed leaves three files for every paper in ``<results>/robustness``: verdicts,
comparisons and provenance. The identity in the provenance is a digest of the code and the settings
that the verdicts rest on, the base seed excepted. Only verdicts of equal identity are compared.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from finitewidth.claims import ledger
from finitewidth.claims.verdicts import FAILS
from finitewidth.common import result_files
from finitewidth.common.errors import ResultError
from finitewidth.common.settings import results_folder

FOLDER = "robustness"
TABLE = f"{FOLDER}/robustness.csv"
COLUMNS = (
    "claim", "paper", "seed", "verdict", "verdict_at_seed_0", "changed", "reason", "comparisons",
    "failing", "failing_comparisons", "statistic", "value", "low", "high", "threshold", "identity",
)  # fmt: skip
COPIED = (
    "verdict", "reason", "comparisons", "failing", "statistic", "value", "low", "high", "threshold",
)  # fmt: skip
YES, NO = "yes", "no"

Row = dict[str, Any]


def files_of(folder: str | Path, paper: str) -> dict[str, str]:
    """Name -> file of what one run leaves for a paper.

    Args:
        folder: the folder of the run's results.
        paper: the key of the paper.
    """
    kinds = {"verdicts": "csv", "parts": "csv", "provenance": "json"}
    return {kind: f"{folder}/{FOLDER}/{paper}_{kind}.{end}" for kind, end in kinds.items()}


def run_again(
    paper: str,
    claims: Sequence[str],
    tables: Sequence[str],
    outputs: Mapping[str, str],
    settings: Mapping[str, Any],
) -> None:
    """Judge some of the claims of a paper, as rule ``robustness_claims`` does.

    Args:
        paper: the key of the paper.
        claims: which claims, by their ids.
        tables: the CSV files that they read.
        outputs: as of `files_of`.
        settings: as for `finitewidth.claims.job.run_claims`.
    """
    from finitewidth.claims.job import read_tables, write_verdicts

    chosen = [claim for claim in ledger.claims_of(paper) if claim.id in claims]
    write_verdicts(chosen, read_tables(tables, settings["results"]), outputs, settings)


def compare(preset: str, seeds: Iterable[int]) -> list[Row]:
    """Compare the verdicts of base seed 0 with those of others, and write them as one table.

    The table is `TABLE` in the folder of results of base seed 0.

    Args:
        preset: whose results, below the working directory.
        seeds: the other base seeds.

    Returns:
        The rows, see `COLUMNS`: one for each claim and base seed, seed 0 first.

    Raises:
        ResultError: verdicts of a base seed are missing, damaged, or of other code or settings.
    """
    seeds = sorted({*seeds} - {0})
    first = results_folder(preset)
    papers = [file.name.removesuffix("_verdicts.csv")
              for file in sorted(Path(first, FOLDER).glob("*_verdicts.csv"))]  # fmt: skip
    if not papers:
        raise ResultError(
            f"{first}/{FOLDER} has no verdicts; run `{_command(preset, 0)}`. If that makes none, "
            f"preset {preset} decides no claim that rests on cheap random experiments"
        )
    rows: list[Row] = []
    for paper in papers:
        judged = {seed: _read(preset, seed, paper) for seed in (0, *seeds)}
        rows += compared({seed: verdicts for seed, (verdicts, _) in judged.items()},
                         {seed: parts for seed, (_, parts) in judged.items()})  # fmt: skip
    import pandas as pd

    result_files.write_table(f"{first}/{TABLE}", pd.DataFrame(rows, columns=COLUMNS))
    return rows


def compared(
    verdicts: Mapping[int, Sequence[Row]], parts: Mapping[int, Sequence[Row]]
) -> list[Row]:
    """The verdicts on some claims under each base seed, beside those of base seed 0.

    Args:
        verdicts: base seed, 0 among them -> a row per claim, as of `ledger.verdict_row`, with the
            ``identity`` of its run.
        parts: base seed -> a row per comparison.

    Returns:
        A row per claim and base seed, with `COLUMNS`; the claims in the order of base seed 0.

    Raises:
        ResultError: a base seed has other claims, or was judged by other code or settings.
    """
    by_seed = {seed: {row["claim"]: row for row in rows} for seed, rows in verdicts.items()}
    for seed, rows in by_seed.items():
        for claim in {*rows, *by_seed[0]}:
            if rows.get(claim, {}).get("identity") != by_seed[0].get(claim, {}).get("identity"):
                raise ResultError(
                    f"claim {claim}: the verdicts of base seeds 0 and {seed} were not judged with "
                    "the same code and settings; run `make robustness` again"
                )
    return [
        _row(by_seed[seed][claim], by_seed[0][claim], seed, parts[seed])
        for claim in by_seed[0]
        for seed in sorted(by_seed)
    ]


def _row(judged: Row, at_zero: Row, seed: int, parts: Iterable[Row]) -> Row:
    failing = [part["part"] for part in parts
               if part["claim"] == judged["claim"] and part["outcome"] == FAILS]  # fmt: skip
    return {
        "claim": judged["claim"], "paper": judged["paper"], "seed": seed,
        **{column: judged[column] for column in COPIED},
        "verdict_at_seed_0": at_zero["verdict"],
        "changed": NO if judged["verdict"] == at_zero["verdict"] else YES,
        "failing_comparisons": "; ".join(failing), "identity": judged["identity"],
    }  # fmt: skip


def summary(rows: Sequence[Row]) -> str:
    """How many verdicts change, and which, as text.

    Args:
        rows: as of `compare`.
    """
    seeds = sorted({row["seed"] for row in rows} - {0})
    claims = list(dict.fromkeys(row["claim"] for row in rows))
    changed = list(dict.fromkeys(row["claim"] for row in rows if row["changed"] == YES))
    lines = [
        f"{len(claims)} claims judged under base seed 0 and under {_listed(seeds)}: "
        f"the verdict changes for {len(changed)}"
    ]
    for claim in changed:
        of_claim = [row for row in rows if row["claim"] == claim]
        lines += [f"{claim} ({of_claim[0]['paper']})"]
        lines += [f"  seed {row['seed']}: {row['verdict']} ({row['reason']})" for row in of_claim]
    return "\n".join(lines)


def _listed(seeds: Sequence[int]) -> str:
    return ", ".join(map(str, seeds)) or "no other"


def _read(preset: str, seed: int, paper: str) -> tuple[list[Row], list[Row]]:
    """The verdicts and the comparisons of a paper under one base seed."""
    files = files_of(results_folder(preset, seed), paper)
    if missing := [file for file in files.values() if not Path(file).is_file()]:
        raise ResultError(f"{missing[0]} is missing; run `{_command(preset, seed)}`")
    identity = result_files.read_json(files["provenance"])["identity"]
    verdicts = result_files.read_rows(files["verdicts"])
    parts = result_files.read_rows(files["parts"], empty=True)
    return [{**row, "identity": identity} for row in verdicts], parts


def _command(preset: str, seed: int) -> str:
    return f"snakemake --cores 2 robustness --config preset={preset} seed={seed}"
