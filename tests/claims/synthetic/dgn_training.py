"""Made-up rows for the claims of dgn on trained networks."""

from itertools import product

import pandas as pd
from tests.claims.synthetic import jitter

BETAS, EPS = (1, 2, 4, 8, 12, 16, 20, 24), (0.1, 0.4)
SEEDS = range(5)


def spread(seed, scale):
    """Runs that differ a little, their mean unchanged."""
    return scale * (seed - 2)


def mnist(galu=0.965, relu=0.985, galu_epochs=4.0, train=1.0, labels=1.0):
    rows = [
        {
            "regime": regime, "variant": variant, "seed": seed, "diverged": 0,
            "best_test": test + 0.0005 * jitter(regime, variant, seed),
            "best_train": (labels if variant == "random_labels" else train) + spread(seed, 1e-4),
            "epochs": 100,
            "epochs_to_99": epochs + spread(seed, 0.1) * (1 if regime == "relu" else 2),
        }
        for regime, test, epochs in (("galu", galu, galu_epochs), ("relu", relu, 6.0))
        for variant in ("original", "random_labels", "random_pixels")
        for seed in SEEDS
    ]  # fmt: skip
    return {"runs": pd.DataFrame(rows)}


def binary(untrained="", **losses):
    """Networks that tell two digits apart; one run of the network ``untrained`` does not fit."""
    means = {"galu": 0.1, "flnpf": 0.05, "frnpf_di": 0.08, "relu": 0.03, "soft_relu": 0.03,
             "soft_galu": 0.03}  # fmt: skip
    rows = [
        {"regime": regime, "seed": seed, "diverged": 0,
         "test_loss": loss + spread(seed, 0.001) * (1 + number % 3),
         "trained": int(regime != untrained or seed > 0),
         "best_train": 0.9 if regime == untrained and seed == 0 else 1.0}
        for number, (regime, loss) in enumerate((means | losses).items())
        for seed in SEEDS
    ]  # fmt: skip
    return {"runs": pd.DataFrame(rows)}


def nu(frozen=2000.0, ka_end=0.5):
    ends = {
        ("gates", "learnt gates"): 1000.0, ("gates", "unlearnt gates"): 2000.0,
        ("adaptable", "ReLU"): 1000.0, ("adaptable", "frozen ReLU"): frozen,
        ("ka", "soft-GaLU"): ka_end, ("ka_hat", "soft-GaLU"): 1000.0,
    }  # fmt: skip
    rows = [
        {
            "panel": panel, "series": series, "epoch": epoch, "seed": seed,
            "nu": (end if epoch else 3 * max(end, 0.5))
            * (1 + 0.01 * jitter(panel, series, epoch, seed)),
        }
        for (panel, series), end in ends.items()
        for epoch in (0, 2, 4, 6, 8)
        for seed in SEEDS
    ]  # fmt: skip
    return {"runs": pd.DataFrame(rows)}


def text(gates_only=56.0):
    values = {"gates_only": gates_only, "soft_relu": 72.0}
    rows = [
        {"quantity": "test_accuracy", "row": "cifar10", "column": column, "seed": seed,
         "value": value + spread(seed, 0.1), "diverged": 0}
        for column, value in values.items() for seed in SEEDS
    ]  # fmt: skip
    return {"runs": pd.DataFrame(rows)}


def sweep(first=0.58, fitted=0.99):
    test = {1: first, 2: 0.63, 4: 0.68, 8: 0.71, 12: 0.71, **dict.fromkeys((16, 20, 24), 0.71)}
    networks = {"dln": (0.5042, 0.3939), "relu": (fitted, 0.71)}
    networks |= {f"soft_relu_eps{eps}_beta{b}": (fitted, test[b]) for eps, b in product(EPS, BETAS)}
    rows = [
        {"network": network, "seed": seed, "diverged": 0,
         "best_train": train + spread(seed, 0.0004 if network == "dln" else 0.0002),
         "best_test": accuracy + 0.0005 * jitter(network, seed)}
        for network, (train, accuracy) in networks.items()
        for seed in SEEDS
    ]  # fmt: skip
    return {"runs": pd.DataFrame(rows)}


ROWS = {
    "D14": (mnist, lambda: mnist(galu_epochs=8.0)),
    "D15": (mnist, lambda: mnist(galu=0.99)),
    "D16": (mnist, lambda: mnist(train=0.9)),
    "D17": (binary, lambda: binary(soft_galu=0.12)),
    "D18": (binary, lambda: binary(relu=0.09)),
    "D19": (binary, lambda: binary(flnpf=0.11)),
    "D20": (nu, lambda: nu(frozen=900.0)),
    "D21": (text, lambda: text(50.0)),
    "D22": (sweep, lambda: sweep(first=0.66)),
    "D24": (sweep, lambda: sweep(fitted=0.95)),
}
