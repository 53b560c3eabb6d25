"""Claims and numbers of npf on trained networks: Table 2, Figure 3, the CNTK, and the text."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, product
from typing import Any

import numpy as np
import pandas as pd

from finitewidth.claims import samples
from finitewidth.claims.ledger import Tables
from finitewidth.claims.reported import Ours
from finitewidth.claims.verdicts import LEVEL, CannotDecideError, Part, holm
from finitewidth.measures.compare import standard_error

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
GCONV = ("gconv_sgd", "gconv_adam")
# the parts of the tables on which single numbers rest; see `finitewidth.claims.reported.Numbers`
ADAM, STAGES, BOTH = "gconv_adam", "stages", " ".join(GCONV)
LEARNT = ("dlnpf", "flnpf", "relu")


def accuracies(runs: pd.DataFrame, row: str, regime: str, kind: str = "best_test") -> pd.Series:
    """Accuracies of a cell's runs, percent, by seed; by default the best test accuracies.

    Diverged runs and step sizes that a search did not choose are left out.
    """
    what = f"{regime} in row {row}"
    return 100 * samples.by_seed(runs, kind, what, row=row, regime=regime, chosen=1)


def untrained(runs: pd.DataFrame, row: str, *regimes: str) -> str:
    """Why cells of Table 2 decide nothing: not trained. Empty if all their runs are trained."""
    cells = runs[(runs["row"] == row) & (runs["chosen"] == 1)]
    return _not_trained(cells, "regime", {regime: TITLES[regime] for regime in regimes})


def untrained_stages(runs: pd.DataFrame, *stages: int) -> str:
    """Why comparisons of stages decide nothing; empty if all their runs are trained."""
    return _not_trained(runs, "stage", {stage: f"stage {stage}" for stage in stages})


def _not_trained(runs: pd.DataFrame, key: str, names: Mapping[Any, str]) -> str:
    """Say that runs of the first of some networks, by their names, are not trained.

    All models of the paper are trained close to 100 % (caption of Table 2).
    """
    for value, name in names.items():
        own = runs[runs[key] == value]
        if not own["trained"].all():
            if own["diverged"].any():
                return f"{name} is not trained: a run diverged; in the paper close to 100 %"
            lowest = 100 * own["best_train"].min()
            return f"{name} is not trained: {lowest:.1f} % in a run, in the paper close to 100 %"
    return ""


def decides_nothing(part: Part, why: str) -> Part:
    """The same comparison, undecided and outside the paper's range; unchanged without a reason."""
    return replace(part, outside=why, standard_error=math.nan, chance=None) if why else part


def some_trained(parts: list[Part]) -> list[Part]:
    """The same comparisons; an error if each of them rests on a network that is not trained."""
    reasons = [part.outside for part in parts]
    if parts and all("is not trained" in reason for reason in reasons):
        raise CannotDecideError(f"not trained: {'; '.join(dict.fromkeys(reasons))}")
    return parts


