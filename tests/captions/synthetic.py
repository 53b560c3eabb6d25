"""Small tables in which what a caption speaks of is so (``effect``), or is not.

``TABLES``: artifact -> function of ``effect`` that returns the artifact's tables by name.
"""

from itertools import product

import numpy as np
import pandas as pd
from tests.captions import (
    synthetic_collapse,
    synthetic_collapse_flow,
    synthetic_dgn,
    synthetic_thesis,
    synthetic_training,
)

FEW, MANY = "paper", "many"
DEPTHS = (2, 4, 8, 12, 16, 20)


def table(names, rows):
    """Rows, tuples or values of the names in their order, as a table."""
    return pd.DataFrame(list(rows), columns=names.split())


def growth(effect, x, variance, width):
    """A dispersion that grows with depth above the edge of chaos and with the width, or stays."""
    rate = {True: 3.0 if variance >= 2 else 0.02, False: 0.0}[effect]
    return 1 + rate * x * (1 + (variance > 2)) + (0.01 * width / 100 if effect else 0)


def diagonal(effect):
    """Estimates and curves of beyond_diagonal; effect: exact values are above what is printed."""
    estimates, theory = [], []
    groups = (("phases", (100, 500), (1.0,), (1.0, 2.0, 2.5)),
              ("near", (200,), (2.0, 0.1), (1.8, 2.0, 2.2)))  # fmt: skip
    for group, widths, inputs, variances in groups:
        for width, alpha, variance, share in product(widths, inputs, variances, range(1, 11)):
            depth = int(share * width / 20)
            x, edge = depth / width, variance >= 2
            exact = growth(effect, x, variance, width)
            if effect and variance < 2:
                exact = 1.1 - (x - 0.2) ** 2  # a peak within the range
            printed = exact / (1 + (0.2 * x if effect and edge else 0))
            if effect and width == 100 and variance == 2:
                exact = printed * 1.01
            curves = {
                "exact": exact, "printed_limit": printed, "printed_sums": printed,
                "corrected_limit": exact * (1.1 if width == 100 else 1.02),
            }  # fmt: skip
            key = (group, width, alpha, variance, depth, x)
            theory += [(*key, name, y, True) for name, y in curves.items()]
            missed = 0.8 if effect else 1.0
            for sample, y, spread, draws in (
                (FEW, exact * missed, 0.1, 50), (MANY, exact, 0.01, 5000),
            ):  # fmt: skip
                estimates.append((*key, sample, y, spread, draws, True, spread))
    names = "group width alpha_0 sigma_w2 depth x"
    return {
        "estimates": table(f"{names} sample y spread draws banded bootstrap", estimates),
        "theory": table(f"{names} curve y banded", theory),
    }


def off_diagonal(effect):
    """Estimates and curves of beyond_off_diagonal; effect: cosines matter, ratios turn."""
    estimates, theory = [], []
    groups = (("ratio", (100, 500), (1.0,), (1.0, 2.0, 2.5)),
              ("phases", (100, 500), (1.0,), (1.0, 2.0, 2.5)),
              ("near", (200,), (2.0, 0.1), (1.8, 2.0, 2.2)))  # fmt: skip
    names = "group width alpha_0 sigma_w2 depth x cosine"
    for group, widths, inputs, variances in groups:
        for width, alpha, variance, cosine, share in product(
            widths, inputs, variances, (0.1, 0.9), range(1, 11)
        ):
            depth = int(share * width / 20)
            x, edge = depth / width, variance >= 2
            key = (group, width, alpha, variance, depth, x, cosine)
            if group == "ratio":
                y = (1 - x) ** 2 + 2 * x**2 if edge else 0.5 + x
                y = y if effect else 1 - x
                curves = {"printed": y + 0.1 if effect else y - 0.1, "infinite_width": 0.3}
            else:
                exact = growth(effect, x, variance, width)
                y = exact * (1 + (x * (1 + cosine) if effect and edge else 0))
                curves = {"exact": exact, "printed_limit": exact, "printed_sums": exact}
            theory += [(*key, name, value, True) for name, value in curves.items()]
            spread = (0.3 * y if effect and x > 0.45 and group != "ratio" else 0.01)  # fmt: skip
            estimates += [(*key, FEW, y, 2 * spread, 50, True), (*key, MANY, y, spread, 500, True)]
    return {
        "estimates": table(f"{names} sample y spread draws banded", estimates),
        "theory": table(f"{names} curve y banded", theory),
    }


