"""Claims of npf on nu over time: Figure 3, middle."""

from finitewidth.claims.judges import samples
from finitewidth.claims.ledger import Tables
from finitewidth.claims.verdicts import CannotDecideError, Part

RANK_CORRELATION, REMAINDER = -0.8, 0.8


def n21(tables: Tables) -> list[Part]:
    """It falls: in rank with the epochs, and to less than 0.8 of what it was."""
    runs = tables["runs"]
    if runs.empty:
        raise CannotDecideError("no run of nu")
    correlations, remainders = [], []
    for _, run in runs.sort_values("epoch").groupby("seed"):
        correlations.append(run["epoch"].corr(run["nu"], method="spearman"))
        remainders.append(run["nu"].iloc[-1] / run["nu"].iloc[0])
    return [
        samples.mean("rank correlation of nu with the epoch", correlations, high=RANK_CORRELATION),
        samples.mean("nu at the end over nu at the start", remainders, high=REMAINDER),
    ]
