"""Claims of trust on trained networks (Section 4 and Appendix D): Figures 3, 4 and 8 to 11.

A statistic is computed for each seed, and a comparison is made with its mean over seeds. Cells
whose rate exceeds 2/lambda_max at the start, in the mean over seeds, are left out, since the paper
says that its rate never does. T13 needs whole curves over the weight variance and keeps them.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise, product
from typing import Unpack

import numpy as np
import pandas as pd

from finitewidth.claims import samples
from finitewidth.claims.estimates import ABOVE, BELOW, required
from finitewidth.claims.ledger import Tables
from finitewidth.claims.needs import FEWEST_RUNS
from finitewidth.claims.reported import Ours
from finitewidth.claims.verdicts import CannotDecideError, Part, PartFacts
from finitewidth.kernels.ntk_init.phases import clear_phase

Statistic = Callable[[pd.DataFrame], float]
NAMES = {"tanh": "tanh", "relu": "ReLU"}
FROM_DEPTH = 5  # layers from which on networks count as deep in T10, T12 and T17
DEEP = 8  # the same in T13 and T16
UNTRAINED = 20  # layers at which the paper's ordered networks mostly do not learn
STOPPED = 0.1  # share of networks that must have met the stopping rule
UNTRAINED_LOSS = 0.9  # loss over that of the best constant output, at least, of such a network
MOST = 0.5  # share of networks above which these are most

OTHER_BIAS = (
    "the paper's figures of training do not name sigma_b^2; 1, as in its Figure 1, is judged"
)
WHY_NO_GROWTH = (
    "the paper says not increasing; a change of 0.05, within which seeds differ, counts as none"
)
WHY_LARGE = "the paper says significant; half of the kernel's norm, as planned"
WHY_DEEP = f"the paper says deep networks; L >= {FROM_DEPTH} is ours"
WHY_DEEPER = f"the paper says deep networks and early stages; L >= {DEEP} and the steps are ours"
WHY_AROUND = "the paper says around the border; within 15 % of it, as planned"
WHY_MOSTLY = (
    "the paper says mostly and names no loss; at least 90 % of the loss of the best constant output"
)
WHY_CORRELATED = "the paper says mostly; a correlation of -0.3, as planned"
WHY_EARLY = "the paper says significant, and very low; a factor of 10, as planned"
BELOW_FOR_CORRELATIONS: PartFacts = {**BELOW, "bounds": (-1, 1)}
ABOVE_IF_DEEP: PartFacts = {**ABOVE, "cut": WHY_DEEP}
ABOVE_IF_DEEPER: PartFacts = {**ABOVE, "cut": WHY_DEEPER}


@dataclass(frozen=True)
class Map:
    """Networks of one activation, bias variance and width.

    There is a row per network and recorded time: seed, sigma_w2, ``over_border`` (sigma_w2 over
    the border's), ``phase`` (with our margins), depth, time, change, ``loss`` (lowest, over that of
    the best constant), steps_taken, stop_window. ``outside`` is the reason why comparisons lie
    outside the paper's sizes, empty if they do not.
    """

    activation: str
    width: int
    bias: float  # sigma_b^2
    rows: pd.DataFrame
    outside: str = ""

    @property
    def name(self) -> str:
        """Activation, width and bias variance in words."""
        return f"{NAMES[self.activation]}, M = {self.width}, σ_b² = {self.bias:g}"

    @property
    def ends(self) -> pd.DataFrame:
        """The rows at the end of training."""
        return self.rows[self.rows["time"] == self.rows["time"].max()]

    def mean(
        self,
        label: str,
        statistic: Statistic,
        rows: pd.DataFrame | None = None,
        **thresholds: Unpack[PartFacts],
    ) -> Part:
        """The comparison of a statistic of each seed's rows, by default of those at the end."""
        if rows is None:
            rows = self.ends
        by_seed = required(rows, label).groupby("seed")
        values = [statistic(network_rows) for _, network_rows in by_seed]
        facts: PartFacts = {**thresholds, "outside": self.outside}
        return samples.mean(f"{self.name}: {label}", values, **facts)


