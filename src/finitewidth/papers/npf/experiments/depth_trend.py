"""How the error of narrow networks goes with their depth, job `npf_depth_trend`.

The networks are those of npf Figure 7, left, with runs of their own that no figure shows. Claims
N12 and D06 compare neighbouring depths, for which the runs of the figures are too few.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from finitewidth.declarations import columns as shared
from finitewidth.measures import dynamics
from finitewidth.papers.npf.experiments.memorisation import networks
from finitewidth.papers.npf.settings import DepthTrend
from finitewidth.records.tables import Table
from finitewidth.training.checkpoints import Checkpoints, stored_map

FIRST_RUN = 1000  # the runs of `npf_memorisation` have smaller numbers, and thus other streams
TIMES = (100, 1000)  # of which claims speak
TABLES = {
    "errors": Table(
        shared.WIDTH,
        shared.DEPTH,
        shared.DYNAMICS,
        shared.RUN,
        shared.TIME,
        shared.RATIO,
    ),
}


def measure(
    inputs: Mapping[str, Any], settings: DepthTrend, checkpoints: Checkpoints | None = None
) -> dict[str, pd.DataFrame]:
    """Descend with the narrow networks of every depth.

    Returns:
        ``errors`` at `TIMES` and at the last step, see `TABLES`. No rows if ``trend.runs`` is 0.
    """
    runs = settings.trend.runs
    width = settings.widths.narrow
    batches = [
        (depth, batch)
        for depth in settings.depths
        for batch in dynamics.batches(runs, settings.samples * width * depth)
    ]

    def rows_of_batch(depth_and_batch: tuple[int, range]) -> list[dict[str, Any]]:
        return list(_rows(width, *depth_and_batch, settings))

    parts = stored_map(rows_of_batch, batches, checkpoints, "batches of runs")
    rows = [row for part in parts for row in part]
    return {"errors": pd.DataFrame(rows, columns=TABLES["errors"].names)}


def _rows(width: int, depth: int, batch: range, settings: DepthTrend) -> Iterator[dict[str, Any]]:
    """The errors of a batch of runs, at the times of which claims speak."""
    runs = range(FIRST_RUN + batch.start, FIRST_RUN + batch.stop)
    descent = dynamics.Descent(
        rate=settings.rate,
        rho=settings.rho,
        loss_half=settings.loss_half,
        steps=settings.trend.steps,
        linear_steps=1,
        precision=settings.precision,
    )
    result = dynamics.follow(networks(width, depth, runs, settings), descent, len(batch))
    times, ratios = result.ratios[dynamics.DESCENT]  # (T,), (T, runs)
    for time, ratios_at_time in zip(times, ratios, strict=True):
        if time not in TIMES and time != times[-1]:
            continue
        for run, ratio in zip(runs, ratios_at_time, strict=True):
            yield {
                "width": width,
                "depth": depth,
                "dynamics": dynamics.DESCENT,
                "run": run,
                "time": time,
                "ratio": float(ratio),
            }
