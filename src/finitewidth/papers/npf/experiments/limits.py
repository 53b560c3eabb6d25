"""ReLU networks compared with infinite-width limits: means over networks (npf appendix A)."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.declarations import columns as shared
from finitewidth.papers.npf.columns import theory as columns
from finitewidth.records.tables import Table

# weights -> limit -> the output variance for which the limit applies
LIMITS: dict[str, dict[str, str | None]] = {
    "gaussian": {"tangent": "2/w", "halved": "1/w"},
    "signed": {"signed": "2/w", "halved": None},
}
PLACE = ["weights", "depth", "output_variance", "limit"]
TABLES = {
    "rows": Table(
        columns.LAW,
        shared.DEPTH,
        columns.OUTPUT_VARIANCE,
        columns.LIMIT,
        columns.EXPECTED,
        columns.MEAN_SCALE,
        columns.SCALE_ERROR,
        columns.MEAN_CORRELATION,
        columns.CORRELATION_ERROR,
        columns.NETWORKS,
        shared.WIDTH,
    ),
}


def measure(inputs: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """The factor that fits a limit to the kernels, and the correlation with it.

    Returns:
        ``rows``, see `TABLES`.
    """
    rows = []
    for (weights, depth, variance, limit), group in inputs["limits"].groupby(PLACE, sort=False):
        if limit not in LIMITS[weights]:
            continue
        applies = LIMITS[weights][limit] == variance
        rows.append(
            {
                "weights": weights,
                "depth": depth,
                "output_variance": variance,
                "limit": limit,
                "expected": 1.0 if applies else None,
                **_mean(group, "scale"),
                **_mean(group, "correlation"),
                "networks": len(group),
                "width": group["width"].iloc[0],
            }
        )
    return {"rows": pd.DataFrame(rows)}


def _mean(group: pd.DataFrame, name: str) -> dict[str, float]:
    values = group[name]
    return {name: values.mean(), f"{name}_error": values.std(ddof=1) / len(values) ** 0.5}