def maps(tables: Tables, shown: bool = True, steep: bool = False) -> Iterator[Map]:
    """The maps of Figures 3 and 4, or those of all widths at the first bias variance.

    They have cells whose rate exceeds 2/lambda_max only if ``steep``.
    """
    for activation in NAMES:
        rows = _networks(tables, activation)
        biases = list(dict.fromkeys(tables[f"{activation}_networks"]["sigma_b2"]))
        selected = rows["map"] == "shown" if shown else rows["sigma_b2"] == biases[0]
        by_map = dict(tuple(rows[selected].groupby(["sigma_b2", "width"])))
        # in the order of the settings
        for bias, width in sorted(by_map, key=lambda key: (biases.index(key[0]), key[1])):
            cells = by_map[bias, width]
            if not steep:
                cells = cells[cells["steepness"] <= 2]
            outside = OTHER_BIAS if bias != biases[0] else ""
            yield Map(activation, width, bias, cells, outside)


def _networks(tables: Tables, activation: str) -> pd.DataFrame:
    """The rows of `Map` for all networks of an activation, and the ``steepness`` of their cell.

    This is the rate times the largest eigenvalue of the kernel at the start, mean over seeds.
    """
    networks = required(tables[f"{activation}_networks"], f"{NAMES[activation]} networks")
    changes = tables[f"{activation}_changes"]
    borders = tables[f"{activation}_borders"].rename(columns={"sigma_w2": "border"})
    cell = ["map", "sigma_b2", "sigma_w2", "depth", "width"]
    steepness = networks.groupby(cell)["eta_lambda"].mean().rename("steepness")
    rows = changes.merge(
        networks.drop(columns="activation"), on=[*cell, "seed"], suffixes=("", "_start")
    )
    rows = rows.merge(borders)
    rows = rows.join(steepness, on=cell)
    rows["over_border"] = rows["sigma_w2"] / rows["border"]
    rows["phase"] = list(map(clear_phase, rows["sigma_w2"], rows["border"]))
    rows["loss"] = rows["lowest_loss"] / rows["constant_loss"]
    return rows


def ordered(rows: pd.DataFrame, depth: int = 0) -> pd.DataFrame:
    """Networks well within the ordered phase, from some depth on."""
    return _well_within("ordered", rows, depth)


def chaotic(rows: pd.DataFrame, depth: int = 0) -> pd.DataFrame:
    """Networks well within the chaotic phase, from some depth on."""
    return _well_within("chaotic", rows, depth)


def _well_within(phase: str, rows: pd.DataFrame, depth: int) -> pd.DataFrame:
    inside = (rows["phase"] == phase) & (rows["depth"] >= depth)
    return required(rows[inside], f"the {phase} phase for L >= {depth}")


def near_border(rows: pd.DataFrame) -> pd.DataFrame:
    """Networks of the weight variance nearest to the border, from `FROM_DEPTH` on."""
    deep = required(rows[rows["depth"] >= FROM_DEPTH], f"L >= {FROM_DEPTH}")
    distance = (deep["over_border"] - 1).abs()
    return deep[distance <= distance.min() + 1e-9]


def t10(tables: Tables) -> Iterator[Part]:
    """Ordered: the change is small at any depth, and does not grow from L = 10 on."""
    for group in maps(tables):
        yield group.mean(
            f"largest change, ordered, L >= {FROM_DEPTH}",
            _largest_ordered_change,
            high=0.15,
            ours="the paper says small; 0.15 of the kernel's norm at most, as planned",
        )
        deepest = ordered(group.ends)["depth"].max()
        yield group.mean(
            f"mean change, ordered, L = {deepest} - L = 10",
            partial(_ordered_growth, deepest=deepest),
            high=0.05,
            ours=WHY_NO_GROWTH,
            late=True,
        )


