"""Claims of trust on the dispersion r of the NTK at initialisation: Figures 1, 2 and 7."""

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pandas as pd

from finitewidth.claims import estimates
from finitewidth.claims.estimates import ABOVE, BELOW, Estimate, at, largest, mean, required
from finitewidth.claims.ledger import Tables
from finitewidth.claims.reported import Ours
from finitewidth.claims.verdicts import CannotDecideError, Part, PartFacts
from finitewidth.kernels.ntk_init.phases import CHAOTIC_FROM, ORDERED_UP_TO

NAMES = {"relu": "ReLU", "tanh": "tanh"}
BORDER = 2.0  # sigma_w^2 of ReLU networks at the border
FROM_DEPTH = 20  # L from which on r of ordered networks stays where it is; "deep" in Section 4
SHALLOW = 2  # L
UP_TO = 0.2  # L / M up to which the draws suffice to see how fast r grows in the chaotic phase
# L / M -> r at the ends of the transition. At r = 2 the standard deviation equals the mean, where
# the red zone of Figure 1 ends. Chaotic networks are above the first band at the first L / M. All
# four widths have L / M = 0.2, but there r stays below 2 in most of them.
BANDS = {0.4: (1.3, 2.0), 0.2: (1.1, 1.5)}
BIAS_BAND = (1.3, 2.0)  # r at the ends of the transition in maps of several sigma_b^2
BIAS_SHALLOW = 0.28  # L / M from which on both activations have this band
BIAS_DEPTHS = (0.5, 0.9)  # range of L / M; the draws do not suffice for deeper networks
APART = float(np.log(1.15))  # distance in log r up to which curves of two widths collapse
COLLAPSE = (0.1, 0.2, 0.3)  # L / M at which curves of different widths are compared

ROOTS = "the roots are found to 1e-12"
SMALL: PartFacts = {
    "high": 1.15,
    "ours": "the paper says small; at 1.15 the standard deviation is 39 % of the mean",
}
DEEPER: PartFacts = {**ABOVE, "cut": "the paper says sufficiently shallow; L = 2 is ours"}
SMALL_IF_SHALLOW: PartFacts = {**SMALL, "late": True}
WHY_NO_GROWTH = "the paper says does not increase, but no estimate shows that a change is exactly 0"
WHY_POWER = "the paper says vanishes or decreases; the variance of wide networks goes as 1 / M"
WHY_STRAIGHT = "the paper says exponentially, and gives no measure of how straight log r is"
WHY_APART = "the paper says that r depends on L/M, and gives no measure of how well curves collapse"
OTHER_FIGURE = "the sentence is about Figure 1, with sigma_b^2 = 1; this is a network of Figure 2"
WHY_SHALLOW = "the paper speaks of the transition as a whole; this is where that of tanh is widest"


def ours(rows: pd.DataFrame) -> pd.DataFrame:
    """Our estimates, or exact values if there are some, without the sample of the paper's size."""
    return required(rows[rows["sample"] != "paper"], "our sample")


class HeatMap(NamedTuple):
    """A map of r over weight variance and depth, of one activation, bias variance and width."""

    activation: str
    border: float  # weight variance between the phases
    width: int
    cells: pd.DataFrame

    @property
    def name(self) -> str:
        """Activation and width in words."""
        return f"{NAMES[self.activation]}, M = {self.width}"

    @property
    def ordered(self) -> pd.DataFrame:
        """The cells of the ordered phase, with our margin."""
        inside = self.cells["sigma_w2"] <= ORDERED_UP_TO * self.border + 1e-9
        return required(self.cells[inside], "the ordered phase")

    @property
    def chaotic_ends(self) -> list[float]:
        """The lowest weight variance of the chaotic phase, and the highest if it is another one."""
        variances = self.cells["sigma_w2"]
        inside = variances >= CHAOTIC_FROM * self.border - 1e-9
        chaotic = required(variances[inside], "the chaotic phase")
        return sorted({chaotic.min(), chaotic.max()})

    @property
    def depth_and_half(self) -> tuple[int, int]:
        """The deepest L up to M / 5, and the deepest up to half of it."""
        depths = np.sort(self.cells["depth"].unique())
        allowed = depths[depths <= UP_TO * self.width]
        if not len(allowed) or depths[0] > allowed[-1] / 2:
            raise CannotDecideError(f"no two depths up to M/5 at M = {self.width}")
        deep = allowed[-1]
        half = depths[depths <= deep / 2][-1]
        return int(deep), int(half)


