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

from finitewidth.papers.collapse.columns import networks, sweeps
from finitewidth.papers.collapse.experiments import sweep
from finitewidth.papers.collapse.experiments.images import chosen_images
from finitewidth.papers.collapse.settings.decay import Lengths
from finitewidth.records.tables import Table
from finitewidth.training.checkpoints import Checkpoints, stored_map
from finitewidth.training.images import Images

TABLES = {
    "runs": Table(
        networks.NETWORK,
        sweeps.SEED,
        sweeps.EPOCHS,
        sweeps.DECAY,
        networks.RATE,
        sweeps.INTRINSIC_RATE,
        sweeps.RATES,
        sweeps.TAU,
        networks.NC1_RATIO,
        networks.NC2,
        networks.NC3,
        sweeps.OVERLAP,
        sweeps.IMBALANCE,
        networks.TRAIN_ACCURACY,
        networks.TEST_ACCURACY,
    ),
}


def measure(
    inputs: Mapping[str, Any], settings: Lengths, checkpoints: Checkpoints | None = None
) -> dict[str, pd.DataFrame]:
    """Train the networks of all seeds on ``data`` at every length, and measure them at the end.

    Every length has the same shape of schedule (``decay_rate_at`` are shares of the epochs).
    Networks of one seed start from the same weights at every length, and see the same batches in
    the epochs that they share.

    Returns:
        ``runs``: a row for each network, as in `finitewidth.papers.collapse.experiments.sweep`.
    """
    images = chosen_images(inputs["data"], settings.images)
    lengths_and_seeds = list(product(settings.epochs, range(settings.runs)))
    train = partial(networks_of, images, settings)
    rows = []
    for trained in stored_map(train, lengths_and_seeds, checkpoints, "lengths and seeds"):
        rows += trained
    return {"runs": pd.DataFrame(rows)[TABLES["runs"].names]}


def networks_of(
    images: Images, settings: Lengths, length_and_seed: tuple[int, int]
) -> list[dict[str, Any]]:
    """Rows of ``runs`` for a length, in epochs, and a seed."""
    epochs, seed = length_and_seed
    stream = f"collapse/lengths/{seed}"
    rows = sweep.trained(images, settings, epochs, stream, start_decay=settings.start_decay)
    for row in rows:
        row["seed"] = seed
        row["epochs"] = epochs
        row["intrinsic_rate"] = row["rate"] * row["decay"] / (1 - settings.momentum)
    return rows
