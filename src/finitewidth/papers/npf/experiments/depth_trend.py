"""How the error of narrow networks goes with their depth, job `npf_depth_trend`.

The networks are those of npf Figure 7, left, with runs of their own that no figure shows. Claims
N12 and D06 compare neighbouring depths, for which the runs of the figures are too few.
"""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.measures import dynamics
from finitewidth.papers.npf.experiments.memorisation import networks
from finitewidth.training.checkpoints import Checkpoints, stored_map

FIRST_RUN = 1000  # the runs of `npf_memorisation` have smaller numbers, and thus other streams
TIMES = (100, 1000)  # of which claims speak
COLUMNS = ("width", "depth", "dynamics", "run", "time", "ratio")


def measure(
    inputs: Mapping[str, Any], settings: Mapping[str, Any], checkpoints: Checkpoints | None = None
) -> dict[str, pd.DataFrame]:
    """Descend with the narrow networks of every depth.

    Returns:
        ``errors``: width, depth, dynamics, run, time, ratio = |e_t|^2/|e_0|^2, at `TIMES` and at
        the last step. No rows if ``trend.runs`` is 0.
    """
    runs, width = settings["trend"]["runs"], settings["widths"]["narrow"]
    descent = settings | {"steps": settings["trend"]["steps"], "linear_steps": 1}

    def rows_of_batch(depth: int, batch: range) -> list[dict[str, Any]]:
        numbers = range(FIRST_RUN + batch.start, FIRST_RUN + batch.stop)
        drawn = networks(width, depth, numbers, settings)
        found = dynamics.follow(drawn, descent, len(batch))
        times, ratios = found.ratios[dynamics.DESCENT]
        wanted = {*TIMES, times[-1]}
        return [
            {
                "width": width,
                "depth": depth,
                "dynamics": dynamics.DESCENT,
                "run": run,
                "time": time,
                "ratio": float(ratio),
            }
            for time, row in zip(times, ratios, strict=True)
            if time in wanted
            for run, ratio in zip(numbers, row, strict=True)
        ]

    pieces = [
        (depth, batch)
        for depth in settings["depths"]
        for batch in dynamics.batches(runs, settings["samples"] * width * depth)
    ]
    found = stored_map(lambda each: rows_of_batch(*each), pieces, checkpoints, "batches of runs")
    rows = [row for batch in found for row in batch]
    return {"errors": pd.DataFrame(rows, columns=COLUMNS)}
