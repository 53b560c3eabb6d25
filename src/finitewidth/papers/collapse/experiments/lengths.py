"""Networks at equal tau that are trained for different lengths, job `collapse_lengths`.

At one length of training tau is proportional to the intrinsic rate, rate * decay (Li, Lyu and
Arora 2020), so that a sweep of one length cannot say which of the two NC3 follows. Here tau is the
same while the length, and with it the intrinsic rate, differs manyfold.
"""

from collections.abc import Mapping
from functools import partial
from itertools import product
from typing import Any

import pandas as pd

from finitewidth.papers.collapse.experiments import sweep
from finitewidth.training.checkpoints import Checkpoints, stored_map
from finitewidth.training.images import Images, balanced_images

COLUMNS = (
    "network",
    "seed",
    "epochs",
    "decay",
    "rate",
    "intrinsic_rate",
    "rates",
    "tau",
    *sweep.MEASURED,
    "train_accuracy",
    "test_accuracy",
)


def measure(
    inputs: Mapping[str, Any], settings: Mapping[str, Any], checkpoints: Checkpoints | None = None
) -> dict[str, pd.DataFrame]:
    """Train the networks of all seeds on ``data`` at every length, and measure them at the end.

    Every length has the same shape of schedule (``decay_rate_at`` are shares of the epochs).
    Networks of one seed start from the same weights at every length, and see the same batches in
    the epochs that they share. The settings are those of
    `finitewidth.papers.collapse.settings.decay.Lengths`.

    Returns:
        ``runs``: a row for each network, with `COLUMNS`. intrinsic_rate is rate * decay / (1 -
        momentum) at the start. The others are those of
        `finitewidth.papers.collapse.experiments.sweep`.
    """
    images = balanced_images(inputs["data"], **settings["images"])
    lengths_and_seeds = list(product(settings["epochs"], range(settings["runs"])))
    train = partial(networks_of, images, settings)
    rows = []
    for networks in stored_map(train, lengths_and_seeds, checkpoints, "lengths and seeds"):
        rows += networks
    return {"runs": pd.DataFrame(rows)[list(COLUMNS)]}


def networks_of(
    images: Images, settings: Mapping[str, Any], length_and_seed: tuple[int, int]
) -> list[dict[str, Any]]:
    """Rows of ``runs`` for a length, in epochs, and a seed."""
    epochs, seed = length_and_seed
    training = {**settings, "epochs": epochs, "control_rates": []}
    stream = f"collapse/lengths/{seed}"
    rows = sweep.trained(images, training, stream, start_decay=settings["start_decay"])
    for row in rows:
        row["seed"] = seed
        row["epochs"] = epochs
        row["intrinsic_rate"] = row["rate"] * row["decay"] / (1 - settings["momentum"])
    return rows
