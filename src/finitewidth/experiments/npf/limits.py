"""ReLU networks held against limits of infinite width, means over networks (npf appendix A)."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

# weights -> the limits they are held against, and the output variance that belongs to each
LIMITS = {
    "gaussian": {"tangent": "2/w", "halved": "1/w"},
    "signed": {"signed": "2/w", "halved": None},
}
PLACE = ["weights", "depth", "output_variance", "limit"]


def measure(inputs: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Factor by which a limit has to be multiplied, and correlation with it.

    Args:
        inputs: ``limits``, as `finitewidth.experiments.npf.theory.measure` returns them.
        settings: none.

    Returns:
        ``rows``: weights, depth, output_variance, limit, expected (1 where the limit is that of
        these networks, else empty), scale and correlation with their standard errors
        ``<name>_error``, networks, width.
    """
    rows = []
    for place, group in inputs["limits"].groupby(PLACE, sort=False):
        weights, _, variance, limit = place
        if limit in LIMITS[weights]:
            rows.append(
                {**dict(zip(PLACE, place, strict=True)),
                 "expected": 1.0 if LIMITS[weights][limit] == variance else None,
                 **_mean(group, "scale"), **_mean(group, "correlation"),
                 "networks": len(group), "width": group["width"].iloc[0]}
            )  # fmt: skip
    return {"rows": pd.DataFrame(rows)}


def _mean(group: pd.DataFrame, name: str) -> dict[str, float]:
    values = group[name]
    return {name: values.mean(), f"{name}_error": values.std(ddof=1) / len(values) ** 0.5}