def _difference(runs: pd.DataFrame, row: str, first: str, second: str, **thresholds: Any) -> Part:
    """A regime minus another in one row, in points; undecided unless both are trained.

    If one of them is not, a single sound run is enough, and without any there is no value.
    """
    name = f"{row}: {TITLES[first]} - {TITLES[second]}, points"
    if not (why := untrained(runs, row, first, second)):
        pair = (accuracies(runs, row, regime) for regime in (first, second))
        return samples.difference(name, *pair, **thresholds)
    value = _mean(runs, row, first) - _mean(runs, row, second)
    return decides_nothing(Part(name=name, value=value, **thresholds), why)


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
    p_values = holm([min(1.0, 2 * min(o.p_inside, o.p_outside)) for o in orders])
    return some_trained(points) + [
        # A p-value errs as a test does, though it has no standard error: hence the chance of 0.
        Part(
            name=f"{row}: p-value of a difference, after Holm's correction for {len(ROWS)} rows",
            value=math.nan if order.undefined else p_value,
            low=LEVEL,
            chance=0.0,
            paper=True,
            tolerance="the paper gives no level of significance",
            outside=order.outside,
        )
        for row, order, p_value in zip(ROWS, orders, p_values, strict=True)
    ]


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
    cells, parts = tables["cells"], []
    for cell in cells[cells["paper"] == "npf"].to_dict("records"):
        printed, allowed = cell["reported_mean"], 2 * cell["reported_spread"] + POINT
        name = f"{cell['row']}, {cell['regime']}: accuracy, percent"
        side = {
            "low": printed - allowed,
            "high": printed + allowed,
            "paper": True,
            "tolerance": "two printed spreads and a point for settings that the paper leaves open",
        }
        where = tables["runs"], cell["row"], cell["regime"]
        if why := untrained(*where):
            parts.append(decides_nothing(Part(name=name, value=_mean(*where), **side), why))
        else:
            parts.append(samples.mean(name, accuracies(*where), **side))
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
    relu, best = accuracies(tables["runs"], ADAM, "relu"), at_stage(runs, last)
    as_well = samples.difference(
        f"ReLU - stage {last}, points",
        relu,
        best,
        high=1.5,
        ours='"as well as" has no size; the paper\'s own numbers differ by 0.89 points',
    )
    name = "stage 1, percent, below the CNTK"
    below = samples.mean(name, at_stage(runs, 1), high=CNTK, paper=True)
    above = samples.mean(f"stage {last}, percent, above the CNTK", best, low=CNTK, paper=True)
    first, final = untrained_stages(runs, 1), untrained_stages(runs, last)
    return some_trained(
        [
            _gain(runs, 0, 1, "stage 1 - random gates, points"),
            decides_nothing(as_well, untrained(tables["runs"], ADAM, "relu") or final),
            decides_nothing(below, first),
            decides_nothing(above, final),
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


def table2_numbers(tables: Tables) -> list[Ours]:
    """Our Table 2: mean best test accuracy of every cell, percent."""
    found = []
    for (row, regime), runs in tables["runs"].groupby(["row", "regime"], sort=False):
        best = runs[(runs["chosen"] == 1) & (runs["diverged"] == 0)]["best_test"]
        error = standard_error(100 * best.std(ddof=1), len(best), ddof=1)
        found.append(
            Ours(
                row=row,
                column=regime,
                value=100 * best.mean(),
                standard_error=error,
                runs=len(best),
                part=str(row),
                untrained=untrained(runs, row, regime),
            )
        )
    return found


def n16(tables: Tables) -> list[Part]:
    """Both kinds of random gates below, FLNPF and ReLU above the CNTK."""
    return _compared(tables, below=RANDOM, above=("flnpf", "relu"))


def n17(tables: Tables) -> list[Part]:
    """Every regime that learns gates above the CNTK; DLNPF is a comparison of ours."""
    return _compared(tables, below=(), above=LEARNT)


def _compared(tables: Tables, below: tuple[str, ...], above: tuple[str, ...]) -> list[Part]:
    """Comparisons on the same images; at the paper's scale also those with the printed 77.43."""
    rows = tables["cntk"]
    sides: dict[str, dict[str, Any]] = {
        regime: {"high" if regime in below else "low": 0}
        | ({"ours": LEFT_OUT} if regime == "dlnpf" else {"paper": True})
        for regime in (*below, *above)
    }
    parts = [_same_images(rows, regime, **side) for regime, side in sides.items()]
    printed = rows[(rows["kind"] == "printed") & (rows["comparable"] == 1)]
    for line in printed["accuracy"]:
        for regime, side in sides.items():
            gaps = accuracies(tables["runs"], ADAM, regime) - line
            name = f"Table 2, GCONV/Adam: {TITLES[regime]} - {line:g}, points"
            why = untrained(tables["runs"], ADAM, regime)
            parts.append(decides_nothing(samples.mean(name, gaps, **side), why))
    return some_trained(parts)


def _same_images(rows: pd.DataFrame, regime: str, **side: Any) -> Part:
    """The difference on the same images, with errors as if the test images were independent.

    Both accuracies are measured on the same test images, so that this error is too large. The paper
    speaks about all images of CIFAR-10: on fewer a comparison is outside its range.
    """
    kernel = rows[rows["kind"] == "kernel"].sort_values("train").tail(1)
    network = rows[(rows["kind"] == "network") & (rows["regime"] == regime)]
    network = network[network["runs"] > 1]
    if kernel.empty or network.empty:
        raise CannotDecideError(f"{TITLES[regime]} or the CNTK lacks an accuracy with its error")
    ours, theirs = network.iloc[0], kernel.iloc[0]
    error = math.hypot(ours["standard_error"], theirs["standard_error"])
    few = theirs["train"] < IMAGES
    part = Part(
        name=f"{TITLES[regime]} - CNTK on the same {theirs['train']:.0f} images, points",
        value=float(ours["accuracy"] - theirs["accuracy"]),
        standard_error=error,
        dof=float(ours["dof"] * (error / ours["standard_error"]) ** 4),
        outside=f"{theirs['train']:.0f} images, the paper has all of CIFAR-10" if few else "",
        **side,
    )
    return decides_nothing(part, _untrained_beside(ours))


def _untrained_beside(network: pd.Series) -> str:
    """Why a network beside the CNTK decides nothing; empty if all its runs are trained."""
    lowest = f"{network['train_accuracy_lowest']:.1f} % in a run"
    return "" if network["trained"] else f"{TITLES[network['regime']]} is not trained: {lowest}"


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


def _rank_correlation(curves: pd.DataFrame, how: str = "", **thresholds: Any) -> Part:
    """Mean over runs of the rank correlation of nu with the epoch.

    If all curves fall at every step, they have no spread. Half of the smallest possible change,
    which is that of two neighbours in the wrong order, is then taken for it.
    """
    epochs = curves.index.to_series().rank()
    found = [float(curves[seed].rank().corr(epochs)) for seed in curves]
    name = f"rank correlation of nu with the epoch, mean over {len(found)} runs{how}"
    count = len(curves)
    step = 12 / (count * (count**2 - 1))
    return samples.mean(name, found, resolution=step, bounds=(-1, 1), **thresholds)


def n22(tables: Tables) -> list[Part]:
    """K^v and K^f are within a factor of ten of each other at every kept epoch."""
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


def fig3_numbers(tables: Tables) -> list[Ours]:
    """Accuracy at every stage and of the horizontal lines beside the curve, percent."""
    runs, stages = tables["runs"], tables["stages"]
    return [
        *(
            one
            for stage in sorted(stages["stage"].dropna().unique())
            for one in _ours(STAGES, f"stage{stage:.0f}", "flnpf", at_stage, stages, stage)
        ),
        *_ours(ADAM, "reference", "relu", accuracies, runs, ADAM, "relu"),
        *_ours(STAGES, "reference", "frnpf", at_stage, stages, 0),
    ]


def text_numbers(tables: Tables) -> list[Ours]:
    """Accuracies in the text of both versions, percent; each version prints some of them.

    For the accuracy of random gates on CIFAR-10 the text names no network. We take the mean of
    GCONV over both kinds of random gates and both optimisers.
    """
    runs, stages = tables["runs"], tables["stages"]
    adam = accuracies, runs, ADAM
    return [
        *_ours(ADAM, "gconv_adam", "frnpf", *adam, "frnpf_ii"),
        *_ours(STAGES, "stage0", "frnpf", at_stage, stages, 0),
        *_ours(STAGES, "stage1", "flnpf", at_stage, stages, 1),
        *_ours(STAGES, "stage6", "flnpf", at_stage, stages, 6),
        *_mean_of(BOTH, "cifar10", "frnpf", runs, product(GCONV, RANDOM)),
        *_ours(ADAM, "gconv", "relu", *adam, "relu"),
        *_ours(ADAM, "fully_trained", "relu", *adam, "relu"),
        *_ours(ADAM, "fully_trained", "flnpf", *adam, "flnpf"),
    ]


def gain_numbers(tables: Tables) -> list[Ours]:
    """The smallest gain of learnt over random gates on GCONV with Adam, points."""
    adam = accuracies, tables["runs"], ADAM
    random = _ours(ADAM, "", "", *adam, "frnpf_ii")
    learnt = [one for regime in LEARNT for one in _ours(ADAM, "", "", *adam, regime)]
    if not random or len(learnt) < len(LEARNT):
        return []
    least = min(learnt, key=lambda ours: ours.value)
    why = next(filter(None, (ours.untrained for ours in (*random, *learnt))), "")
    error = math.hypot(least.standard_error, random[0].standard_error)
    return [
        Ours(
            row="npf_learning",
            column="over_frnpf",
            value=least.value - random[0].value,
            standard_error=error,
            runs=least.runs,
            part=ADAM,
            untrained=why,
        )
    ]


def cntk_gain_numbers(tables: Tables) -> list[Ours]:
    """`gain_numbers`, and the gain of ReLU over the CNTK on the same images, points.

    Our one gain is compared with both ends of the printed range.
    """
    rows = tables["cntk"]
    relu = rows[(rows["kind"] == "network") & (rows["regime"] == "relu")]
    kernel = rows[rows["kind"] == "kernel"].sort_values("train")
    if relu.empty or kernel.empty:
        return gain_numbers(tables)
    network, kernel = relu.iloc[0], kernel.iloc[-1]
    return gain_numbers(tables) + [
        Ours(
            row=end,
            column="over_cntk",
            value=float(network["accuracy"] - kernel["accuracy"]),
            standard_error=math.hypot(network["standard_error"], kernel["standard_error"]),
            runs=int(network["runs"]),
            part="cntk",
            untrained=_untrained_beside(network),
        )
        for end in ("finite_cnn_low", "finite_cnn_high")
    ]


def train_numbers(tables: Tables) -> list[Ours]:
    """Train accuracy in the last epoch, percent, as the mean over all cells of Table 2."""
    cells = product(ROWS, (*RANDOM, *LEARNT))
    return _mean_of("", "all", "all", tables["runs"], cells, "train_last")


def _ours(
    part: str, row: str, column: str, find: Callable[..., Sequence[float]], *what: Any
) -> list[Ours]:
    """The mean of the runs that ``find(*what)`` returns; empty if there are none."""
    try:
        why = untrained_stages(*what) if find is at_stage else untrained(*what[:3])
        return [samples.mean_of(row, column, find(*what), part, why)]
    except CannotDecideError:
        return []


def _mean_of(
    part: str,
    row: str,
    column: str,
    runs: pd.DataFrame,
    cells: Iterable[tuple[str, str]],
    kind: str = "best_test",
) -> list[Ours]:
    """Mean of the means of cells of Table 2; empty unless all of them are there."""
    found = [_ours(part, row, column, accuracies, runs, *cell, kind) for cell in cells]
    if not all(found):
        return []
    cells = [ours for (ours,) in found]
    value = float(np.mean([ours.value for ours in cells]))
    error = math.hypot(*(ours.standard_error for ours in cells)) / len(cells)
    why = next(filter(None, (ours.untrained for ours in cells)), "")
    return [
        Ours(
            row=row,
            column=column,
            value=value,
            standard_error=error,
            part=part,
            runs=min(ours.runs for ours in cells),
            untrained=why,
        )
    ]
