"""Made-up rows for the claims of beyond on kernels during training."""

import numpy as np
import pandas as pd
from tests.claims.synthetic import jitter

VARIANCES = (1.0, 2.0, 2.2)
STEPS = (0, 100, 500, 3000)
RUNS = 3


def blocks(start=0.05, early=0.8, rise=1.0, order=1.0, same=0.8):
    """Rows of beyond_training.

    Args:
        start: gap of classes at the start.
        early: share of its rise that is done at step 500.
        rise: of the gap and of the alignment, over the usual one.
        order: 1 if larger gaps go with smaller test losses, -1 if with larger ones.
        same: class mean over the diagonal at the start.
    """
    shares = dict(zip(STEPS, (0.0, early / 2, early, 1.0), strict=True))
    rows = []
    for place, variance in enumerate(VARIANCES):
        for seed in range(RUNS):
            for step in STEPS:
                noise = 1 + 0.01 * jitter(variance, seed, step)
                done = shares[step] * rise
                gap = (start + done * (0.6 - 0.2 * place)) * noise
                level = same * noise
                rows.append({
                    "sigma_w2": variance, "seed": seed, "step": step, "diagonal": 100.0 * noise,
                    "same_class": 100 * level * noise, "other_class": 100 * (level - gap) * noise,
                    "same_class_with_diagonal": 100 * (0.9 * level + 0.1) * noise, "gap": gap,
                    "alignment": (0.35 + 0.2 * done) * noise,
                    "train_loss": np.exp(-8 * shares[step]) * noise,
                    "test_loss": (0.2 + 0.1 * order * (place - 1)) * noise,
                })  # fmt: skip
    return {"rows": pd.DataFrame(rows)}


ROWS = {
    "B19": (blocks, lambda: blocks(start=0.3, same=1.2)),
    "B20": (blocks, lambda: blocks(start=0.7, rise=-1.0)),
    "B21": (blocks, lambda: blocks(order=-1.0)),
}
