"""Extra table of npf: ReLU networks and limits of infinite width, such as the paper's K^(d)."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.tables.typeset import Typeset, plus_minus

WEIGHTS = {"gaussian": "Gaussian", "signed": "±σ"}
NAMES = {
    "tangent": "tangent kernel, Gaussian weights",
    "halved": "K^(d) of the paper",
    "signed": "tangent kernel, weights ±σ",
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
            "expected": "–" if pd.isna(row["expected"]) else f"{row['expected']:g}",
            "factor ± standard error": plus_minus(row["scale"], row["scale_error"], 3),
            "correlation": plus_minus(row["correlation"], row["correlation_error"], 4),
            "networks": str(row["networks"]),
            "w": f"{row['width']:,}",
        }
        for row in rows.to_dict("records")
    ]
    return Typeset(pd.DataFrame(lines), "Tangent kernels of ReLU networks against wide limits")
