"""What the figure of the energy shows: whether labels move to the first eigenvectors."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.papers.npf.figures.extra_energy import LABELS
from finitewidth.tables.numbers import uncertain


def result(rows: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    """Give the share of the first eigenvectors whose share changes most, and nu."""
    top = rows[(rows["panel"] == "top") & (rows["series"] == LABELS)].dropna(subset=["share"])
    start = top["epoch"].min()
    end = top["epoch"].max()
    if not start < end:
        return "There are not two epochs at which the path kernel has eigenvectors."
    before = top[top["epoch"] == start].set_index("eigenvectors")
    after = top[top["epoch"] == end].set_index("eigenvectors")
    changes = (after["share"] - before["share"]).dropna()
    count = changes.abs().idxmax()
    vectors = "eigenvector alone" if count == 1 else f"{count} eigenvectors"
    grows = "grows" if changes[count] > 0 else "does not grow:"
    from_share = _share(before.loc[count])
    to_share = _share(after.loc[count])
    return (
        "While a ReLU network learns, the share of the squared norm of the labels in the first "
        f"{vectors} of the path kernel changes most; it {grows} from {from_share} at epoch "
        f"{start:g} to {to_share} at epoch {end:g} (± standard deviation over runs){_nu(rows)}."
    )


def _share(row: pd.Series) -> str:
    return f"{uncertain(100 * row['share'], 100 * row['standard_deviation'])} %"


def _nu(rows: pd.DataFrame) -> str:
    """How nu, to which all eigenvectors add, changes; empty without values."""
    nu = rows[(rows["panel"] == "nu") & (rows["series"] == LABELS)].dropna(subset=["nu"])
    all_vectors = nu[nu["eigenvectors"] == nu["eigenvectors"].max()].sort_values("epoch")["nu"]
    if len(all_vectors) < 2:
        return ""
    first = all_vectors.iloc[0]
    last = all_vectors.iloc[-1]
    falls = "falls" if last < first else "does not fall:"
    return f", and $\\nu_t$ {falls} from {first:,.0f} to {last:,.0f}"