def _largest_ordered_change(rows: pd.DataFrame) -> float:
    return ordered(rows, FROM_DEPTH)["change"].max(skipna=False)


def _ordered_growth(rows: pd.DataFrame, deepest: int) -> float:
    """Mean change of ordered networks at the largest depth minus that at L = 10."""
    return _mean_at(ordered(rows), deepest) - _mean_at(ordered(rows), 10)


def _mean_at(rows: pd.DataFrame, depth: int) -> float:
    """Mean change of networks of one depth."""
    return _mean(required(rows[rows["depth"] == depth], f"networks of {depth} layers"))


def _mean(rows: pd.DataFrame, column: str = "change") -> float:
    """Mean of a column; nan if a value is missing."""
    return float(rows[column].mean(skipna=False))


def t11(tables: Tables) -> Iterator[Part]:
    """Chaotic: the change grows with depth, and is large in deep networks."""
    for group in maps(tables):
        yield group.mean("slope of the change in L, chaotic", _chaotic_slope, **ABOVE)
        deepest = chaotic(group.ends)["depth"].max()
        yield group.mean(
            f"mean change, chaotic, L = {deepest}",
            partial(_chaotic_mean, deepest=deepest),
            low=0.5,
            strict=True,
            ours=WHY_LARGE,
        )


def _chaotic_mean(rows: pd.DataFrame, deepest: int) -> float:
    """Mean change of chaotic networks at the largest depth."""
    return _mean_at(chaotic(rows), deepest)


def _chaotic_slope(rows: pd.DataFrame) -> float:
    """Slope of the change in L, mean over the chaotic weight variances that have two depths."""
    by_variance = [line for _, line in chaotic(rows).groupby("sigma_w2")]
    lines = [line for line in by_variance if line["depth"].nunique() > 1]
    if not lines:
        raise CannotDecideError("no weight variance of the chaotic phase has two depths")
    if not all(np.isfinite(line["change"]).all() for line in lines):
        return np.nan
    slopes = [np.polyfit(line["depth"], line["change"], 1)[0] for line in lines]
    return float(np.mean(slopes))


def t12(tables: Tables) -> Iterator[Part]:
    """Border: the change of deep networks is above that of the ordered phase, and below 1."""
    for group in maps(tables):
        yield group.mean(
            f"mean change at the border - in the ordered phase, L >= {FROM_DEPTH}",
            lambda rows: _mean(near_border(rows)) - _mean(ordered(rows, FROM_DEPTH)),
            **ABOVE_IF_DEEP,
        )
        yield group.mean(
            f"mean change at the border, L >= {FROM_DEPTH}",
            lambda rows: _mean(near_border(rows)),
            high=1,
            strict=True,
            paper=True,
            cut=WHY_DEEP,
        )


def t13(tables: Tables) -> Iterator[Part]:
    """The steepest rise of the change over the weight variance lies near the border.

    It is that of the mean over seeds, and its error is a jackknife's.
    """
    for group in maps(tables, steep=True):
        curves = _curves_over_variance(group.ends)
        changes = curves.to_numpy(float)  # (seeds, weight variances)
        variances = curves.columns.to_numpy(float)
        count = len(changes)
        if count < 2 or len(variances) < 3:
            raise CannotDecideError(f"{group.name}: too few seeds or weight variances for a rise")
        without_one = [_steepest(variances, np.delete(changes, i, axis=0)) for i in range(count)]
        error = float(np.sqrt((count - 1) * np.var(without_one)))
        label = f"place of the steepest rise of the change, L >= {DEEP}, over the border"
        part = Part(
            name=f"{group.name}: {label}",
            value=_steepest(variances, changes),
            low=0.85,
            high=1.15,
            ours=WHY_AROUND,
            outside=group.outside,
        )
        if error:
            yield replace(part, standard_error=error, dof=count - 1)
        else:
            yield replace(part, chance=0.5**count)


