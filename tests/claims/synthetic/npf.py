"""Made-up rows for the claims of npf."""

from functools import partial
from itertools import product

import pandas as pd
from tests.claims.synthetic import jitter
from tests.claims.synthetic.memorisation import best_at, errors_and_trend, errors_of

REGIMES = ("frnpf_ii", "frnpf_di", "dlnpf", "flnpf", "relu")
ROWS_OF_TABLE2 = ("fc_sgd", "fc_adam", "vconv_sgd", "vconv_adam", "gconv_sgd", "gconv_adam")
DEPTHS = (3, 5, 8)
WIDTHS = (16, 32, 64, 128, 256, 512)


def table2_runs(runs=5, **accuracies):
    """Runs of Table 2, every regime's mean the same in all rows; fractions, spread .001."""
    means = {"frnpf_ii": 0.67, "frnpf_di": 0.67, "dlnpf": 0.771, "flnpf": 0.797, "relu": 0.803}
    rows = []
    for row, regime, seed in product(ROWS_OF_TABLE2, REGIMES, range(runs)):
        rows.append(
            {
                "row": row,
                "regime": regime,
                "seed": seed,
                "step_size": 0.1,
                "best_test": (means | accuracies)[regime] + 0.001 * (seed - (runs - 1) / 2),
                "train_last": 0.99,
                "best_train": 0.99,
                "trained": 1,
                "diverged": 0,
                "chosen": 1,
            }
        )
    return {"runs": pd.DataFrame(rows)}


def cells(**changes):
    """Runs of Table 2 and the printed cells, which they meet."""
    printed = {"frnpf_ii": 67.1, "frnpf_di": 66.9, "dlnpf": 77.0, "flnpf": 79.7, "relu": 80.3}
    rows = []
    for row in ROWS_OF_TABLE2:
        for regime in REGIMES:
            rows.append(
                {
                    "paper": "npf",
                    "row": row,
                    "regime": regime,
                    "reported_mean": printed[regime],
                    "reported_spread": 0.3,
                }
            )
    return {**table2_runs(**changes), "cells": pd.DataFrame(rows)}


def stage_runs(accuracies=(0.671, 0.723, 0.744, 0.771, 0.784, 0.787, 0.794), runs=5):
    """FLNPF at stages 0 to 6; fractions, spread .001."""
    rows = []
    for stage, mean in enumerate(accuracies):
        for seed in range(runs):
            rows.append(
                {
                    "regime": "flnpf" if stage else "frnpf_ii",
                    "stage": stage,
                    "seed": seed,
                    "best_test": mean + 0.001 * jitter(stage, seed) * (stage > 0),
                    "best_train": 0.99,
                    "trained": 1,
                    "diverged": 0,
                }
            )
    return {"stages": pd.DataFrame(rows)}


def stages_beside_table2(*accuracies):
    """All that Figure 3, left, draws."""
    return {**table2_runs(), **(stage_runs(accuracies) if accuracies else stage_runs())}


def kernel_sizes(ratio=3.0, runs=5):
    """Sizes of K^f, and of K^v that many times as large, at three epochs."""
    rows = []
    for epoch in (0, 5, 10):
        for seed in range(runs):
            rows.append(
                {
                    "epoch": epoch,
                    "seed": seed,
                    "trace_kf": 10.0 + seed,
                    "trace_kv": ratio * (10 + seed + 0.1 * jitter(epoch, seed)),
                    "frobenius_kf": 5.0 + epoch,
                    "frobenius_kv": ratio * (5.1 + epoch + seed),
                }
            )
    return {"kernels": pd.DataFrame(rows)}


def nu_runs(end=0.4, runs=5):
    """Values of nu that fall (or rise) evenly to ``end`` of where they began."""
    rows = []
    for epoch in range(0, 9, 2):
        for seed in range(runs):
            rows.append(
                {
                    "epoch": epoch,
                    "seed": seed,
                    "condition_number": 10.0,
                    "nu": (10 + seed) * (1 + (end + 0.01 * seed - 1) * epoch / 8),
                }
            )
    return {"runs": pd.DataFrame(rows)}


