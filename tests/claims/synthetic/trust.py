"""Made-up rows for the claims of trust: dispersions from simple laws, kappa from geometric ones."""

import itertools
from functools import partial

import numpy as np
import pandas as pd

BORDERS = {"relu": 2.0, "tanh": 3.5}
DEPTHS = (1, 2, 3, 5, 8, 12, 20, 24, 40, 48, 60, 80, 100)
PHASES = {1.0: "ordered", 2.0: "critical", 3.0: "chaotic"}


def maps(ordered=1.0, ordered_slope=0.0, chaotic=4.0, sharpness=1.0, biases=(1,), bias_power=0.5):
    """Maps in which log r rises from almost 0 to chaotic L / M across the border.

    The rise is as steep as the ``sharpness`` power of M and as sigma_b2 to minus ``bias_power``;
    in the ordered phase r - 1 = (ordered + ordered_slope L) / M.
    """
    rows = []
    for activation, border in BORDERS.items():
        for bias in biases:
            for width in (50, 100, 200):
                steep = 32 * (width / 50) ** sharpness * ((0.1 + bias) / 1.1) ** -bias_power
                for share in np.arange(0.25, 2.01, 0.025):
                    for depth in DEPTHS:
                        rise = 1 / (1 + np.exp(-steep * (share - 1)))
                        small = np.log1p((ordered + ordered_slope * depth) / width)
                        log_r = small + chaotic * rise * (depth - 1) / width
                        rows.append((activation, width, bias, share * border, depth, np.exp(log_r)))
    columns = ["activation", "width", "sigma_b2", "sigma_w2", "depth", "dispersion"]
    cells = pd.DataFrame(rows, columns=columns).assign(sample="ours", error=1e-4)
    lines = [
        (activation, bias, border) for activation, border in BORDERS.items() for bias in biases
    ]
    borders = pd.DataFrame(lines, columns=["activation", "sigma_b2", "sigma_w2"])
    return {"cells": cells, "borders": borders}


def maps_of_biases(**law):
    """The maps of one width alone, for several bias variances."""
    cells = maps(biases=(0.0, 0.1, 1.0), **law)["cells"]
    return {"cells": cells[cells["width"] == 50]}


def borders(tanh=(1.0, 2.0, 3.4)):
    """Borders at three bias variances, ReLU's at 2."""
    lines = {"relu": (2.0, 2.0, 2.0), "tanh": tanh}
    rows = []
    for name, line in lines.items():
        for bias, value in zip((0, 0.1, 1), line, strict=True):
            rows.append((name, bias, value))
    return {"borders": pd.DataFrame(rows, columns=["activation", "sigma_b2", "sigma_w2"])}