def _curves_over_variance(ends: pd.DataFrame) -> pd.DataFrame:
    """Mean change of deep networks by seed and weight variance over the border's.

    Weight variances at which a network diverged are left out.
    """
    deep = required(ends[ends["depth"] >= DEEP], f"networks with L >= {DEEP}")
    diverged = set(deep.loc[deep["change"].isna(), "sigma_w2"])
    converged = deep[~deep["sigma_w2"].isin(diverged)]
    return converged.pivot_table(index="seed", columns="over_border", values="change")


def _steepest(variances: np.ndarray, changes: np.ndarray) -> float:
    """Weight variance over the border's at which the change rises most steeply; nan if nowhere.

    ``changes`` is (seeds, variances). The rising curve closest to their mean is taken, and of its
    two neighbours with the steepest line between them the middle.
    """
    from scipy.optimize import isotonic_regression

    rising = isotonic_regression(changes.mean(axis=0)).x
    slopes = np.diff(rising) / np.diff(variances)
    if not slopes.max() > 0:
        return np.nan
    first = int(slopes.argmax())
    return float(variances[first] + variances[first + 1]) / 2


def t14(tables: Tables) -> Iterator[Part]:
    """Deep ordered networks mostly keep the loss of a constant, and more than chaotic ones."""
    for group in maps(tables):
        ends = required(group.ends[group.ends["depth"] <= UNTRAINED], f"L <= {UNTRAINED}")
        deepest_ordered = ordered(ends)["depth"].max()
        deepest_chaotic = chaotic(ends)["depth"].max()
        yield group.mean(
            f"share of ordered networks at L = {deepest_ordered} that keep 90 % of a constant's "
            "loss",
            _share_untrained,
            ends[ends["depth"] == deepest_ordered],
            low=MOST,
            strict=True,
            ours=WHY_MOSTLY,
            late=True,
            bounds=(0, 1),
        )
        yield group.mean(
            f"mean lowest loss over a constant's at L = {deepest_chaotic}, ordered - chaotic",
            _lead_in_loss,
            ends[ends["depth"] == deepest_chaotic],
            **ABOVE,
        )


def _share_untrained(rows: pd.DataFrame) -> float:
    """Share of ordered networks that keep 90 % of the loss of the best constant output."""
    untrained = ordered(rows)["loss"] >= UNTRAINED_LOSS
    return float(untrained.mean())


def _lead_in_loss(rows: pd.DataFrame) -> float:
    """Mean lowest loss of ordered networks minus that of chaotic ones, in units of a constant's."""
    return _mean(ordered(rows), "loss") - _mean(chaotic(rows), "loss")


def t15(tables: Tables) -> Iterator[Part]:
    """Networks that take more steps change their kernels less."""
    for group in maps(tables):
        stopped = (group.ends["stop_window"] >= 0).mean()
        if not stopped >= STOPPED:
            reason = f"fewer than {STOPPED:.0%} of the networks met the stopping rule"
            raise CannotDecideError(f"{group.name}: {reason}")
        label = "Spearman's correlation of steps taken and change"
        yield group.mean(label, _correlation, **BELOW_FOR_CORRELATIONS)
        yield group.mean(
            f"{label}, clearly",
            _correlation,
            high=-0.3,
            strict=True,
            ours=WHY_CORRELATED,
            bounds=(-1, 1),
        )


def _correlation(rows: pd.DataFrame) -> float:
    from scipy import stats

    if rows["change"].nunique() < 2 or rows["steps_taken"].nunique() < 2:
        return np.nan
    return float(stats.spearmanr(rows["steps_taken"], rows["change"]).statistic)


def t16(tables: Tables) -> Iterator[Part]:
    """After 10 and 100 steps deep chaotic networks have changed more than ordered ones."""
    for group in maps(tables):
        rows = group.rows[group.rows["depth"] >= DEEP]
        deepest_two = sorted(chaotic(rows)["depth"].unique())[-2:]
        for depth, time in product(deepest_two, (10, 100)):
            moment = f"L = {depth} after {time} steps"
            early = required(rows[(rows["depth"] == depth) & (rows["time"] == time)], moment)
            label = f"log10 of the change at {moment}, chaotic/ordered"
            yield group.mean(label, _log_ratio, early, **ABOVE_IF_DEEPER)
            label += ", by a factor of 10"
            factor: PartFacts = {"low": 1, "strict": True, "ours": WHY_EARLY, "late": True}
            yield group.mean(label, _log_ratio, early, **factor)