def limits(effect):
    """Limits of Theorem 3.1; effect: corrected ones are larger, small inputs near the chaotic."""
    rows = []
    for form, x in product(("printed", "corrected"), (0.0, 0.5, 1.0)):
        scale = 1.5 if form == "corrected" and effect else 1.0
        rows.append((form, "chaotic", 1.0, x, 1 + scale * 9 * x))
        for alpha in (1.0, 0.5, 0.1):
            height = 8 - 4 * alpha if effect else 8
            rows.append((form, "critical", alpha, x, 1 + scale * height * x))
    return {"limits": table("form phase alpha_0 x y", rows)}


def architectures(effect):
    """Dispersions of three architectures; effect: growing ones lowest below the edge only."""
    rows = []
    orders = {
        True: ("growing", "constant", "shrinking"),
        False: ("constant", "growing", "shrinking"),
    }
    for variance, depth, curve in product((1.0, 1.8, 2.0, 2.2), (2, 10), ("printed_sums", "exact")):
        below = variance < 2 if effect else variance > 2
        for place, name in enumerate(orders[below]):
            rows.append((name, variance, depth, depth / 20, curve, 1 + (1 + place) * depth))
    drawings = table("architecture x y", [(name, 0, 10) for name in orders[True]])
    return {"architectures": table("architecture sigma_w2 depth x curve y", rows),
            "drawings": drawings}  # fmt: skip


def theorem31(effect):
    """Limits, exact curves and small networks; effect: the correction is needed."""
    curves, small = [], []
    for variance, x in product((2.0, 2.5), (0.5, 1.0, 2.0)):
        factor = 1 + 0.3 * x if effect else 1 - 0.3 * x
        for curve, width, relative in (
            ("printed_limit", 0, 1.0), ("corrected_limit", 0, factor),
            ("exact", 100, factor * (0.8 if effect else 1.0)),
            ("exact", 500, factor * (0.9 if effect else 0.5)),
        ):  # fmt: skip
            phase = "critical" if variance == 2 else "chaotic"
            curves.append((phase, variance, curve, width, x, 10 * relative, relative))
    for depth in (2, 3, 4):
        drawn = 1.2 if effect else 1.0
        for curve, y, spread in (("printed_sums", 1.0, 0), ("exact", 1.2, 0),
                                 ("networks", drawn, 0.01)):  # fmt: skip
            small.append((8, 2.0, depth, curve, y, spread, 1000 * (spread > 0)))
    return {"curves": table("phase sigma_w2 curve width x y relative", curves),
            "small": table("width sigma_w2 depth curve y spread draws", small)}  # fmt: skip


def shapes(effect):
    """Three architectures compared; effect: growing ones are above shrinking ones at the edge."""
    dispersions, ratios, layers = [], [], []
    names = {"growing": 10, "constant": 30, "shrinking": 50}
    for kind, variance, depth in product(("own", "common"), (1.6, 1.9, 2.0, 2.1, 2.4), (2, 10, 30)):
        key = kind, variance, depth
        edge, own = abs(variance - 2) < 0.2, kind == "own"
        for name, width in names.items():
            dispersions.append((*key, name, width if own else 30, 1.5, 0.5))
        above = 0.2 if variance >= 1.9 else -0.1
        logs = {
            ("growing", "constant"): above if effect else -0.1,
            ("shrinking", "constant"): 0.1 if effect else -0.2,
            ("growing", "shrinking"): (0.1 if edge and own else -0.1) if effect else 0.1,
        }
        ratios += [(*key, *pair, y, y) for pair, y in logs.items()]
    for kind, variance, (name, width), layer in product(
        ("own", "common"), (1.9, 2.0, 2.2), names.items(), range(1, 10)
    ):
        y = 5 * (layer / 10) ** 9 if variance < 2 and effect else 3 - width / 50 * effect
        layers.append((kind, variance, 10, name, layer, layer / 10, y))
    key = "input sigma_w2 depth "
    return {
        "dispersions": table(key + "architecture input_width y excess", dispersions),
        "ratios": table(key + "first second y excess", ratios),
        "layers": table(key + "architecture layer x y", layers),
    }


