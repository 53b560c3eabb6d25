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
from typing import Any

import numpy as np
import pandas as pd

from finitewidth.claims import samples
from finitewidth.claims.estimates import ABOVE, BELOW, required
from finitewidth.claims.ledger import Tables
from finitewidth.claims.needs import FEWEST_RUNS
from finitewidth.claims.reported import Ours
from finitewidth.claims.verdicts import CannotDecideError, Part
from finitewidth.kernels.ntk_init.phases import clear_phase

Statistic = Callable[[pd.DataFrame], float]
NAMES = {"tanh": "tanh", "relu": "ReLU"}
FROM_DEPTH, DEEP, UNTRAINED = 5, 8, 20  # layers
STOPPED = 0.1  # share of networks that must have met the stopping rule
KEPT, MOST = 0.9, 0.5  # of the loss of the best constant output; share of networks

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


@dataclass(frozen=True)
class Map:
    """Networks of one activation, bias variance and width.

    There is a row per network and recorded time: seed, sigma_w2, ``place`` (over the border's),
    ``phase`` (with our margins), depth, time, change, ``loss`` (lowest, over that of the best
    constant), steps_taken, stop_window. If comparisons lie outside the paper's sizes, ``outside``
    says why.
    """

    name: str
    rows: pd.DataFrame
    outside: str = ""

    @property
    def ends(self) -> pd.DataFrame:
        """The rows at the end of training."""
        return self.rows[self.rows["time"] == self.rows["time"].max()]

    def mean(
        self, label: str, statistic: Statistic, rows: pd.DataFrame | None = None, **thresholds: Any
    ) -> Part:
        """The comparison of a statistic of each seed's rows, by default of those at the end."""
        rows = required(self.ends if rows is None else rows, label)
        values = [statistic(own) for _, own in rows.groupby("seed")]
        return samples.mean(f"{self.name}: {label}", values, outside=self.outside, **thresholds)


def maps(tables: Tables, shown: bool = True, steep: bool = False) -> Iterator[Map]:
    """The maps of Figures 3 and 4, or those of all widths at the first bias variance.

    They have cells whose rate exceeds 2/lambda_max only if ``steep``.
    """
    for activation, name in NAMES.items():
        networks = required(tables[f"{activation}_networks"], f"{name} networks")
        keys = ["map", "sigma_b2", "sigma_w2", "depth", "width"]
        rows = tables[f"{activation}_changes"].merge(
            networks.drop(columns="activation"), on=[*keys, "seed"], suffixes=("", "_start")
        )
        rows = rows.merge(tables[f"{activation}_borders"].rename(columns={"sigma_w2": "border"}))
        rows = rows.join(networks.groupby(keys)["eta_lambda"].mean().rename("steepness"), on=keys)
        rows["place"] = rows["sigma_w2"] / rows["border"]
        rows["phase"] = list(map(clear_phase, rows["sigma_w2"], rows["border"]))
        rows["loss"] = rows["lowest_loss"] / rows["constant_loss"]
        biases = list(dict.fromkeys(networks["sigma_b2"]))
        rows = rows[rows["map"] == "shown"] if shown else rows[rows["sigma_b2"] == biases[0]]
        found = dict(tuple(rows.groupby(["sigma_b2", "width"])))
        for bias, width in sorted(found, key=lambda key: (biases.index(key[0]), key[1])):
            own, outside = found[bias, width], OTHER_BIAS if bias != biases[0] else ""
            own = own if steep else own[own["steepness"] <= 2]
            yield Map(f"{name}, M = {width}, σ_b² = {bias:g}", own, outside)


def _well_within(phase: str, rows: pd.DataFrame, depth: int = 0) -> pd.DataFrame:
    """Networks well within a phase, from some depth on."""
    inside = (rows["phase"] == phase) & (rows["depth"] >= depth)
    return required(rows[inside], f"the {phase} phase for L >= {depth}")


ordered, chaotic = partial(_well_within, "ordered"), partial(_well_within, "chaotic")


def near_border(rows: pd.DataFrame) -> pd.DataFrame:
    """Networks of the weight variance nearest to the border, from `FROM_DEPTH` on."""
    deep = required(rows[rows["depth"] >= FROM_DEPTH], f"L >= {FROM_DEPTH}")
    away = (deep["place"] - 1).abs()
    return deep[away <= away.min() + 1e-9]


def t10(tables: Tables) -> Iterator[Part]:
    """Ordered: the change is small at any depth, and does not grow from L = 10 on."""
    for each in maps(tables):
        yield each.mean(
            f"largest change, ordered, L >= {FROM_DEPTH}",
            lambda rows: ordered(rows, FROM_DEPTH)["change"].max(skipna=False),
            high=0.15,
            ours="the paper says small; 0.15 of the kernel's norm at most, as planned",
        )
        deepest = ordered(each.ends)["depth"].max()
        yield each.mean(
            f"mean change, ordered, L = {deepest} - L = 10",
            lambda rows, deepest=deepest: _at(ordered(rows), deepest) - _at(ordered(rows), 10),
            high=0.05,
            ours=WHY_NO_GROWTH,
            late=True,
        )


