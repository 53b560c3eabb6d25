"""Samples from rows of runs: values by seed without diverged runs, and their means."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from finitewidth.claims.reported import Ours
from finitewidth.claims.verdicts import CannotDecideError
from finitewidth.measures.compare import standard_error

if TYPE_CHECKING:
    import pandas as pd


def by_seed(rows: "pd.DataFrame", value: str, what: str, **keys: object) -> "pd.Series":
    """The column ``value`` of the runs that have these ``keys`` and did not diverge, by seed.

    Raises:
        CannotDecideError: no run is left, or a run has several rows and would count repeatedly.
    """
    for key, wanted in keys.items():
        rows = rows[rows[key].isin(wanted if isinstance(wanted, tuple) else (wanted,))]
    if "diverged" in rows:
        rows = rows[rows["diverged"] == 0]
    if rows.empty:
        raise CannotDecideError(f"no run of {what} ended well")
    if rows["seed"].duplicated().any():
        raise CannotDecideError(f"several rows of {what} for one run")
    return rows.set_index("seed")[value].sort_index()


def mean_of(
    row: str, column: str, values: Sequence[float], part: str = "", untrained: str = ""
) -> Ours:
    """The mean of runs as our counterpart of a printed number; its error is 0 for one run."""
    sample = np.asarray(values, float)
    error = standard_error(float(sample.std(ddof=1)), len(sample), 1) if len(sample) > 1 else 0.0
    return Ours(row=row, column=column, value=float(sample.mean()), standard_error=error,
                runs=len(sample), part=part, untrained=untrained)  # fmt: skip