def _log_ratio(rows: pd.DataFrame) -> float:
    """Logarithm of the median change of chaotic over that of ordered networks."""
    chaotic_median = chaotic(rows)["change"].median(skipna=False)
    ordered_median = ordered(rows)["change"].median(skipna=False)
    return float(np.log10(chaotic_median / ordered_median))


def t17(tables: Tables) -> Iterator[Part]:
    """The change falls from each width to the next, and the transition shows at every width."""
    groups = []
    for group in maps(tables, shown=False):
        if group.rows["seed"].nunique() >= FEWEST_RUNS:
            groups.append(group)
    pairs = [
        (narrow, wide) for narrow, wide in pairwise(groups) if narrow.activation == wide.activation
    ]
    if not pairs:
        raise CannotDecideError("networks of one width do not show what the width changes")
    for narrow, wide in pairs:
        both = narrow.ends.merge(wide.ends, on=["sigma_w2", "depth", "seed"])
        both["log_ratio"] = np.log(both["change_y"] / both["change_x"])
        yield narrow.mean(
            f"median log of the change at M = {wide.width} over this one",
            lambda rows: float(rows["log_ratio"].median(skipna=False)),
            both,
            **BELOW,
        )
    for group in groups:
        yield group.mean(
            f"mean change, chaotic - ordered, L >= {FROM_DEPTH}",
            lambda rows: _mean(chaotic(rows, FROM_DEPTH)) - _mean(ordered(rows, FROM_DEPTH)),
            **ABOVE,
        )


def _values_of_seeds(
    groups: Iterator[Map],
    select: Callable[[pd.DataFrame], pd.DataFrame],
    statistic: Statistic,
) -> list[list[float]]:
    """For each seed the statistic of its selected rows at the end, of all maps.

    Maps at another bias variance than the one judged are left out.
    """
    values: dict[int, list[float]] = {}
    for group in groups:
        if group.outside:
            continue
        for seed, rows in select(group.ends).groupby("seed"):
            values.setdefault(seed, []).append(float(statistic(rows)))
    return list(values.values())


def _mean_over_seeds(row: str, column: str, values: list[float]) -> list[Ours]:
    """Our counterpart of a printed number; none if a value is missing."""
    if len(values) < 2 or not np.isfinite(values).all():
        return []
    return [samples.mean_of(row, column, values)]


def untrainable_depth(tables: Tables) -> list[Ours]:
    """The smallest L at which most ordered networks keep 90 % of a constant's loss, over seeds."""
    values = _values_of_seeds(maps(tables, steep=True), ordered, _smallest_untrained_depth)
    means = [float(np.mean(by_map)) for by_map in values]
    return _mean_over_seeds("ordered", "depth", means)


def _smallest_untrained_depth(rows: pd.DataFrame) -> float:
    """The smallest L at which most networks keep 90 % of a constant's loss; nan if none."""
    untrained = rows["loss"] >= UNTRAINED_LOSS
    shares = untrained.groupby(rows["depth"]).mean()
    return min(shares.index[shares > MOST], default=math.nan)


def relative_ntk_change(tables: Tables) -> list[Ours]:
    """The largest change of deep networks nearest to the border, as of T12; mean over seeds."""
    values = _values_of_seeds(maps(tables), near_border, _largest_change)
    largest = [float(np.max(by_map)) for by_map in values]
    means = _mean_over_seeds("edge_of_chaos", "upper_bound", largest)
    return [replace(mean, bounded=True) for mean in means]


def _largest_change(rows: pd.DataFrame) -> float:
    return rows["change"].max(skipna=False)
