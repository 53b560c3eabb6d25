"""Claims of npf on trained networks: Table 2, Figure 3, the CNTK, and the text."""

import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise, product
from typing import Any, Unpack

import numpy as np
import pandas as pd

from finitewidth.claims import samples
from finitewidth.claims.ledger import Tables
from finitewidth.claims.verdicts import LEVEL, CannotDecideError, Part, PartFacts, holm

POINT = 1.0  # percent of accuracy, for settings that the paper leaves open
CNTK = 77.43  # percent on CIFAR-10, printed in section 6.2 (2)
ROWS = ("fc_sgd", "fc_adam", "vconv_sgd", "vconv_adam", "gconv_sgd", "gconv_adam")
TITLES = {
    "frnpf_ii": "FRNPF (II)",
    "frnpf_di": "FRNPF (DI)",
    "dlnpf": "DLNPF",
    "flnpf": "FLNPF",
    "relu": "ReLU",
}
RANDOM = ("frnpf_ii", "frnpf_di")
IMAGES = 50_000  # of CIFAR-10, on which the paper's numbers rest
LEFT_OUT = "the paper's conclusion is about learnt gates, but it does not compare DLNPF itself"
FACTOR = "the paper gives no factor; numbers of one scale are commonly within a factor of ten"
LEARNT = ("dlnpf", "flnpf", "relu")
ADAM = "gconv_adam"  # the row of Figure 3, and of the CNTK


def accuracies(runs: pd.DataFrame, row: str, regime: str, kind: str = "best_test") -> pd.Series:
    """Accuracies of a cell's runs, percent, by seed; by default the best test accuracies.

    Diverged runs and step sizes that a search did not choose are left out.
    """
    cell = f"{regime} in row {row}"
    return 100 * samples.by_seed(runs, kind, cell, row=row, regime=regime, chosen=1)


def untrained(runs: pd.DataFrame, row: str, *regimes: str) -> str:
    """Why cells of Table 2 decide nothing: not trained. Empty if all their runs are trained."""
    cells = runs[(runs["row"] == row) & (runs["chosen"] == 1)]
    return _not_trained(cells, "regime", {regime: TITLES[regime] for regime in regimes})


def untrained_stages(runs: pd.DataFrame, *stages: int) -> str:
    """Why comparisons of stages decide nothing; empty if all their runs are trained."""
    return _not_trained(runs, "stage", {stage: f"stage {stage}" for stage in stages})


def _not_trained(runs: pd.DataFrame, key: str, names: Mapping[Any, str]) -> str:
    """Say which network, the first of those named, has a run that is not trained; empty if none.

    All models of the paper are trained close to 100 % (caption of Table 2).
    """
    for value, name in names.items():
        network = runs[runs[key] == value]
        if network["trained"].all():
            continue
        if network["diverged"].any():
            return f"{name} is not trained: a run diverged; in the paper close to 100 %"
        lowest = 100 * network["best_train"].min()
        return f"{name} is not trained: {lowest:.1f} % in a run, in the paper close to 100 %"
    return ""


def decides_nothing(part: Part, why: str) -> Part:
    """The same comparison, undecided and outside the paper's range; unchanged without a reason."""
    if not why:
        return part
    return replace(part, outside=why, standard_error=math.nan, chance=None)


def some_trained(parts: list[Part]) -> list[Part]:
    """The same comparisons; an error if each of them rests on a network that is not trained."""
    reasons = [part.outside for part in parts]
    if parts and all("is not trained" in reason for reason in reasons):
        raise CannotDecideError(f"not trained: {'; '.join(dict.fromkeys(reasons))}")
    return parts


def _difference(
    runs: pd.DataFrame, row: str, first: str, second: str, **thresholds: Unpack[PartFacts]
) -> Part:
    """A regime minus another in one row, in points; undecided unless both are trained.

    If one of them is not, a single sound run is enough, and without any there is no value.
    """
    name = f"{row}: {TITLES[first]} - {TITLES[second]}, points"
    why = untrained(runs, row, first, second)
    if why:
        value = _mean(runs, row, first) - _mean(runs, row, second)
        return decides_nothing(Part(name=name, value=value, **thresholds), why)
    first_runs = accuracies(runs, row, first)
    second_runs = accuracies(runs, row, second)
    return samples.difference(name, first_runs, second_runs, **thresholds)