def maps(effect, widths=(50, 500), biases=(1.0,)):
    """Maps of trust; effect: r grows with depth above the border, falls with the width."""
    cells, borders = [], []
    for activation, bias in product(("tanh", "relu"), biases):
        border = 2.0 if activation == "relu" or not effect else 1.0 + 2 * bias
        if not effect:
            border = 3.0 - bias if activation == "relu" else 3.0
        borders.append((activation, bias, border))
        for width, share, depth in product(widths, (0.5, 1.0, 1.5), (1, 5, 10, 20, 100)):
            x = depth / width
            r = 1 + x * (10 if share > 1 else 0.1 if share < 1 else 5) if effect else 1.5
            exact = activation == "relu" and bias == 0 and effect
            for sample, draws in (("exact", 0),) if exact else (("ours", 400), ("paper", 20)):
                error = np.nan if effect and depth == 100 and not exact else 0.01
                cells.append(
                    (activation, width, bias, share * border, depth, sample, r, error, draws)
                )
    return {
        "cells": table(
            "activation width sigma_b2 sigma_w2 depth sample dispersion error draws", cells
        ),
        "borders": table("activation sigma_b2 sigma_w2", borders),
    }


def depth_curves(effect):
    """Curves of trust Figure 2; effect: phases differ, small samples miss, limits differ."""
    rows = []
    for (variance, bias), width, x in product(
        ((1.0, 1.0), (2.0, 0.0), (3.0, 1.0)), (50, 100), (0.1, 0.2, 0.3, 0.4, 0.5)
    ):
        rate = {1.0: 5 / width, 2.0: 3, 3.0: 8}[variance] if effect else 0.0
        r = float(np.exp(rate * x))
        ours = "exact" if bias == 0 and effect else "ours"
        for sample, y, draws in ((ours, r, 0 if ours == "exact" else 4000),
                                 ("paper", r * (0.9 if effect else 1.1), 20)):  # fmt: skip
            rows.append((variance, bias, width, round(x * width), x, sample, y, draws))
    corrected = 7.0 if effect else 5.0
    limits = [
        (2.0, 0.0, form, x, 1 + x * y)
        for x in (0.0, 0.5)
        for form, y in (("printed", 6.0), ("corrected", corrected))
    ]
    return {
        "curves": table("sigma_w2 sigma_b2 width depth lambda sample dispersion draws", rows),
        "limits": table("sigma_w2 sigma_b2 form lambda dispersion", limits),
    }  # fmt: skip


def kappas(effect):
    """kappa_1 and kappa_2; effect: curves come together, ratios tend to 1 in the ordered phase."""
    rows = []
    for activation, phase in product(("erf", "relu"), ("ordered", "critical", "chaotic")):
        for covariance, depth in product((0.0, 0.5, 1.0), range(1, 11)):
            apart = (1 - covariance) * (0.5**depth if effect else 1 + 0.1 * depth)
            ratio = {"ordered": 0.0, "critical": 1.0, "chaotic": 1.2}[phase] + apart
            if effect and (activation, phase) == ("erf", "chaotic"):
                ratio = 2.0 * depth
            missing = depth == 1 and covariance == 0
            rows.append((activation, phase, 2.0, 1.0, covariance, depth,
                         -np.inf if missing else -apart, np.inf if missing else ratio))  # fmt: skip
    names = "activation phase sigma_w2 sigma_b2 covariance depth log_kappa_2 log_ratio"
    return {"kappa": table(names, rows)}


