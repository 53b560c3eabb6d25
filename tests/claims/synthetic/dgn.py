"""Made-up rows for the claims of dgn."""

from functools import partial
from itertools import product

import pandas as pd
from tests.claims.synthetic import jitter
from tests.claims.synthetic.memorisation import DEPTHS, errors_and_trend

LINEAR_DEPTHS = (2, 4, 6, 8, 10)
BETAS = (1, 2, 4, 8, 12, 16, 20, 24)
EPS = (0.1, 0.4)
SEEDS = range(5)


def variances(power):
    """Var = d^power / w (1 - 1 / d), exactly, and w Var for large widths."""
    rows = []
    for entry, width, depth in product(("open", "half"), (0, 512, 1024), (16, 32, 64)):
        rows.append(
            {
                "entry": entry,
                "form": "exact" if width else "leading",
                "width": width,
                "depth": depth,
                "per_d2": depth ** (power - 2) * (1 - 1 / depth),
            }
        )
    return {"variance": pd.DataFrame(rows)}


def fits(lowest):
    rows = []
    for hidden, biases, run in product((1, 2), (0, 1), range(3)):
        rows.append(
            {
                "hidden": hidden,
                "width": 16,
                "biases": biases,
                "run": run,
                "floor": 1.8,
                "lowest": 1e-9 if biases else lowest + 0.1 * run,
            }
        )
    return {"fits": pd.DataFrame(rows)}


def kernels(overlap=0.5, far=1.0, near=0.1, runs=20):
    """Kernels at the start of both widths; 1/2 is the ``overlap`` that is expected."""
    rows = []
    for width, depth, run in product((25, 500), DEPTHS, range(runs)):
        rows.append(
            {
                "width": width,
                "depth": depth,
                "run": run,
                "diagonal": 1 + 0.02 * _scatter(run, runs),
                "off_diagonal": overlap ** (depth - 1) + 0.002 * _scatter(run, runs),
                "distance": (far if width == 25 else near) + 0.01 * _scatter(run, runs),
            }
        )
    return pd.DataFrame(rows)


def entries(**changes):
    ideal = []
    for depth in DEPTHS:
        ideal.append(
            {
                "width": 500,
                "depth": depth,
                "diagonal_ideal": 1.0,
                "off_diagonal_ideal": 0.5 ** (depth - 1),
            }
        )
    return {"kernels": kernels(**changes), "entries": pd.DataFrame(ideal)}


def planar(slope=-0.1, advantage=-0.3, runs=5):
    """GaLU falls by ``slope`` decades per depth, and is ``advantage`` decades below ReLU."""
    errors = []
    spectra = []
    for network in ("galu", "relu"):
        for place, depth in enumerate(DEPTHS):
            for run in range(runs):
                level = slope * place + (advantage if network == "galu" else 0)
                level += 0.01 * jitter(network, depth, run)
                here = {"network": network, "depth": depth, "run": run}
                errors += [
                    here | {"dynamics": "gradient descent", "time": time, "ratio": 10**level}
                    for time in (1000, 10000)
                ]
                spectra.append(here | {"trace_over_rho_max": 5 - 10 * level})
    return {"errors": pd.DataFrame(errors), "kernels": pd.DataFrame(spectra)}


def deeper(slope=-0.1):
    """Errors of networks that are trained, and spectra of others that are not."""
    tables = planar(slope)
    return {"errors": tables["errors"], "spectra": tables["kernels"]}


def linear(first=0.81, steps=15.0, growth=2.0, slower=0.0, runs=50):
    """Deep linear networks; ``slower``: more steps per layer."""
    rows = []
    for depth in LINEAR_DEPTHS:
        for run in range(runs):
            rows.append(
                {
                    "depth": depth,
                    "run": run,
                    "kernel": depth * (1 + 0.02 * _scatter(run, runs)),
                    "first_ratio": first - 0.003 * _scatter(run, runs),
                    "steps_to_hundredth": steps + slower * depth + 0.1 * _scatter(run, runs),
                    "kernel_growth": growth + 0.02 * _scatter(run, runs),
                }
            )
    return {"runs": pd.DataFrame(rows)}


def circular(change=0.0):
    """Two inputs, one layer with both taps: 4 paths, 2 strengths, two paths each."""
    connections = pd.DataFrame(
        {"layer": 1, "start": [1, 2, 1, 2], "end": [1, 2, 2, 1], "tap": [1, 1, 2, 2]}
    )
    paths = pd.DataFrame({"path": [1, 2, 3, 4], "bundle": [1, 1, 2, 2]})
    rows = []
    for s, other, shift in product((1, 2), (1, 2), (0, 1)):
        value = 2.0 + s * other + change * shift
        rows.append(
            {"gating": 0, "s": s, "s_prime": other, "shift": shift, "pooled": value, "lemma": value}
        )
    kernel = pd.DataFrame(rows)
    return {"connections": connections, "paths": paths, "kernel": kernel}


def _scatter(run, runs):
    return run - (runs - 1) / 2 if runs < 10 else (run % 5) - 2


def spread(seed, scale):
    """Runs that differ a little, their mean unchanged."""
    return scale * (seed - 2)