def _mean(runs: pd.DataFrame, row: str, regime: str) -> float:
    """Mean accuracy of a cell; not a number if all its runs diverged."""
    try:
        return float(accuracies(runs, row, regime).mean())
    except CannotDecideError:
        return math.nan


def n14(tables: Tables) -> list[Part]:
    """FRNPF (II) and FRNPF (DI): no significant difference, and none of more than a point."""
    runs = tables["runs"]
    ours = "the paper gives no size; the largest difference in its Table 2 is half a point"
    points = [_difference(runs, row, *RANDOM, low=-1, high=1, ours=ours) for row in ROWS]
    orders = [_difference(runs, row, *RANDOM, low=0, paper=True) for row in ROWS]
    # two-sided, by Welch's t
    p_values = holm([min(1.0, 2 * min(order.p_inside, order.p_outside)) for order in orders])
    parts = some_trained(points)
    for row, order, p_value in zip(ROWS, orders, p_values, strict=True):
        # A p-value errs as a test does, though it has no standard error: hence the chance of 0.
        name = f"{row}: p-value of a difference, after Holm's correction for {len(ROWS)} rows"
        parts.append(
            Part(
                name=name,
                value=math.nan if order.undefined else p_value,
                low=LEVEL,
                chance=0.0,
                paper=True,
                tolerance="the paper gives no level of significance",
                outside=order.outside,
            )
        )
    return parts


def n15(tables: Tables) -> list[Part]:
    """DLNPF is better than both kinds of random gates in every row."""
    return some_trained(_above_random(tables["runs"], "dlnpf"))


def _above_random(runs: pd.DataFrame, learnt: str) -> list[Part]:
    return [
        _difference(runs, row, learnt, regime, low=0, paper=True)
        for row, regime in product(ROWS, RANDOM)
    ]


def n18(tables: Tables) -> list[Part]:
    """FLNPF is better than random gates, and at most 1.2 points worse than ReLU, in every row."""
    runs = tables["runs"]
    ours = "the paper gives no size; its Table 2 has up to 1.03 in five rows, 3.96 in one"
    close = [_difference(runs, row, "relu", "flnpf", high=1.2, ours=ours) for row in ROWS]
    return some_trained(_above_random(runs, "flnpf") + close)


def n25(tables: Tables) -> list[Part]:
    """Every cell of Table 2 lies within twice the printed spread and a point of the printed one."""
    runs = tables["runs"]
    cells = tables["cells"]
    parts = []
    for cell in cells[cells["paper"] == "npf"].to_dict("records"):
        row = cell["row"]
        regime = cell["regime"]
        printed = cell["reported_mean"]
        allowed = 2 * cell["reported_spread"] + POINT
        name = f"{row}, {regime}: accuracy, percent"
        bounds: PartFacts = {
            "low": printed - allowed,
            "high": printed + allowed,
            "paper": True,
            "tolerance": "two printed spreads and a point for settings that the paper leaves open",
        }
        why = untrained(runs, row, regime)
        if why:
            part = Part(name=name, value=_mean(runs, row, regime), **bounds)
            parts.append(decides_nothing(part, why))
        else:
            parts.append(samples.mean(name, accuracies(runs, row, regime), **bounds))
    return some_trained(parts)


def at_stage(runs: pd.DataFrame, stage: int) -> pd.Series:
    """Best test accuracies of a stage's runs, percent, by seed; diverged runs are left out."""
    return 100 * samples.by_seed(runs, "best_test", f"stage {stage}", stage=stage)


