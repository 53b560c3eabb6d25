"""Claims of npf on accuracies: Table 2 and Figure 3, left."""

from typing import TYPE_CHECKING

from finitewidth.claims.judges import samples
from finitewidth.claims.ledger import Tables
from finitewidth.claims.reported import Ours
from finitewidth.claims.verdicts import CannotDecideError, Part
from finitewidth.measures.compare import standard_error

if TYPE_CHECKING:
    import pandas as pd

ROWS = ("fc_sgd", "fc_adam", "vconv_sgd", "vconv_adam", "gconv_sgd", "gconv_adam")


def accuracies(runs: "pd.DataFrame", row: str, regime: str) -> "pd.Series":
    """Best test accuracies of a cell's runs, percent, in the order of their seeds.

    Diverged runs and step sizes that a search did not choose are left out.

    Raises:
        CannotDecideError: no run is left.
    """
    cell = runs[
        (runs["row"] == row) & (runs["regime"] == regime) & (runs["chosen"] == 1)
        & (runs["diverged"] == 0)
    ].sort_values("seed")  # fmt: skip
    if cell.empty:
        raise CannotDecideError(f"no run of {regime} in row {row} ended well")
    return 100 * cell["best_test"]


def n14(tables: Tables) -> list[Part]:
    """FRNPF (II) and FRNPF (DI) agree within a point in every row."""
    runs = tables["runs"]
    return [
        samples.difference(
            f"{row}: FRNPF (II) - FRNPF (DI), points", accuracies(runs, row, "frnpf_ii"),
            accuracies(runs, row, "frnpf_di"), low=-1, high=1,
        )
        for row in ROWS
    ]  # fmt: skip


def table2_numbers(tables: Tables) -> list[Ours]:
    """Our Table 2: mean best test accuracy of every cell, percent."""
    found = []
    for (row, regime), runs in tables["runs"].groupby(["row", "regime"], sort=False):
        sound = runs[(runs["chosen"] == 1) & (runs["diverged"] == 0)]
        spread = 100 * sound["best_test"].std(ddof=1)
        found.append(
            Ours(
                row=row, column=regime, value=100 * sound["best_test"].mean(),
                standard_error=standard_error(spread, len(sound), ddof=1), runs=len(sound),
            )
        )  # fmt: skip
    return found