def _at(rows: pd.DataFrame, depth: int) -> float:
    return _mean(required(rows[rows["depth"] == depth], f"networks of {depth} layers"))


def t11(tables: Tables) -> Iterator[Part]:
    """Chaotic: the change grows with depth, and is large in deep networks."""
    for each in maps(tables):
        yield each.mean(
            "slope of the change in L, chaotic",
            lambda rows: _slope(chaotic(rows)),
            **ABOVE,
        )
        deepest = chaotic(each.ends)["depth"].max()
        yield each.mean(
            f"mean change, chaotic, L = {deepest}",
            lambda rows, deepest=deepest: _at(chaotic(rows), deepest),
            low=0.5,
            strict=True,
            ours=WHY_LARGE,
        )


def _slope(rows: pd.DataFrame) -> float:
    """Slope of the change in L, mean over the weight variances that have two depths."""
    lines = [line for _, line in rows.groupby("sigma_w2") if line["depth"].nunique() > 1]
    if not lines:
        raise CannotDecideError("no weight variance of the chaotic phase has two depths")
    if not all(np.isfinite(line["change"]).all() for line in lines):
        return np.nan
    return float(np.mean([np.polyfit(line["depth"], line["change"], 1)[0] for line in lines]))


def t12(tables: Tables) -> Iterator[Part]:
    """Border: the change of deep networks is above that of the ordered phase, and below 1."""
    for each in maps(tables):
        yield each.mean(
            f"mean change at the border - in the ordered phase, L >= {FROM_DEPTH}",
            lambda rows: _mean(near_border(rows)) - _mean(ordered(rows, FROM_DEPTH)),
            cut=WHY_DEEP,
            **ABOVE,
        )
        yield each.mean(
            f"mean change at the border, L >= {FROM_DEPTH}",
            lambda rows: _mean(near_border(rows)),
            high=1,
            strict=True,
            paper=True,
            cut=WHY_DEEP,
        )


def _mean(rows: pd.DataFrame, column: str = "change") -> float:
    return float(rows[column].mean(skipna=False))


def t13(tables: Tables) -> Iterator[Part]:
    """The steepest rise of the change over the weight variance lies near the border.

    It is that of the mean over seeds, and its error is a jackknife's.
    """
    for each in maps(tables, steep=True):
        deep = required(each.ends[each.ends["depth"] >= DEEP], f"networks with L >= {DEEP}")
        lost = set(deep.loc[deep["change"].isna(), "sigma_w2"])
        curves = deep[~deep["sigma_w2"].isin(lost)].pivot_table(
            index="seed", columns="place", values="change"
        )
        values, places = curves.to_numpy(float), curves.columns.to_numpy(float)
        count = len(values)
        if count < 2 or len(places) < 3:
            raise CannotDecideError(f"{each.name}: too few seeds or weight variances for a rise")
        others = [_steepest(places, np.delete(values, i, axis=0)) for i in range(count)]
        error = float(np.sqrt((count - 1) * np.var(others)))
        about = {"standard_error": error, "dof": count - 1} if error else {"chance": 0.5**count}
        label = f"place of the steepest rise of the change, L >= {DEEP}, over the border"
        yield Part(
            name=f"{each.name}: {label}",
            value=_steepest(places, values),
            low=0.85,
            high=1.15,
            ours=WHY_AROUND,
            outside=each.outside,
            **about,
        )


def _steepest(places: np.ndarray, changes: np.ndarray) -> float:
    """Middle of the steepest pair of the rising curve closest to the mean; nan if it is flat."""
    from scipy.optimize import isotonic_regression

    slopes = np.diff(isotonic_regression(changes.mean(axis=0)).x) / np.diff(places)
    if not slopes.max() > 0:
        return np.nan
    first = int(slopes.argmax())
    return float(places[first] + places[first + 1]) / 2