def spectrum(even, count):
    """Ascending sums of eigenvalues, more or less even, and the same over the largest."""
    values = np.linspace(even, 1, count)
    return np.cumsum(values) * count / values.sum(), np.cumsum(values) / values[-1]


def memorisation(effect, figure):
    """Spectra, errors and entries of a figure; effect: middle depths are best, wide ones better."""
    spectra, errors, entries = [], [], []
    for network, width, best in (("narrow", 6, 8), ("wide", 12, 12)):
        for depth in DEPTHS:
            off = abs(depth - best) / 20 if effect else 1 - depth / 20
            even = (0.9 if network == "wide" or not effect else 0.5) * (1 - off)
            for index, (total, scaled) in enumerate(zip(*spectrum(even, 10), strict=True), 1):
                spectra.append((network, width, depth, index, total, scaled, 3, figure))
            for dynamics, rate in (("gradient descent", 3 - 2 * off), ("linear recursion", 1.5)):
                for time in (0, 1, 10):
                    slow = 5 if not effect and dynamics == "gradient descent" else 1
                    errors.append((network, width, depth, dynamics, time,
                                   float(np.exp(-rate * time / slow)), figure))  # fmt: skip
            ideal, error = 0.5 ** (depth - 1), 0.01 * (depth if effect else 25 - depth)
            far = 0.5 * error if effect else 5 * error
            entries.append((network, width, depth, 1 + far, ideal + far, error, error, 1.0, ideal,
                            figure))  # fmt: skip
    names = "network width depth"
    return {
        "spectra": table(f"{names} index cumulative scaled runs figure", spectra),
        "errors": table(f"{names} dynamics time ratio figure", errors),
        "entries": table(
            f"{names} diagonal off_diagonal diagonal_error off_diagonal_error diagonal_ideal "
            "off_diagonal_ideal figure", entries,
        ),
        "ideal": table("depth index cumulative", [
            (depth, index, float(index)) for depth in DEPTHS for index in range(1, 11)
        ]),
    }  # fmt: skip


def ideal_spectra(effect):
    """Expected spectra; effect: the deeper, the more even."""
    rows = []
    for depth in DEPTHS:
        sums = spectrum(depth / 20 if effect else 0.5, 10)[0]
        rows += [(depth, index, total) for index, total in enumerate(sums, 1)]
    return {"ideal": table("depth index cumulative", rows)}


def planar(effect):
    """GaLU and ReLU networks; effect: GaLU has smaller errors and more even spectra."""
    spectra, errors = [], []
    for network, depth in product(("galu", "relu"), DEPTHS):
        better = (network == "galu") == effect
        for index, scaled in enumerate(spectrum(0.9 if better else 0.1, 10)[1], 1):
            spectra.append((network, depth, index, scaled))
        for dynamics, time in product(("gradient descent", "linear recursion"), (0, 10)):
            errors.append((network, depth, dynamics, time, 0.1 if better and time else 0.5))
    return {"spectra": table("network depth index scaled", spectra),
            "errors": table("network depth dynamics time ratio", errors)}  # fmt: skip


def deep_linear(effect):
    """Deep linear networks; effect: deeper ones are faster, and their kernel grows more."""
    rows = []
    for depth, time in product((2, 4, 6), range(31)):
        rate = 0.105 * (1 + (depth / 4 if effect else -depth / 20))
        for quantity, dynamics, value in (
            ("error", "gradient descent", np.exp(-2 * rate * time)),
            ("error", "ideal", 0.81**time),
            ("kernel", "gradient descent", 1 + (depth if effect else -0.1 * depth) * time / 30),
        ):  # fmt: skip
            rows.append((depth, quantity, dynamics, time, float(value)))
    start = table("depth kernel runs", [(depth, float(depth), 3) for depth in (2, 4, 6)])
    return {"start": start, "curves": table("depth quantity dynamics time value", rows)}