def _maps(tables: Tables) -> Iterator[HeatMap]:
    """The maps of a table ``cells``."""
    borders = tables["borders"].set_index(["activation", "sigma_b2"])["sigma_w2"]
    groups = ours(tables["cells"]).groupby(["activation", "sigma_b2", "width"])
    for (activation, bias, width), cells in groups:
        yield HeatMap(activation, float(borders[activation, bias]), int(width), cells)


def _r(rows: pd.DataFrame, depth: float) -> Estimate:
    """The dispersion r at a depth of a curve."""
    return at(rows, "depth", depth, "dispersion", "error")


def _curve_at(cells: pd.DataFrame, variance: float) -> pd.DataFrame:
    """The cells of a map at one weight variance: r as a function of depth."""
    return cells[np.isclose(cells["sigma_w2"], variance)]


def _growth(curve: pd.DataFrame, deep: int, shallow: int) -> Estimate:
    """Growth of log r between two depths of a curve."""
    return _r(curve, deep).log().minus(_r(curve, shallow).log())


def t01(tables: Tables) -> Iterator[Part]:
    """Ordered: r small, not growing with depth, and r - 1 falls with M, as 1 / M."""
    by_width: dict[str, dict[int, pd.DataFrame]] = {}
    for heat in _maps(tables):
        variance = heat.ordered["sigma_w2"].max()
        curve = _curve_at(heat.ordered, variance)
        yield from _ordered_map(heat, curve)
        name = f"{NAMES[heat.activation]}, sigma_w^2 = {variance:.4g}, Figure 1"
        by_width.setdefault(name, {})[heat.width] = curve
    rows = ours(tables["curves"])
    ordered = required(rows[rows["sigma_w2"] < BORDER], "the ordered phase of Figure 2")
    for (variance, _, width), curve in ordered.groupby(["sigma_w2", "sigma_b2", "width"]):
        name = f"ReLU, sigma_w^2 = {variance:g}, Figure 2"
        by_width.setdefault(name, {})[int(width)] = curve
    for name, curves in by_width.items():
        yield from _fall_with_width(name, curves)


def _ordered_map(heat: HeatMap, curve: pd.DataFrame) -> Iterator[Part]:
    """Ordered part of a map: r is small, does not grow with depth, and grows less than chaotic r.

    ``curve`` is r by depth at the largest ordered weight variance.
    """
    deeper = heat.ordered[heat.ordered["depth"] >= 3]
    rs = estimates.estimates(deeper, "dispersion", "error")
    yield largest(f"{heat.name}: largest r for L >= 3", rs, high=2, strict=True, paper=True)
    yield largest(f"{heat.name}: largest r for L >= 3, as small", rs, **SMALL)
    growth = _r(curve, curve["depth"].max()).minus(_r(curve, FROM_DEPTH))
    label = f"{heat.name}: r at the deepest - r at L = {FROM_DEPTH}"
    yield growth.part(label, high=0.05, ours=WHY_NO_GROWTH, late=True)
    deep, shallow = heat.depth_and_half
    chaotic = _curve_at(heat.cells, heat.chaotic_ends[0])
    less = _growth(curve, deep, shallow).minus(_growth(chaotic, deep, shallow))
    label = f"{heat.name}: growth of log r from L = {shallow} to {deep}, ordered - chaotic"
    yield less.part(label, **BELOW)


