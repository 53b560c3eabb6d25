"""Extra table of npf: ReLU networks and limits of infinite width, such as the paper's K⁽ᵈ⁾."""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from finitewidth.tables.numbers import plain, uncertain, whole
from finitewidth.tables.typeset import Typeset

WEIGHTS = {"gaussian": "Gaussian weights", "signed": "weights ±σ"}
NAMES = {
    "tangent": "tangent kernel, Gaussian",
    "halved": "K⁽ᵈ⁾ of the paper",
    "signed": "tangent kernel, ±σ",
}


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return all rows of the table ``rows``."""
    return tables["rows"]


def typeset(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Typeset:
    """Typeset one line per network and limit."""
    lines = [
        {
            "weights": WEIGHTS[row["weights"]],
            "d": str(row["depth"]),
            "output variance": row["output_variance"],
            "limit": NAMES[row["limit"]],
            "expected": plain(row["expected"]),
            "factor": uncertain(row["scale"], row["scale_error"], 4),
            "correlation": uncertain(row["correlation"], row["correlation_error"], 4),
        }
        for row in rows.to_dict("records")
    ]
    title = (
        "Tangent kernels of ReLU networks against wide limits, mean ± standard error over networks"
    )
    return Typeset(pd.DataFrame(lines), title, tuple(_sizes(rows)), spans=("weights",))


def _sizes(rows: pd.DataFrame) -> Iterator[str]:
    """Notes on number and width of the networks; by depth if they differ."""
    for (networks, width), group in rows.groupby(["networks", "width"], sort=False):
        depths = ", ".join(map(str, sorted(group["depth"].unique())))
        yield f"d = {depths}: {whole(networks)} networks of width w = {whole(width)}"
