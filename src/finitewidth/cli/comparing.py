"""``finitewidth compare``: which verdicts and numbers of two runs differ, in their errors."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from finitewidth.cli.causes import causes
from finitewidth.cli.names import complete_runs
from finitewidth.cli.options import Count
from finitewidth.common.errors import ConfigError, nearest
from finitewidth.settings.presets import preset_names

if TYPE_CHECKING:
    import pandas as pd

LEAST = 3.0  # standard errors
NOT_JUDGED = "not judged"


def folder_of(run: str) -> Path:
    """Return the results folder of a run.

    It is named by its folder below ``results``, such as ``quick``, ``quick-seed1`` or ``mine``, or
    it is a folder of results, also of another clone.
    """
    folder = Path(run) if Path(run).is_dir() else Path("results", run)
    presets = preset_names("config")
    if not folder.is_dir() and run.split("-")[0] not in presets:
        raise ConfigError(
            f"{run} is neither a folder nor a run of a preset{nearest(run, presets)}; "
            f"presets are {', '.join(presets)}"
        )
    if not any(map(_has_rows, (folder / "claims").glob("*_verdicts.csv"))):
        raise ConfigError(
            f"{run}: {folder}/claims has no verdicts; make them with `finitewidth run`, or name "
            "another preset or folder of results"
        )
    return folder


def _has_rows(table: Path) -> bool:
    """Whether a table has more than its header."""
    return len(table.read_bytes().splitlines()) > 1


def read_claims(folder: Path, kind: str) -> "pd.DataFrame":
    """Return the verdicts, the parts or the numbers of all papers of a run."""
    import pandas as pd

    from finitewidth.records import result_files

    files = sorted((folder / "claims").glob(f"*_{kind}.csv"))
    return pd.concat([result_files.read_table(file) for file in files], ignore_index=True)


def verdicts(one: Path, other: Path) -> "pd.DataFrame":
    """Return the claims whose verdicts differ: ``claim``, ``one``, ``other``."""
    first = read_claims(one, "verdicts")[["claim", "verdict"]]
    second = read_claims(other, "verdicts")[["claim", "verdict"]]
    both = first.merge(second, on="claim", how="outer", suffixes=("_one", "_other"))
    both = both.rename(columns={"verdict_one": "one", "verdict_other": "other"})
    both = both.fillna(NOT_JUDGED)
    return both[both["one"] != both["other"]]


def numbers(one: Path, other: Path, least: float = LEAST) -> "pd.DataFrame":
    """Return values that differ by ``least`` combined standard errors or more, largest first.

    Values are the statistics of claims and our counterparts of printed numbers. Where both are
    exact, any difference beyond rounding counts, and ``errors`` is infinite.

    Args:
        one: folder of results of a run.
        other: that of another run.
        least: standard errors of the difference.

    Returns:
        what (the name of the value), one, other, errors (the difference in standard errors).
    """
    import numpy as np

    both = _values(one).merge(_values(other), on="what", suffixes=("_one", "_other")).dropna()
    both = both.rename(columns={"value_one": "one", "value_other": "other"})
    difference = (both["other"] - both["one"]).abs()
    rounding = 1e-9 * np.maximum(both["one"].abs(), both["other"].abs())
    error = np.hypot(both["error_one"], both["error_other"])
    with np.errstate(divide="ignore", invalid="ignore"):
        both["errors"] = np.where(difference <= rounding, 0, difference / error)
    far = both[both["errors"] >= least].sort_values("errors", ascending=False, kind="stable")
    return far[["what", "one", "other", "errors"]].reset_index(drop=True)


def _values(folder: Path) -> "pd.DataFrame":
    """The statistics of claims and our counterparts of printed numbers: what, value, error."""
    import pandas as pd

    tables = []
    for kind, keys, value in (
        ("parts", ["claim", "part"], "value"),
        ("numbers", ["artifact", "quantity", "row", "column"], "ours"),
    ):
        rows = read_claims(folder, kind)
        names = ["/".join(row) for row in rows[keys].astype(str).values]
        table = pd.DataFrame({"what": names})
        table["value"] = pd.to_numeric(rows[value], errors="coerce").astype(float)
        table["error"] = pd.to_numeric(rows["standard_error"]).astype(float).fillna(0.0)
        tables.append(table)
    return pd.concat(tables)


def compare(
    first: Annotated[str, Parameter(completer=complete_runs)],
    /,
    *others: Annotated[str, Parameter(name="OTHER", completer=complete_runs)],
    least: float = LEAST,
    rows: Count = 20,
) -> None:
    """Why two runs differ, and which verdicts and numbers; of more runs, each beside the first.

    Example: finitewidth compare quick quick-seed1

    Args:
        first: a preset, <preset>-seed<k>, or a folder of results
        others: further runs, named in the same way
        least: smallest difference, in standard errors
        rows: numbers to show
    """
    if not others:
        raise ConfigError("name two runs, such as quick quick-seed1")
    for other in others:
        one_folder = folder_of(first)
        other_folder = folder_of(other)
        for line in causes(one_folder, other_folder):
            print(line)
        changed_verdicts = verdicts(one_folder, other_folder)
        changed_numbers = numbers(one_folder, other_folder, least)
        _print_verdicts(changed_verdicts, first, other)
        exact = changed_numbers["errors"] == math.inf
        print(f"{_differ(sum(~exact), 'number')} by {least:g} standard errors or more.")
        _print_numbers(changed_numbers[~exact], rows)
        if exact.any():
            print(f"Of numbers without a standard error, {sum(exact)} changed.")
            _print_numbers(changed_numbers[exact], rows)


def _print_verdicts(changed: "pd.DataFrame", first: str, other: str) -> None:
    judged_in_both = changed[(changed[["one", "other"]] != NOT_JUDGED).all(axis=1)]
    print(f"{_differ(len(judged_in_both), 'verdict')} between {first} and {other}.")
    for row in judged_in_both.itertuples():
        print(f"  {row.claim}: {row.one} -> {row.other}")
    for run, column in ((first, "one"), (other, "other")):
        count = int((changed[column] == NOT_JUDGED).sum())
        if count:
            print(f"{count} judged in one run only; {run} has no verdict on them.")


def _print_numbers(table: "pd.DataFrame", rows: int) -> None:
    for row in table.head(rows).itertuples():
        errors = "" if math.isinf(row.errors) else f"{row.errors:.3g}"
        print(f"  {errors:>8}  {row.one:.5g} -> {row.other:.5g}  {row.what}")
    if len(table) > rows:
        print(f"  and {len(table) - rows} more; --rows shows more of them")


def _differ(count: int, noun: str) -> str:
    return f"1 {noun} differs" if count == 1 else f"{count} {noun}s differ"