def mnist(galu=0.965, relu=0.985, galu_epochs=4.0, train=1.0, labels=1.0):
    rows = []
    for (regime, test, epochs), variant, seed in product(
        (("galu", galu, galu_epochs), ("relu", relu, 6.0)),
        ("original", "random_labels", "random_pixels"),
        SEEDS,
    ):
        rows.append(
            {
                "regime": regime,
                "variant": variant,
                "seed": seed,
                "diverged": 0,
                "best_test": test + 0.0005 * jitter(regime, variant, seed),
                "best_train": (labels if variant == "random_labels" else train)
                + spread(seed, 1e-4),
                "epochs": 100,
                "train_images": 60_000,
                "epochs_to_99": epochs + spread(seed, 0.1) * (1 if regime == "relu" else 2),
            }
        )
    return {"runs": pd.DataFrame(rows)}


def binary(untrained="", **losses):
    """Networks that tell two digits apart; one run of the network ``untrained`` does not fit."""
    means = {
        "galu": 0.1,
        "flnpf": 0.05,
        "frnpf_di": 0.08,
        "relu": 0.03,
        "soft_relu": 0.03,
        "soft_galu": 0.03,
    }
    rows = []
    for number, (regime, loss) in enumerate((means | losses).items()):
        for seed in SEEDS:
            rows.append(
                {
                    "regime": regime,
                    "seed": seed,
                    "diverged": 0,
                    "test_loss": loss + spread(seed, 0.001) * (1 + number % 3),
                    "trained": int(regime != untrained or seed > 0),
                    "best_train": 0.9 if regime == untrained and seed == 0 else 1.0,
                }
            )
    return {"runs": pd.DataFrame(rows)}


def nu(frozen=2000.0, ka_end=0.5):
    ends = {
        ("gates", "learnt gates"): 1000.0,
        ("gates", "unlearnt gates"): 2000.0,
        ("adaptable", "ReLU"): 1000.0,
        ("adaptable", "frozen ReLU"): frozen,
        ("ka", "soft-GaLU"): ka_end,
        ("ka_hat", "soft-GaLU"): 1000.0,
    }
    rows = []
    for ((panel, series), end), epoch, seed in product(ends.items(), (0, 2, 4, 6, 8), SEEDS):
        rows.append(
            {
                "panel": panel,
                "series": series,
                "epoch": epoch,
                "seed": seed,
                "nu": (end if epoch else 3 * max(end, 0.5))
                * (1 + 0.01 * jitter(panel, series, epoch, seed)),
            }
        )
    return {"runs": pd.DataFrame(rows)}


def text(gates_only=56.0):
    values = {"gates_only": gates_only, "soft_relu": 72.0}
    rows = []
    for column, value in values.items():
        for seed in SEEDS:
            rows.append(
                {
                    "quantity": "test_accuracy",
                    "row": "cifar10",
                    "column": column,
                    "seed": seed,
                    "value": value + spread(seed, 0.1),
                    "diverged": 0,
                }
            )
    return {"runs": pd.DataFrame(rows)}


def sweep(first=0.58, fitted=0.99):
    test = {1: first, 2: 0.63, 4: 0.68, 8: 0.71, 12: 0.71, **dict.fromkeys((16, 20, 24), 0.71)}
    networks = {"dln": (0.5042, 0.3939), "relu": (fitted, 0.71)}
    networks |= {f"soft_relu_eps{eps}_beta{b}": (fitted, test[b]) for eps, b in product(EPS, BETAS)}
    rows = []
    for network, (train, accuracy) in networks.items():
        for seed in SEEDS:
            rows.append(
                {
                    "network": network,
                    "seed": seed,
                    "diverged": 0,
                    "train_images": 50_000,
                    "best_train": train + spread(seed, 0.0004 if network == "dln" else 0.0002),
                    "best_test": accuracy + 0.0005 * jitter(network, seed),
                }
            )
    return {"runs": pd.DataFrame(rows)}


ROWS = {
    "D02": (partial(variances, 2), partial(variances, 3)),
    "D04": (entries, partial(entries, overlap=1.2)),
    "D05": (
        lambda: {"kernels": kernels()},
        lambda: {"kernels": kernels(far=0.1, near=1.0)},
    ),
    "D06": (
        lambda: errors_and_trend({w: {d: -0.1 * d for d in DEPTHS} for w in (25, 500)}),
        lambda: errors_and_trend({w: {d: -abs(d - 8.1) for d in DEPTHS} for w in (25, 500)}),
    ),
    "D07": (deeper, partial(deeper, slope=0.1)),
    "D08": (planar, partial(planar, advantage=0.3)),
    "D09": (partial(fits, 1.8), partial(fits, 1.7)),
    "D11": (linear, partial(linear, first=0.9)),
    "D12": (linear, partial(linear, steps=30.0, growth=0.5)),
    "D13": (linear, partial(linear, slower=5.0)),
    "D14": (mnist, partial(mnist, galu_epochs=8.0)),
    "D15": (mnist, partial(mnist, galu=0.99)),
    "D16": (mnist, partial(mnist, train=0.9)),
    "D17": (binary, partial(binary, soft_galu=0.12)),
    "D18": (binary, partial(binary, relu=0.09)),
    "D19": (binary, partial(binary, flnpf=0.11)),
    "D20": (nu, partial(nu, frozen=900.0)),
    "D21": (text, partial(text, 50.0)),
    "D22": (sweep, partial(sweep, first=0.66)),
    "D24": (sweep, partial(sweep, fitted=0.95)),
    "D25": (circular, partial(circular, change=0.1)),
}

BOTH = ("shuffled", "constant")
INVARIANT = {
    "D02": (BOTH, "it says that a quantity does not depend on the depth"),
    "D12": (BOTH, "it says the same of every depth"),
    "D13": (BOTH, "that depths are alike is what it says"),
    "D16": (BOTH, "it says the same of all six cases"),
    "D25": (("constant",), "that shifts change nothing is what it says"),
}
