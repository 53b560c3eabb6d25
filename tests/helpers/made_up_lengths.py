"""Made-up runs of `collapse_lengths`."""

from itertools import product

import numpy as np
import pandas as pd


def made_up_lengths(small_power=0.02, large_power=-0.27, length_power=0.03, seeds=3):
    """Networks whose NC3 is a power of tau, with these powers of decay and of length.

    ``small_power`` is that of decay at tau = 0.6 and 1.8, ``large_power`` at 5.4, and
    ``length_power`` that of length everywhere.
    """
    rows = []
    for seed in range(seeds):
        noise = np.random.default_rng([7, seed]).normal(0, 0.01, 99)
        cases = product((10, 40), (0.00125, 0.005, 0.02), (0.6, 1.8, 5.4))
        for (epochs, strength, tau), shift in zip(cases, noise, strict=False):
            power = large_power if tau > 2 else small_power
            change = (strength / 0.02) ** power * (epochs / 10) ** length_power
            intrinsic_rate = tau / (10 * epochs)
            rows.append(
                {
                    "network": "VGG6",
                    "seed": seed,
                    "epochs": epochs,
                    "decay": strength,
                    "rate": intrinsic_rate / strength / 10,
                    "intrinsic_rate": intrinsic_rate,
                    "rates": tau / strength,
                    "tau": tau,
                    "nc3": 0.6 * tau**-0.7 * change * np.exp(shift),
                    "train_accuracy": 1.0,
                }
            )
    return pd.DataFrame(rows)