def beside_the_cntk(comparable=1, table2=None, **accuracies):
    """CNTK and networks on the same 1000 images, percent, and Table 2, fractions."""
    means = {"frnpf_ii": 50.0, "frnpf_di": 51.0, "dlnpf": 70.0, "flnpf": 72.0, "relu": 73.0}
    rows = []
    for regime, mean in (means | accuracies).items():
        rows.append(
            {
                "kind": "network",
                "regime": regime,
                "train": 1000,
                "runs": 5,
                "accuracy": mean,
                "standard_error": 1.0,
                "dof": 20.0,
                "train_accuracy_lowest": 99.0,
                "trained": 1,
            }
        )
    for n, accuracy in ((1000, 60.0), (100, 30.0)):
        rows.append(
            {
                "kind": "kernel",
                "regime": "cntk",
                "train": n,
                "accuracy": accuracy,
                "standard_error": 1.0,
            }
        )
    rows.append({"kind": "printed", "regime": "cntk", "accuracy": 77.43})
    runs = table2_runs(**{"dlnpf": 0.79} | (table2 or {}))
    return {**runs, "cntk": pd.DataFrame(rows).assign(comparable=comparable)}


def means(error=1e-15, z=3.0, trace=1.001):
    common = {"depth": 3, "width": 64, "draws": 2000, "trace_ratio": trace, "trace_ratio_se": 0.002}
    rows = [
        {**common, "networks": "enumerated", "gates": "bernoulli", "mean_error": error},
        {**common, "networks": "drawn", "gates": "relu", "mean_error": 0.01, "max_z": z},
    ]
    return {"mean": pd.DataFrame(rows)}


def errors(grows, slope, gates="independent", start=1.0):
    """Four runs per place, errors start · (place / 16)^slope within 2 %."""
    rows = []
    for depth, place, run in product(DEPTHS, WIDTHS, range(4)):
        rows.append(
            {
                "grows": grows,
                "gates": gates,
                "depth": depth,
                "run": run,
                "width": place if grows == "width" else 16,
                "copies": 1 if grows == "width" else place / 16,
                "error": start * (place / 16) ** slope * (0.98 + 0.01 * run),
            }
        )
    return {"runs": pd.DataFrame(rows)}


def own_gates(slope, limit):
    rows = [{"curve": "limit", "depth": depth, "x": 16, "y": limit} for depth in DEPTHS]
    return errors("width", slope, "own") | {"curves": pd.DataFrame(rows)}


def variances(power):
    """Var = d^power / w (1 - 1 / d), exactly."""
    rows = []
    for entry in ("open", "half"):
        for width in (64, 128, 256, 512, 1024):
            for depth in (4, 8, 16, 32):
                value = depth**power / width * (1 - 1 / depth)
                rows.append(
                    {
                        "entry": entry,
                        "form": "exact",
                        "width": width,
                        "depth": depth,
                        "variance": value,
                        "per_d2": value * width / depth**2,
                        "per_d3": value * width / depth**3,
                    }
                )
    return {"variance": pd.DataFrame(rows)}


ROWS = {
    "N04": (means, partial(means, trace=0.5)),
    "N05": (partial(errors, "width", -0.5), partial(errors, "width", 0.2)),
    "N06": (partial(variances, 3), partial(variances, 5)),
    "N07": (partial(own_gates, 0.0, 1.0), partial(own_gates, -0.5, 0.0)),
    "N10": (partial(errors, "copies", -0.5), partial(errors, "copies", 0.2)),
    "N12": (
        lambda: errors_and_trend(best_at(narrow=8, wide=12)),
        lambda: errors_and_trend(best_at(narrow=16, wide=12)),
    ),
    "N13": (
        lambda: errors_of(best_at(narrow=8, wide=12)),
        lambda: errors_of(best_at(narrow=8, wide=20)),
    ),
    "N21": (nu_runs, partial(nu_runs, end=1.5)),
    "N16": (beside_the_cntk, partial(beside_the_cntk, table2={"flnpf": 0.75})),
    "N17": (beside_the_cntk, partial(beside_the_cntk, table2={"relu": 0.75})),
    "N14": (table2_runs, partial(table2_runs, frnpf_di=0.70)),
    "N15": (table2_runs, partial(table2_runs, dlnpf=0.66)),
    "N18": (table2_runs, partial(table2_runs, flnpf=0.65)),
    "N19": (stage_runs, partial(stage_runs, (0.67, 0.78, 0.74, 0.77, 0.78, 0.79, 0.79))),
    "N20": (
        stages_beside_table2,
        partial(stages_beside_table2, 0.70, 0.69, 0.74, 0.771, 0.784, 0.787, 0.794),
    ),
    "N22": (kernel_sizes, partial(kernel_sizes, 200.0)),
    "N25": (cells, partial(cells, relu=0.83)),
}

INVARIANT = {
    "N04": (("shuffled",), "every row is held against constants"),
    "N14": (("constant",), "that means are alike is what it says"),
    "N22": (("shuffled",), "it says the same of every epoch"),
}