def circular(effect):
    """Connections and paths of a circular network; effect: a path from each input."""
    connections = [(layer, start, (start + tap) % 3 + 1, tap + 1)
                   for layer, start, tap in product((1, 2), (1, 2, 3), (0, 1))]  # fmt: skip
    paths = [(4 * (unit - 1) + bundle, bundle, unit if effect else 1)
             for unit, bundle in product((1, 2, 3), (1, 2, 3, 4))]  # fmt: skip
    return {"connections": table("layer start end tap", connections),
            "paths": table("path bundle unit_0", paths)}  # fmt: skip


def identities(effect):
    """Means stated and drawn; effect: they agree."""
    rows = [("D03", f"d={depth}", 1.0, 1.01 if effect else 2.0, 0.02, 50) for depth in (2, 4)]
    return {"identities": table("identity case expected value standard_error draws", rows)}


def stages_nu_kvf(effect):
    """Curves of npf Figure 3; effect: accuracy rises by stage and nu falls."""
    heights = (0.6, 0.7, 0.8) if effect else (0.8, 0.7, 0.6)
    stages = [("stages", "FLNPF", x, y) for x, y in enumerate(heights)]
    stages += [("stages", name, None, 0.7) for name in ("ReLU", "FRNPF")]
    return {
        "stages": table("panel series x y", stages),
        "nu": table("panel series x y", [("nu", "nu", 0, 90.0), ("nu", "nu", 2,
                                                                 40.0 if effect else 95.0)]),
        "kvf": table("panel series x y", [("kvf", "trace of K^v", 0, 3.0)]),
    }  # fmt: skip


def energy(effect):
    """Energy of the labels; effect: it moves to the first eigenvectors, and nu falls."""
    rows = []
    for name, shares in (("epoch 0", (0.05, 0.5)), ("epoch 4", (0.06, 0.8 if effect else 0.3))):
        for rank in range(1, 21):
            y = shares[0] if rank == 1 else shares[1] + (1 - shares[1]) * (rank - 2) / 18
            fewer = 0.5 if effect and name == "epoch 4" else 1.0
            rows += [("energy", name, rank, y), ("nu", name, rank, 100 * fewer * rank)]
    rows += [("energy", "by chance", rank, rank / 20) for rank in range(1, 21)]
    rows += [("top", "first 1", epoch, 0.05) for epoch in (0, 4)]
    return {"energy": table("panel series x y", rows)}


def cntk(effect):
    """The kernel and networks on the same images; effect: some network is above it."""
    rows = [("kernel", "cntk", 50.0, 30.0), ("kernel", "cntk", 100.0, 50.0),
            ("printed", "cntk", None, 77.43), ("network", "frnpf_ii", 100.0, 40.0),
            ("network", "relu", 100.0, 60.0 if effect else 45.0)]  # fmt: skip
    return {"rows": table("kind regime train accuracy", rows)}


def relu_limits(effect):
    """Factors of kernels against limits; effect: 1 where both belong together only."""
    own, other = (1.0, 1.5) if effect else (1.3, 1.0)
    rows = [
        ("2/w", "tangent", 1.0, own), ("2/w", "halved", None, other),
        ("1/w", "halved", 1.0, own), ("1/w", "tangent", None, 1 / other),
    ]  # fmt: skip
    found = table("output_variance limit expected scale", rows)
    apart = 0.0 if effect else 0.2
    return {"rows": found.assign(scale_error=0.01,
                                 correlation=[0.99, 0.99 - apart, 0.98, 0.98])}  # fmt: skip


def theory(effect):
    """Errors over width and copies, variances; effect: the theorems' slopes."""
    curves = []
    for grows, gates, depth, x in product(("width", "copies"), ("independent", "own"), (3, 5),
                                          (16.0, 64.0)):  # fmt: skip
        if (grows, gates) == ("copies", "own"):
            continue
        falling = gates == "independent" and effect
        y = x**-0.5 if falling else 1.0 if effect or gates == "independent" else 1 / x
        curves.append((grows, gates, depth, "drawn", x, y, 0.01))
        if gates == "own":
            curves.append((grows, gates, depth, "limit", x, 1.0, None))
    variance = []
    for width, depth in product((64, 512), (8, 16, 32)):
        cube = 1.2 - 1 / depth if effect else 1 / depth
        variance.append(("open", "exact", width, depth, cube * depth, cube))
    return {"curves": table("grows gates depth curve x y spread", curves),
            "variance": table("entry form width depth per_d2 per_d3", variance)}  # fmt: skip


