"""Networks at equal tau that are trained for different lengths, job `collapse_lengths`.

At one length of training tau is proportional to the intrinsic rate, rate * decay (Li, Lyu and
Arora 2020), so that a sweep of one length cannot say which of the two NC3 follows. Here tau is the
same while the length, and with it the intrinsic rate, differs manyfold.
"""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.common.progress import in_turn
from finitewidth.papers.collapse.experiments import sweep
from finitewidth.training.checkpoints import Checkpoints

COLUMNS = (
    "network", "seed", "epochs", "decay", "rate", "intrinsic_rate", "rates", "tau",
    *sweep.MEASURED, "train_accuracy", "test_accuracy",
)  # fmt: skip


def measure(
    inputs: Mapping[str, Any], settings: Mapping[str, Any], checkpoints: Checkpoints | None = None
) -> dict[str, pd.DataFrame]:
    """Train the networks of all seeds on ``data`` at every length, and measure them at the end.

    Every length has the same shape of schedule (``decay_rate_at`` are shares of the epochs).
    Networks of one seed start from the same weights at every length, and see the same batches in
    the epochs that they share. The settings are those of
    `finitewidth.papers.collapse.settings.Lengths`.

    Returns:
        ``runs``, each network: `COLUMNS`, of which intrinsic_rate is rate * decay / (1 - momentum)
        at the start, and the others are those of `finitewidth.papers.collapse.experiments.sweep`.
    """
    lengths, momentum = settings["epochs"], settings["momentum"]
    rows = []
    for epochs in in_turn(lengths, "lengths", sizes=lengths):
        of_length = {**settings, "epochs": epochs, "control_rates": []}
        for row in sweep.trained(inputs["data"], of_length, "collapse/lengths", checkpoints):
            intrinsic_rate = row["rate"] * row["decay"] / (1 - momentum)
            rows.append(row | {"epochs": epochs, "intrinsic_rate": intrinsic_rate})
    return {"runs": pd.DataFrame(rows)[list(COLUMNS)]}