def n19(tables: Tables) -> list[Part]:
    """Every stage is better than the one before, and the last is better than the first."""
    runs = tables["stages"]
    last = _last_stage(runs)
    pairs = [*pairwise(range(1, last + 1)), (1, last)]
    return some_trained([_gain(runs, *pair, "stage {1} - stage {0}, points") for pair in pairs])


def n20(tables: Tables) -> list[Part]:
    """Stage 1 beats random gates, the last is as good as ReLU; the CNTK lies between them."""
    runs = tables["stages"]
    last = _last_stage(runs)
    relu = accuracies(tables["runs"], ADAM, "relu")
    last_stage = at_stage(runs, last)
    first_stage = at_stage(runs, 1)
    as_well = samples.difference(
        f"ReLU - stage {last}, points",
        relu,
        last_stage,
        high=1.5,
        ours='"as well as" has no size; the paper\'s own numbers differ by 0.89 points',
    )
    name = "stage 1, percent, below the CNTK"
    below = samples.mean(name, first_stage, high=CNTK, paper=True)
    name = f"stage {last}, percent, above the CNTK"
    above = samples.mean(name, last_stage, low=CNTK, paper=True)
    relu_untrained = untrained(tables["runs"], ADAM, "relu")
    first_untrained = untrained_stages(runs, 1)
    last_untrained = untrained_stages(runs, last)
    return some_trained(
        [
            _gain(runs, 0, 1, "stage 1 - random gates, points"),
            decides_nothing(as_well, relu_untrained or last_untrained),
            decides_nothing(below, first_untrained),
            decides_nothing(above, last_untrained),
        ]
    )


def _last_stage(runs: pd.DataFrame) -> int:
    if runs.empty or runs["stage"].max() < 2:
        raise CannotDecideError("fewer than two stages of learnt gates")
    return int(runs["stage"].max())


def _gain(runs: pd.DataFrame, before: int, after: int, name: str) -> Part:
    """Differences paired by seed, since the runs of all stages share their random streams."""
    gains = (at_stage(runs, after) - at_stage(runs, before)).dropna()
    part = samples.mean(name.format(before, after), gains, low=0, paper=True)
    return decides_nothing(part, untrained_stages(runs, before, after))


def n16(tables: Tables) -> list[Part]:
    """Both kinds of random gates below, FLNPF and ReLU above the CNTK."""
    return _compared(tables, below=RANDOM, above=("flnpf", "relu"))


def n17(tables: Tables) -> list[Part]:
    """Every regime that learns gates above the CNTK; DLNPF is a comparison of ours."""
    return _compared(tables, below=(), above=LEARNT)


def _compared(tables: Tables, below: tuple[str, ...], above: tuple[str, ...]) -> list[Part]:
    """Comparisons on the same images; at the paper's scale also those with the printed 77.43."""
    rows = tables["cntk"]
    bounds: dict[str, PartFacts] = {}  # of the difference from the CNTK, by regime
    for regime in (*below, *above):
        bound: PartFacts = {"high": 0} if regime in below else {"low": 0}
        if regime == "dlnpf":
            bound["ours"] = LEFT_OUT
        else:
            bound["paper"] = True
        bounds[regime] = bound
    parts = [_same_images(rows, regime, **bound) for regime, bound in bounds.items()]
    printed = rows[(rows["kind"] == "printed") & (rows["comparable"] == 1)]
    for line in printed["accuracy"]:
        for regime, bound in bounds.items():
            gaps = accuracies(tables["runs"], ADAM, regime) - line
            name = f"Table 2, GCONV/Adam: {TITLES[regime]} - {line:g}, points"
            why = untrained(tables["runs"], ADAM, regime)
            parts.append(decides_nothing(samples.mean(name, gaps, **bound), why))
    return some_trained(parts)


