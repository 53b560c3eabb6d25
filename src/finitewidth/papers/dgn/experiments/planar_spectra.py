"""Spectra of GaLU networks on points of the plane at initialisation, job `dgn_planar_spectra`.

The networks are those of dgn Figure 4, with runs of their own that are not trained. Claim D07
compares depths, for which the few trained runs do not suffice.
"""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import torch

from finitewidth.declarations import columns as shared
from finitewidth.measures.dynamics import batches
from finitewidth.papers.dgn.experiments.planar import networks
from finitewidth.papers.dgn.settings import FurtherSpectra
from finitewidth.records.tables import Table

FIRST_RUN = 1000  # the runs of `dgn_planar` have smaller numbers, and thus other streams
TABLES = {
    "kernels": Table(
        shared.NETWORK,
        shared.DEPTH,
        shared.RUN,
        shared.TRACE_OVER_RHO_MAX,
    ),
}


def measure(inputs: Mapping[str, Any], settings: FurtherSpectra) -> dict[str, pd.DataFrame]:
    """Eigenvalues of the tangent kernels K_0 of GaLU networks.

    Returns:
        ``kernels``, see `TABLES`.
    """
    rows = []
    for depth in settings.depths:
        numbers_per_run = settings.samples * settings.width * depth
        for batch in batches(settings.draws, numbers_per_run):
            runs = range(FIRST_RUN + batch.start, FIRST_RUN + batch.stop)
            kernels = networks("galu", depth, runs, settings).kernel()  # (R, S, S)
            largest = torch.linalg.eigvalsh(kernels)[:, -1]
            traces = kernels.diagonal(dim1=1, dim2=2).sum(dim=1)
            for run, ratio in zip(runs, (traces / largest).tolist(), strict=True):
                rows.append(
                    {"network": "galu", "depth": depth, "run": run, "trace_over_rho_max": ratio}
                )
    return {"kernels": pd.DataFrame(rows)}