def curves(power=1.0, critical=1.0, ordered=1.0, exponential=True):
    """Curves of Figure 2, by phase.

    In the chaotic phase r = e^x or 1 + x with x = 4 L / M, times (50 / M)^(power - 1); at the
    border, without biases, r = e^(critical L / M); in the ordered phase r = 1 + ordered / M.
    """
    rows = []
    for width in (50, 100, 200):
        for depth in range(1, width // 2 + 1):
            share = depth / width
            x = 4 * depth / 50 * (50 / width) ** power
            rows += [
                (3.0, 1, width, depth, share, np.exp(x) if exponential else 1 + x, "ours"),
                (2.0, 0, width, depth, share, np.exp(critical * share), "exact"),
                (1.5, 1, width, depth, share, 1 + ordered / width, "ours"),
            ]
    columns = ["sigma_w2", "sigma_b2", "width", "depth", "lambda", "dispersion", "sample"]
    return {"curves": pd.DataFrame(rows, columns=columns).assign(error=1e-4)}


def figures_1_and_2(critical=1.0, **law):
    """Maps and curves of the same laws."""
    return maps(**law) | curves(critical=critical, ordered=law.get("ordered", 1.0))


def at_the_border(deep=1.2, **law):
    """The same with cells that are drawn often; ``deep`` is r of the deepest of these."""
    rows = []
    for width in (50, 100, 200):
        for depth, r in ((20, 1.1), (DEPTHS[-1], deep)):
            rows.append(("relu", width, 1, 2.0, depth, "ours", r, 1e-3))
    columns = [
        "activation",
        "width",
        "sigma_b2",
        "sigma_w2",
        "depth",
        "sample",
        "dispersion",
        "error",
    ]
    return figures_1_and_2(**law) | {"often": pd.DataFrame(rows, columns=columns)}


def kappas(ordered=0.5, border_power=0.1, spread=0.5, power=-1):
    """log kappa_1 / kappa_2: ordered^L, a power of L, or linear in L.

    log kappa_2 is ``spread`` times the covariance times L to ``power``.
    """
    rows = []
    for variance, phase in PHASES.items():
        for covariance in (0.0, 0.5, 0.9, 1.0):
            for depth in range(1, 61):
                grown = {
                    "ordered": ordered**depth,
                    "critical": depth**border_power,
                    "chaotic": 0.1 * depth,
                }[phase]
                rows.append(
                    (
                        "relu",
                        phase,
                        variance,
                        1,
                        covariance,
                        depth,
                        spread * covariance * depth**power,
                        (covariance < 1) * grown,
                    )
                )
    columns = [
        "activation",
        "phase",
        "sigma_w2",
        "sigma_b2",
        "covariance",
        "depth",
        "log_kappa_2",
        "log_ratio",
    ]
    return {"kappa": pd.DataFrame(rows, columns=columns)}


def solutions(constant=1.0, real=0.9, ordered=0.7):
    """Variances over the formula; those of real kernels are farther off in the ordered phase."""
    rows = []
    for variance, phase in PHASES.items():
        for kernel, ratio in (
            ("constant", constant),
            ("infinite_width", ordered if phase == "ordered" else real),
        ):
            rows.append(("relu", phase, variance, 1, 10, kernel, ratio, 0.005))
    columns = ["activation", "phase", "sigma_w2", "sigma_b2", "depth", "kernel", "ratio", "error"]
    return {"solutions": pd.DataFrame(rows, columns=columns)}


SHARES = (0.4, 0.7, 0.9, 1.0, 1.1, 1.4, 1.8)  # of the border's weight variance
SEEDS = 6
TIMES = (10, 100, 1000)


def trained(
    ordered=0.02,
    ordered_slope=0.0,
    chaotic_slope=0.05,
    at_border=0.3,
    early=0.5,
    late=0.02,
    power=-0.5,
    losses=(1.0, 0.6),
    turn=-1,
    place=1.0,
):
    """Trained networks whose change is ``ordered`` + ``ordered_slope`` L below the border.

    It is ``at_border`` there and 0.1 + ``chaotic_slope`` L above, times (M/48)^``power``; the
    phases meet at ``place`` times the border. After 10 and 100 steps it is the share ``early``
    (chaotic) or ``late`` (ordered) of this. ``losses``: lowest of ordered and of chaotic networks,
    over that of a constant. Networks that change most take fewest steps for a ``turn`` of -1.
    """
    tables = {}
    for activation, border in BORDERS.items():
        stream = np.random.default_rng(0)
        changes = []
        networks = []
        for width, share, depth, seed in itertools.product(
            (24, 48, 96), SHARES, (2, 5, 10, 15, 20), range(SEEDS)
        ):
            below = share < place - 0.05
            on = abs(share - place) <= 0.05
            change = ordered + ordered_slope * depth if below else 0.1 + chaotic_slope * depth
            change = at_border if on else change
            change *= (width / 48) ** power * np.exp(0.05 * stream.standard_normal())
            key = (
                activation,
                "shown" if width == 48 else "width",
                1,
                share * border,
                depth,
                width,
                seed,
            )
            steps = round(1000 * (1 + turn * np.tanh(change) / 2))
            lowest = losses[0 if below else 1] * (1 + 0.01 * stream.random())
            networks.append((*key, steps, lowest, 1.0, steps, 0.1, 0))
            factor = late if below else early
            for time in TIMES:
                changes.append((*key, time, change * (factor if time < 1000 else 1)))
        names = ["activation", "map", "sigma_b2", "sigma_w2", "depth", "width", "seed"]
        tables |= {
            f"{activation}_changes": pd.DataFrame(changes, columns=[*names, "time", "change"]),
            f"{activation}_networks": pd.DataFrame(
                networks,
                columns=[
                    *names,
                    "steps_taken",
                    "lowest_loss",
                    "constant_loss",
                    "stop_window",
                    "eta_lambda",
                    "diverged",
                ],
            ),
            f"{activation}_borders": pd.DataFrame(
                [(activation, 1, border)], columns=["activation", "sigma_b2", "sigma_w2"]
            ),
        }
    return tables


ROWS = {
    "T10": (trained, partial(trained, ordered_slope=0.03)),
    "T11": (trained, partial(trained, chaotic_slope=-0.002)),
    "T12": (trained, partial(trained, at_border=0.001)),
    "T13": (trained, partial(trained, place=1.6, at_border=0.9)),
    "T14": (trained, partial(trained, losses=(0.5, 0.8))),
    "T15": (trained, partial(trained, turn=1)),
    "T16": (trained, partial(trained, early=0.001, late=0.9)),
    "T17": (trained, partial(trained, power=0.5)),
    "T01": (figures_1_and_2, partial(figures_1_and_2, ordered_slope=3)),
    "T02": (maps, partial(maps, chaotic=-0.2)),
    "T03": (partial(at_the_border, chaotic=0.6), partial(at_the_border, deep=2.5)),
    "T04": (maps, partial(maps, sharpness=-1)),
    "T05": (maps, partial(maps, chaotic=-0.2)),
    "T06": (curves, partial(curves, power=0.5, exponential=False)),
    "T08": (maps_of_biases, partial(maps_of_biases, bias_power=-0.5)),
    "T09": (borders, partial(borders, tanh=(1.0, 1.5, 1.8))),
    "T18": (kappas, partial(kappas, border_power=-0.1)),
    "T19": (kappas, partial(kappas, power=1)),
    "T20": (solutions, partial(solutions, constant=1.2)),
}

BOTH = ("shuffled", "constant")
INVARIANT = {
    "T03": (BOTH, "it bounds values of each map, and most values and their mean meet the bound"),
}