def t14(tables: Tables) -> Iterator[Part]:
    """Deep ordered networks mostly keep the loss of a constant, and more than chaotic ones."""
    for each in maps(tables):
        ends = required(each.ends[each.ends["depth"] <= UNTRAINED], f"L <= {UNTRAINED}")
        deepest_ordered = ordered(ends)["depth"].max()
        deepest_chaotic = chaotic(ends)["depth"].max()
        yield each.mean(
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
        yield each.mean(
            f"mean lowest loss over a constant's at L = {deepest_chaotic}, ordered - chaotic",
            _lead_in_loss,
            ends[ends["depth"] == deepest_chaotic],
            **ABOVE,
        )


def _share_untrained(rows: pd.DataFrame) -> float:
    """Share of ordered networks that keep 90 % of the loss of the best constant output."""
    return float((ordered(rows)["loss"] >= KEPT).mean())


def _lead_in_loss(rows: pd.DataFrame) -> float:
    """Mean lowest loss of ordered networks minus that of chaotic ones, in units of a constant's."""
    return _mean(ordered(rows), "loss") - _mean(chaotic(rows), "loss")


def t15(tables: Tables) -> Iterator[Part]:
    """Networks that take more steps change their kernels less."""
    for each in maps(tables):
        if not (each.ends["stop_window"] >= 0).mean() >= STOPPED:
            reason = f"fewer than {STOPPED:.0%} of the networks met the stopping rule"
            raise CannotDecideError(f"{each.name}: {reason}")
        label = "Spearman's correlation of steps taken and change"
        yield each.mean(label, _correlation, bounds=(-1, 1), **BELOW)
        label += ", clearly"
        clearly = {"high": -0.3, "strict": True, "ours": WHY_CORRELATED}
        yield each.mean(label, _correlation, bounds=(-1, 1), **clearly)


def _correlation(rows: pd.DataFrame) -> float:
    from scipy import stats

    if rows["change"].nunique() < 2 or rows["steps_taken"].nunique() < 2:
        return np.nan
    return float(stats.spearmanr(rows["steps_taken"], rows["change"]).statistic)


def t16(tables: Tables) -> Iterator[Part]:
    """After 10 and 100 steps deep chaotic networks have changed more than ordered ones."""
    for each in maps(tables):
        rows = each.rows[each.rows["depth"] >= DEEP]
        for depth, time in product(sorted(chaotic(rows)["depth"].unique())[-2:], (10, 100)):
            place = f"L = {depth} after {time} steps"
            here = required(rows[(rows["depth"] == depth) & (rows["time"] == time)], place)
            label = f"log10 of the change at {place}, chaotic/ordered"
            yield each.mean(label, _log_ratio, here, cut=WHY_DEEPER, **ABOVE)
            label += ", by a factor of 10"
            bound = {"low": 1, "strict": True, "ours": WHY_EARLY, "late": True}
            yield each.mean(label, _log_ratio, here, **bound)


def _log_ratio(rows: pd.DataFrame) -> float:
    """Logarithm of the median change of chaotic over that of ordered networks."""
    medians = [phase(rows)["change"].median(skipna=False) for phase in (chaotic, ordered)]
    return float(np.log10(medians[0] / medians[1]))


def t17(tables: Tables) -> Iterator[Part]:
    """The change falls from each width to the next, and the transition shows at every width."""
    every = maps(tables, shown=False)
    found = [each for each in every if each.rows["seed"].nunique() >= FEWEST_RUNS]
    pairs = [(a, b) for a, b in pairwise(found) if a.name.split(",")[0] == b.name.split(",")[0]]
    if not pairs:
        raise CannotDecideError("networks of one width do not show what the width changes")
    for narrow, wide in pairs:
        both = narrow.ends.merge(wide.ends, on=["sigma_w2", "depth", "seed"])
        both["log_ratio"] = np.log(both["change_y"] / both["change_x"])
        yield narrow.mean(
            f"median log of the change at {wide.name.split(', ')[1]} over this one",
            lambda rows: float(rows["log_ratio"].median(skipna=False)),
            both,
            **BELOW,
        )
    for each in found:
        yield each.mean(
            f"mean change, chaotic - ordered, L >= {FROM_DEPTH}",
            lambda rows: _mean(chaotic(rows, FROM_DEPTH)) - _mean(ordered(rows, FROM_DEPTH)),
            **ABOVE,
        )


def _over_seeds(
    every: Iterator[Map], part: Callable, statistic: Statistic, joined: Callable, *place: str
) -> list[Ours]:
    """The mean over seeds of a statistic of a part of their rows at the end, ``joined`` over maps.

    Maps at another bias variance than the one judged are left out. Nothing if a value is missing.
    """
    values: dict[int, list[float]] = {}
    for each in every:
        if not each.outside:
            for seed, rows in part(each.ends).groupby("seed"):
                values.setdefault(seed, []).append(float(statistic(rows)))
    means = [float(joined(own)) for own in values.values()]
    if len(means) < 2 or not np.isfinite(means).all():
        return []
    return [samples.mean_of(*place, means)]


def untrainable_depth(tables: Tables) -> list[Ours]:
    """The smallest L at which most ordered networks keep 90 % of a constant's loss, over seeds."""

    def smallest(rows: pd.DataFrame) -> float:
        kept = (rows["loss"] >= KEPT).groupby(rows["depth"]).mean()
        return min(kept.index[kept > MOST], default=math.nan)

    return _over_seeds(maps(tables, steep=True), ordered, smallest, np.mean, "ordered", "depth")


def relative_ntk_change(tables: Tables) -> list[Ours]:
    """The largest change of deep networks nearest to the border, as of T12; mean over seeds."""
    largest = lambda rows: rows["change"].max(skipna=False)  # noqa: E731
    found = _over_seeds(maps(tables), near_border, largest, np.max, "edge_of_chaos", "upper_bound")
    return [replace(one, bounded=True) for one in found]
