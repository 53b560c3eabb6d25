"""The cumulative spectrum of E[K_0]/d, job `npf_memorisation_ideal`.

Used for npf Figure 6 and dgn Figure 1, left.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from finitewidth.declarations import columns as shared
from finitewidth.kernels.gated_moments import ideal_eigenvalues
from finitewidth.papers.npf.columns import theory as columns
from finitewidth.papers.npf.settings import Task
from finitewidth.records.tables import Table

TABLES = {
    "spectrum": Table(
        shared.DEPTH,
        shared.INDEX,
        columns.IDEAL_CUMULATIVE,
    ),
}


def measure(inputs: Mapping[str, Any], settings: Task) -> dict[str, pd.DataFrame]:
    """Cumulative sums of the ascending eigenvalues in closed form, by depth and index from 1."""
    parts = []
    for depth in settings.depths:
        values = ideal_eigenvalues(settings.samples, depth, settings.mu)
        index = np.arange(1, len(values) + 1)
        parts.append(
            pd.DataFrame({"depth": depth, "index": index, "cumulative": np.cumsum(values)})
        )
    return {"spectrum": pd.concat(parts, ignore_index=True)}