def _fall_with_width(name: str, curves: dict[int, pd.DataFrame]) -> Iterator[Part]:
    """The fall of r - 1 with M, at L = 20 and at the largest depth that all widths have."""
    widths = sorted(curves)
    if len(widths) < 2:
        raise CannotDecideError("networks of one width do not show how r falls with it")
    deepest = min(int(curve["depth"].max()) for curve in curves.values())
    for depth in sorted({FROM_DEPTH, deepest}):
        excesses = [_r(curves[width], depth).shifted(-1) for width in widths]
        power = estimates.power_of(widths, excesses)
        label = f"{name}: power of M with which r - 1 changes at L = {depth}"
        yield power.part(label, **BELOW)
        if depth == FROM_DEPTH:
            label += ", as 1/M"
            yield power.part(label, low=-1.2, high=-0.8, ours=WHY_POWER, late=True)


def t02(tables: Tables) -> Iterator[Part]:
    """Chaotic: r grows with depth."""
    for heat in _maps(tables):
        deep, shallow = heat.depth_and_half
        for variance in heat.chaotic_ends:
            growth = _growth(_curve_at(heat.cells, variance), deep, shallow)
            name = f"{heat.name}, sigma_w^2 = {variance:g}"
            yield growth.part(f"{name}: log r at L = {deep} - at {shallow}", **ABOVE)


def t03(tables: Tables) -> Iterator[Part]:
    """Border: the standard deviation is below the mean, r < 2; estimates, and exact values."""
    maps = list(_borders_of_maps(tables))
    exact = list(_exact_borders(tables))
    for name, curve in maps:
        yield from _below_two(name, curve)
    for name, curve in exact:
        yield from _below_two(name, curve, outside=OTHER_FIGURE)


def _borders_of_maps(tables: Tables) -> Iterator[tuple[str, pd.DataFrame]]:
    """Name and curve of r at the largest weight variance up to the border of each map.

    Cells that were drawn more often on their own take the place of those of the map.
    """
    often = ours(tables["often"])
    for heat in _maps(tables):
        up_to_border = heat.cells["sigma_w2"] <= heat.border + 1e-9
        below = required(heat.cells[up_to_border], "the border")
        variance = below["sigma_w2"].max()
        bias = below["sigma_b2"].iloc[0]
        name = f"{heat.name}, (sigma_w^2, sigma_b^2) = ({variance:g}, {bias:g})"
        yield name, _with_more_draws(_curve_at(below, variance), often)


def _exact_borders(tables: Tables) -> Iterator[tuple[str, pd.DataFrame]]:
    """Name and curve of r at the border without biases, by width; these values are exact."""
    rows = ours(tables["curves"])
    at_border = np.isclose(rows["sigma_w2"], BORDER) & (rows["sigma_b2"] == 0)
    exact = required(rows[at_border], "the border without biases")
    for width, curve in exact.groupby("width"):
        yield f"ReLU, M = {width}, (sigma_w^2, sigma_b^2) = (2, 0), exact", curve


def _with_more_draws(curve: pd.DataFrame, often: pd.DataFrame) -> pd.DataFrame:
    """A curve of a map, with the cells of ``often`` in place of its own at their depths."""
    first = curve.iloc[0]
    same = (often["activation"] == first["activation"]) & (often["width"] == first["width"])
    for name in ("sigma_b2", "sigma_w2"):
        same &= np.isclose(often[name], first[name])
    replacements = often[same]
    others = curve[~curve["depth"].isin(replacements["depth"])]
    return pd.concat([others, replacements])


def _below_two(name: str, curve: pd.DataFrame, outside: str = "") -> Iterator[Part]:
    """That r < 2, at the first depth from `FROM_DEPTH` on, and at the largest."""
    deep = required(curve[curve["depth"] >= FROM_DEPTH], f"{name}, L >= {FROM_DEPTH}")
    for depth in sorted({int(deep["depth"].min()), int(deep["depth"].max())}):
        label = f"{name}: r at L = {depth}"
        r = _r(curve, depth)
        yield r.part(label, high=2, strict=True, paper=True, outside=outside)


