"""What Table 2 shows: which gates come first in each row, ours and the paper's."""

import pandas as pd

from finitewidth.common.number_words import listed
from finitewidth.papers.npf.tables.table2 import PAPER, REGIMES, Look

OURS = "best_test"  # the epoch that the paper uses
RANDOM = ("frnpf_ii", "frnpf_di")
LEARNT = ("dlnpf", "flnpf", "relu")
ROW = ["network", "optimiser"]


def result(rows: pd.DataFrame, settings: Look) -> str:
    """Count the rows in which each kind of gates is first, and in which learnt ones win."""
    ours = rows[rows["epoch"] == OURS].dropna(subset=["mean"])
    printed = rows[rows["epoch"] == PAPER]
    if ours.empty:
        return "All of our runs diverged."
    titles = REGIMES[settings.paper]
    clear = int((ours.groupby(ROW)["bold"].sum() == 1).sum())
    count = ours.groupby(ROW).ngroups
    same_images = set(ours["data"]) == set(printed["data"])
    images = "" if same_images else ", on other images than the paper's"
    learnt = _learnt_wins(ours)
    firsts = _firsts(ours, titles)
    return (
        f"First in a row of Table 2, at the epoch of the best test accuracy{images}, is {firsts}, "
        f"in {clear} of {count} by more than a standard deviation; the paper has "
        f"{_firsts(printed, titles)}. All learnt gates are above both kinds of random gates in "
        f"{learnt} of {count} rows, and in {_learnt_wins(printed)} of "
        f"{printed.groupby(ROW).ngroups} of the paper's."
    )


def _firsts(rows: pd.DataFrame, titles: dict[str, str]) -> str:
    """In how many rows each kind of gates has the highest mean: ``DLNPF in 5 and ReLU in 1``."""
    firsts = rows.loc[rows.groupby(ROW, sort=False)["mean"].idxmax(), "regime"]
    counts = firsts.value_counts(sort=False).sort_values(ascending=False, kind="stable")
    return listed(f"{titles[regime]} in {count}" for regime, count in counts.items())


def _learnt_wins(rows: pd.DataFrame) -> int:
    """Number of rows in which all learnt gates have higher means than all random ones."""
    wins = 0
    for _, row in rows.groupby(ROW):
        means = row.set_index("regime")["mean"]
        random = means.reindex(RANDOM).max()
        wins += means.reindex(LEARNT).min(skipna=False) > random
    return wins