def table2(effect):
    """Printed numbers of both versions; effect: they differ in a cell."""
    rows = [(paper, row, regime, 80.0 + (effect and (paper, row) == ("npf0", "gconv_adam")))
            for paper, row, regime in product(("npf", "npf0"), ("fc_sgd", "gconv_adam"),
                                              ("dlnpf", "relu"))]  # fmt: skip
    return {"rows": table("paper row regime reported_mean", rows)}


def toy(effect):
    """The toy network; effect: the first two examples share paths."""
    nodes = [("node", layer, unit) for layer, units in enumerate((2, 3, 3, 1))
             for unit in range(1, units + 1)]  # fmt: skip
    paths = [(number, 1, 0) for number in range(1, 19)]
    overlap = [(1, 1, "3 4"), (1, 2, "3 12" if effect else None), (2, 2, "3")]
    return {"toy": table("kind layer end", nodes),
            "paths": table("path active_1 active_2", paths),
            "overlap": table("s s_prime shared", overlap)}  # fmt: skip


def layouts(effect):
    """Layouts of four paths, of two of them without the effect."""
    count = 4 if effect else 2
    rows = [(letter, 4, path) for letter in "abcd"[:count] for path in range(1, count + 1)]
    return {"layouts": table("layout nodes path", rows),
            "successors": table("layout next pairs", [("a", "a", 64)])}  # fmt: skip


def equations(effect):
    """Equations of npf Table 4; effect: some are printed otherwise."""
    rows = [("npf_table4", "Output", "y" if effect else None), ("npf_table1", "Output", "x")]
    return {"equations": table("artifact row printed_text", rows)}


def _chosen(make, *names):
    return lambda effect: {name: make(effect)[name] for name in names}


def _figure(figure, *names):
    return lambda effect: {name: memorisation(effect, figure)[name] for name in names}


TABLES = {
    **{f"beyond_fig{number}": diagonal for number in (1, 2, 9, 10)},
    **{f"beyond_fig{number}": off_diagonal for number in (3, 7, 8, 11)},
    "beyond_fig5": limits,
    "beyond_fig6": architectures,
    "beyond_extra_theorem31": theorem31,
    "beyond_extra_shapes": shapes,
    "trust_fig1": maps,
    "trust_fig7": lambda effect: maps(effect, widths=(100,), biases=(0.0, 1.0)),
    "trust_fig2": depth_curves,
    "trust_fig5": kappas,
    "trust_fig6": kappas,
    "dgn_fig1": _figure("dgn_fig1", "ideal", "spectra"),
    "dgn_fig2": _figure("dgn_fig2", "entries"),
    "dgn_fig3": _figure("dgn_fig3", "spectra", "errors"),
    "dgn_fig4": planar,
    "dgn_fig6": _chosen(stages_nu_kvf, "nu"),
    "dgn_fig9": circular,
    "dgn_fig10": deep_linear,
    "dgn_extra_identities": identities,
    "npf_fig1": toy,
    "npf0_fig1": toy,
    "npf_fig3": stages_nu_kvf,
    "npf0_fig3": stages_nu_kvf,
    "npf_fig4": layouts,
    "npf_table3": layouts,
    "npf_table4": equations,
    "npf_fig6": ideal_spectra,
    "npf_fig7": _figure("npf_fig7", "spectra", "errors"),
    "npf_table2": table2,
    "npf0_table2": table2,
    "npf_extra_cntk": cntk,
    "npf_extra_energy": energy,
    "npf_extra_limits": relu_limits,
    "npf_extra_theory": theory,
    **synthetic_collapse.TABLES,
    **synthetic_dgn.TABLES,
    **synthetic_collapse_flow.TABLES,
    **synthetic_thesis.TABLES,
    **synthetic_training.TABLES,
}
