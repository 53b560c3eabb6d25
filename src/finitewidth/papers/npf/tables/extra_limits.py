"""Extra table of npf: ReLU networks and limits of infinite width, such as the paper's K⁽ᵈ⁾."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.papers.npf.columns import theory as columns
from finitewidth.records.tables import Table
from finitewidth.tables.numbers import plain, uncertain
from finitewidth.tables.typeset import Typeset

TABLE = Table(
    columns.LAW,
    columns.LIMIT_DEPTH,
    columns.OUTPUT_VARIANCE_TIMES_WIDTH,
    columns.WIDE_LIMIT,
    columns.EXPECTED,
    columns.FACTOR,
    columns.FACTOR_ERROR,
    columns.MEAN_CORRELATION,
    columns.CORRELATION_ERROR_SHOWN,
    columns.NETWORKS,
    columns.LIMIT_WIDTH,
)
WEIGHTS = {"gaussian": "Gaussian weights", "signed": "weights ±σ"}
NAMES = {
    "tangent": "tangent kernel, Gaussian",
    "halved": "K⁽ᵈ⁾ of the paper",
    "signed": "tangent kernel, ±σ",
}


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return all rows of the table ``rows``."""
    rows = tables["rows"].rename(
        columns={
            "scale": "factor",
            "scale_error": "factor_standard_error",
            "correlation_error": "correlation_standard_error",
        }
    )
    variances = rows["output_variance"].str.removesuffix("/w").astype(float)
    return rows.assign(output_variance_times_width=variances)


def typeset(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Typeset:
    """Typeset one line per network and limit."""
    lines = [_line(row) for row in rows.to_dict("records")]
    title = (
        "Tangent kernels of ReLU networks against wide limits, mean ± standard error over networks"
    )
    notes = []
    for (networks, width), group in rows.groupby(["networks", "width"], sort=False):
        depths = ", ".join(map(str, sorted(group["depth"].unique())))
        notes.append(f"d = {depths}: {networks:,} networks of width w = {width:,.0f}")
    return Typeset(
        pd.DataFrame(lines), title, tuple(notes), spans=("weights",), variables=("d", "w")
    )


def _line(row: Mapping[str, Any]) -> dict[str, str]:
    """Header of a column -> text of its cell."""
    variance = plain(row["output_variance_times_width"])
    return {
        "weights": WEIGHTS[row["weights"]],
        "d": str(row["depth"]),
        "output variance": f"{variance}/w",
        "limit": NAMES[row["limit"]],
        "expected": plain(row["expected"]),
        "factor": uncertain(row["factor"], row["factor_standard_error"], 4),
        "correlation": uncertain(row["correlation"], row["correlation_standard_error"], 4),
    }