def band(cells: pd.DataFrame, depth: float, levels: tuple[float, float]) -> Estimate:
    """Width in sigma_w^2 of the band between two levels of r at one depth."""
    required(cells, f"a map at depth {depth:g}")
    grid = sorted(cells["sigma_w2"].unique())
    line = [_r(_curve_at(cells, variance), depth).log() for variance in grid]
    low, high = levels
    first = _crossing(grid, line, np.log(low))
    last = _crossing(grid, line, np.log(high))
    return last.minus(first)


def _crossing(grid: list[float], line: list[Estimate], level: float) -> Estimate:
    """Where a line of log r over the weight variances first rises above a level, interpolated."""
    for (x0, x1), (y0, y1) in zip(pairwise(grid), pairwise(line), strict=True):
        if y0.value < level <= y1.value:
            share = (level - y0.value) / (y1.value - y0.value)
            error = (1 - share) * y0.error + share * y1.error
            step = (x1 - x0) / (y1.value - y0.value)
            return Estimate(x0 + share * (x1 - x0), error * step)
    raise CannotDecideError(f"r does not rise above {np.exp(level):.2g} in the map")


def t04(tables: Tables) -> Iterator[Part]:
    """The band of the transition gets narrower from each width to the next."""
    maps: dict[str, dict[int, pd.DataFrame]] = {}
    for heat in _maps(tables):
        maps.setdefault(heat.activation, {})[heat.width] = heat.cells
    for ratio, levels in BANDS.items():
        for activation, by_width in maps.items():
            bands = _bands(by_width, ratio, levels)
            for narrow, wide in pairwise(bands):
                name = f"{NAMES[activation]}, L/M = {ratio:g}: {_band_name(levels)}"
                label = f"{name} at M = {narrow} - at {wide}"
                yield bands[narrow].minus(bands[wide]).part(label, **ABOVE)


def _bands(
    by_width: dict[int, pd.DataFrame], ratio: float, levels: tuple[float, float]
) -> dict[int, Estimate]:
    """Width of a map -> its band at one L / M, by rising width, of the maps that reach it."""
    bands = {}
    for width in sorted(by_width):
        cells = by_width[width]
        if cells["depth"].max() >= ratio * width:
            bands[width] = band(cells, ratio * width, levels)
    return bands


def _band_name(levels: tuple[float, float]) -> str:
    low, high = levels
    return f"band of {low:g} < r < {high:g}"


def t05(tables: Tables) -> Iterator[Part]:
    """Shallow networks have a small variance at every weight variance, deeper ones a larger one."""
    for heat in _maps(tables):
        shallow = heat.cells[heat.cells["depth"] <= SHALLOW]
        rs = estimates.estimates(shallow, "dispersion", "error")
        label = f"{heat.name}: largest r for L <= {SHALLOW}"
        yield largest(label, rs, **SMALL_IF_SHALLOW)
        curve = _curve_at(heat.cells, heat.cells["sigma_w2"].max())
        deep, _ = heat.depth_and_half
        more = _r(curve, deep).minus(_r(curve, SHALLOW))
        label = f"{heat.name}, highest sigma_w^2: r at L = {deep} - at {SHALLOW}"
        yield more.part(label, **DEEPER)


def t06(tables: Tables) -> Iterator[Part]:
    """Chaotic: r falls with M at one depth, grows exponentially with L / M, and depends on it."""
    curves = _chaotic_curves(tables)
    for narrow, wide in pairwise(curves):
        fall = _at_depth(curves[narrow]).minus(_at_depth(curves[wide]))
        yield fall.part(f"L = {FROM_DEPTH}: log r at M = {narrow} - at {wide}", **ABOVE)
    for width, curve in curves.items():
        if curve["lambda"].max() >= COLLAPSE[-1]:
            yield _faster_than_linear(width, curve)
    yield _straightness(pd.concat(curves.values()))
    yield from _collapse(curves)