def _same_images(rows: pd.DataFrame, regime: str, **bounds: Unpack[PartFacts]) -> Part:
    """The difference on the same images, with errors as if the test images were independent.

    Both accuracies are measured on the same test images, so that this error is too large. The paper
    speaks about all images of CIFAR-10: on fewer a comparison is outside its range.
    """
    kernels = rows[rows["kind"] == "kernel"].sort_values("train")
    networks = rows[(rows["kind"] == "network") & (rows["regime"] == regime)]
    networks = networks[networks["runs"] > 1]
    if kernels.empty or networks.empty:
        raise CannotDecideError(f"{TITLES[regime]} or the CNTK lacks an accuracy with its error")
    network = networks.iloc[0]
    kernel = kernels.iloc[-1]  # of the most training images
    error = math.hypot(network["standard_error"], kernel["standard_error"])
    images = f"{kernel['train']:.0f}"
    outside = ""
    if kernel["train"] < IMAGES:
        outside = f"{images} images, the paper has all of CIFAR-10"
    facts: PartFacts = {**bounds, "outside": outside}
    part = Part(
        name=f"{TITLES[regime]} - CNTK on the same {images} images, points",
        value=float(network["accuracy"] - kernel["accuracy"]),
        standard_error=error,
        dof=float(network["dof"] * (error / network["standard_error"]) ** 4),
        **facts,
    )
    return decides_nothing(part, untrained_beside_cntk(network))


def untrained_beside_cntk(network: pd.Series) -> str:
    """Why a network beside the CNTK decides nothing; empty if all its runs are trained."""
    if network["trained"]:
        return ""
    lowest = f"{network['train_accuracy_lowest']:.1f} % in a run"
    return f"{TITLES[network['regime']]} is not trained: {lowest}"


def n21(tables: Tables) -> list[Part]:
    """The value of nu falls: in its ranks over the epochs, and from the first value to the last.

    Both are compared with no change, which is the paper's, and with a clear fall, which is ours.
    Runs that diverged have no nu at some epoch and are left out.
    """
    curves = tables["runs"].pivot(index="epoch", columns="seed", values="nu").sort_index()
    curves = curves.astype(float).dropna(axis="columns")
    if curves.shape[1] < 2:
        raise CannotDecideError("nu of fewer than two runs")
    falls = np.log(curves.iloc[-1] / curves.iloc[0])
    name = f"log of nu at the end over nu at the start, mean over {curves.shape[1]} runs"
    rate = "the paper gives no rate; at -0.8 nu falls during most of the training"
    factor = "the paper gives no factor; a fifth is more than nu changes between two epochs"
    return [
        _rank_correlation(curves, high=0, paper=True),
        _rank_correlation(curves, ", clearly", high=-0.8, ours=rate),
        samples.mean(name, falls, high=0, paper=True),
        samples.mean(f"{name}, clearly", falls, high=math.log(0.8), ours=factor),
    ]


def _rank_correlation(curves: pd.DataFrame, how: str = "", **thresholds: Unpack[PartFacts]) -> Part:
    """Mean over runs of the rank correlation of nu with the epoch.

    If all curves fall at every step, they have no spread. Half of the smallest possible change,
    which is that of two neighbours in the wrong order, is then taken for it.
    """
    epochs = curves.index.to_series().rank()
    correlations = [float(curves[seed].rank().corr(epochs)) for seed in curves]
    name = f"rank correlation of nu with the epoch, mean over {len(correlations)} runs{how}"
    count = len(curves)
    step = 12 / (count * (count**2 - 1))
    facts: PartFacts = {**thresholds, "bounds": (-1, 1)}
    return samples.mean(name, correlations, resolution=step, **facts)


def n22(tables: Tables) -> list[Part]:
    """K^v and K^f are within a factor of ten of each other at every stored epoch."""
    runs = tables["kernels"]
    if runs.empty:
        raise CannotDecideError("no kernel was measured")
    parts = []
    for size, title in (("trace", "traces"), ("frobenius", "Frobenius norms")):
        ratios = np.log10(runs[f"{size}_kv"] / runs[f"{size}_kf"])
        for epoch, group in ratios.groupby(runs["epoch"]):
            name = f"epoch {epoch}: log10 of K^v / K^f, {title}"
            parts.append(samples.mean(name, group, low=-1, high=1, ours=FACTOR))
    return parts