def _chaotic_curves(tables: Tables) -> dict[int, pd.DataFrame]:
    """Width -> points of its chaotic curve with ``log_r`` and ``log_error``, by rising width."""
    rows = ours(tables["curves"])
    chaotic = required(rows[rows["sigma_w2"] > BORDER], "the chaotic phase")
    chaotic = chaotic.assign(
        log_r=np.log(chaotic["dispersion"]),
        log_error=chaotic["error"] / chaotic["dispersion"],
    )
    return dict(tuple(chaotic.groupby("width")))


def _faster_than_linear(width: int, curve: pd.DataFrame) -> Part:
    """The second difference of r in L / M: above 0 where r grows faster than in proportion."""
    low, middle, high = COLLAPSE
    r_low = at(curve, "lambda", low, "dispersion", "error")
    r_middle = at(curve, "lambda", middle, "dispersion", "error")
    r_high = at(curve, "lambda", high, "dispersion", "error")
    second = r_high.minus(r_middle.scaled(2).minus(r_low))
    growths = f"growth of r from L/M = {middle} to {high} - from {low} to {middle}"
    return second.part(f"M = {width}: {growths}", **ABOVE)


def _straightness(points: pd.DataFrame) -> Part:
    """R^2 of a line through log r against L / M, with the error that those of the points give.

    R^2 is 1 - U with U = |y - line|^2 / |y - mean|^2. The line and the mean minimise these sums, so
    that their own change with y does not count, and dR^2/dy = 2 (U (y - mean) - (y - line)) /
    |y - mean|^2.

    Raises:
        CannotDecideError: log r is the same everywhere, and there is no R^2.
    """
    x = points["lambda"].to_numpy(float)
    y = points["log_r"].to_numpy(float)
    errors = points["log_error"].to_numpy(float)
    residuals = y - np.polyval(np.polyfit(x, y, 1), x)
    centred = y - y.mean()
    total = float((centred**2).sum())
    if total == 0:
        raise CannotDecideError("log r is the same at every L/M")
    unexplained = float(residuals @ residuals) / total
    gradient = 2 * (unexplained * centred - residuals) / total
    r_squared = Estimate(1 - unexplained, float(np.linalg.norm(gradient * errors)))
    return r_squared.part("R^2 of log r on L/M", low=0.97, ours=WHY_STRAIGHT)


def _at_depth(curve: pd.DataFrame) -> Estimate:
    """The logarithm of r of a curve at the depth `FROM_DEPTH`."""
    return at(curve, "depth", FROM_DEPTH, "log_r", "log_error")


def _at_ratio(curve: pd.DataFrame, ratio: float) -> Estimate:
    """The logarithm of r of a curve at one L / M."""
    return at(curve, "lambda", ratio, "log_r", "log_error")


def _collapse(curves: dict[int, pd.DataFrame]) -> Iterator[Part]:
    """Two widths differ less at one L / M than at one depth, and little."""
    for ratio in COLLAPSE:
        reaching = [width for width in sorted(curves) if curves[width]["lambda"].max() >= ratio]
        if len(reaching) < 2:
            raise CannotDecideError(f"fewer than two widths reach L/M = {ratio}")
        narrow = reaching[0]
        wide = reaching[-1]
        at_ratio = _at_ratio(curves[narrow], ratio).minus(_at_ratio(curves[wide], ratio))
        at_depth = _at_depth(curves[narrow]).minus(_at_depth(curves[wide]))
        name = f"log r at M = {narrow} - at {wide}"
        late = ratio == COLLAPSE[-1]  # the planned rule had no L/M of 0.3
        label = f"L/M = {ratio}: {name}"
        yield at_ratio.part(label, low=-APART, high=APART, ours=WHY_APART, late=late)
        size_at_ratio = Estimate(abs(at_ratio.value), at_ratio.error)
        size_at_depth = Estimate(abs(at_depth.value), at_depth.error)
        label = f"{name}: size at L/M = {ratio} - at L = {FROM_DEPTH}"
        yield size_at_ratio.minus(size_at_depth).part(label, **BELOW)


def t08(tables: Tables) -> Iterator[Part]:
    """The band of the transition is wider at the largest sigma_b^2 than at the smallest."""
    for (activation, width), cells in ours(tables["cells"]).groupby(["activation", "width"]):
        biases = sorted(cells["sigma_b2"].unique())
        if len(biases) < 2:
            raise CannotDecideError("maps of one sigma_b^2 do not show what it changes")
        least = biases[0]
        most = biases[-1]
        low = cells[cells["sigma_b2"] == least]
        high = cells[cells["sigma_b2"] == most]
        name = f"{NAMES[activation]}: {_band_name(BIAS_BAND)}"
        pair = f"at sigma_b^2 = {most:g} - at {least:g}"

        first, last = (ratio * width for ratio in BIAS_DEPTHS)
        wider = _mean_band(high, first, last).minus(_mean_band(low, first, last))
        yield wider.part(f"{name}, mean over L = {first:g} to {last:g}, {pair}", **ABOVE)

        shallow = BIAS_SHALLOW * width
        wider = band(high, shallow, BIAS_BAND).minus(band(low, shallow, BIAS_BAND))
        label = f"{name}, L = {shallow:g}, {pair}"
        yield wider.part(label, low=0, strict=True, ours=WHY_SHALLOW, late=True)


def _mean_band(cells: pd.DataFrame, first: float, last: float) -> Estimate:
    """The band of a map, mean over its depths from ``first`` to ``last``."""
    depths = [depth for depth in sorted(cells["depth"].unique()) if first <= depth <= last]
    return mean([band(cells, depth, BIAS_BAND) for depth in depths])


def t09(tables: Tables) -> list[Part]:
    """The border of ReLU is the same for all sigma_b^2; that of tanh moves, and is larger at 1."""
    borders: dict[str, dict[float, float]] = {"relu": {}, "tanh": {}}
    for row in tables["borders"].itertuples():
        borders[row.activation][row.sigma_b2] = row.sigma_w2
    relu = borders["relu"]
    tanh = borders["tanh"]
    if len(relu) < 2 or 1 not in relu or 1 not in tanh:
        raise CannotDecideError("no borders of several sigma_b^2, 1 among them")
    range_of_relu = Estimate(max(relu.values()) - min(relu.values()))
    range_of_tanh = Estimate(max(tanh.values()) - min(tanh.values()))
    larger = Estimate(tanh[1] - relu[1])
    label = "largest - smallest border"
    return [
        range_of_relu.part(f"ReLU: {label}", high=1e-9, paper=True, tolerance=ROOTS),
        range_of_tanh.part(f"tanh: {label}", low=1e-9, strict=True, paper=True, tolerance=ROOTS),
        larger.part("sigma_b^2 = 1: border of tanh - of ReLU", **ABOVE),
    ]


def dispersion(tables: Tables) -> list[Ours]:
    """The limit of r at (1.5, 1) and the largest common depth, from the two largest widths."""
    rows = ours(tables["curves"])
    rows = required(rows[np.isclose(rows["sigma_w2"], 1.5)], "sigma_w^2 = 1.5")
    widths = sorted(rows["width"].unique())[-2:]
    curves = [rows[rows["width"] == width] for width in widths]
    depth = min(curve["depth"].max() for curve in curves)
    limit = estimates.in_the_limit(widths, [_r(curve, depth) for curve in curves])
    return [Ours(row="ordered", column="limit", value=limit.value, standard_error=limit.error)]


def edge_of_chaos(tables: Tables) -> list[Ours]:
    """The sigma_w of ReLU networks at which chi_1 = 1; the paper's 2 is sigma_w^2.

    Nothing if it is not the same for all sigma_b^2.
    """
    rows = tables["borders"]
    borders = rows.loc[rows["activation"] == "relu", "sigma_w2"]
    if borders.empty or np.diff(np.sort(borders)).max(initial=0) > 1e-9:
        return []
    return [Ours(row="relu", column="sigma_w", value=math.sqrt(borders.min()))]
