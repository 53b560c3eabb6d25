"""Claims of trust on the dispersion r of the NTK at initialisation: Figures 1, 2 and 7."""

import math
from collections.abc import Iterator
from itertools import groupby, pairwise, product
from operator import itemgetter

import numpy as np
import pandas as pd

from finitewidth.claims import estimates
from finitewidth.claims.estimates import ABOVE, BELOW, Estimate, at, largest, mean, required
from finitewidth.claims.ledger import Tables
from finitewidth.claims.reported import Ours
from finitewidth.claims.verdicts import CannotDecideError, Part
from finitewidth.kernels.ntk_init.phases import CHAOTIC_FROM, ORDERED_UP_TO

NAMES = {"relu": "ReLU", "tanh": "tanh"}
BORDER = 2.0  # sigma_w^2 of ReLU networks at the border
FROM_DEPTH = 20  # from which on r of ordered networks stays where it is; "deep" in Section 4
SHALLOW = 2
UP_TO = 0.2  # L / M up to which the draws tell how fast r grows in the chaotic phase
# L / M -> r at the ends of the transition. At r = 2 the standard deviation equals the mean, where
# the red zone of Figure 1 ends. Chaotic networks are above the first band at the first L / M. All
# four widths have L / M = 0.2, but there r stays below 2 in most of them.
BANDS = {0.4: (1.3, 2.0), 0.2: (1.1, 1.5)}
BIAS_BAND, BIAS_SHALLOW = (1.3, 2.0), 0.28  # r; L / M
BIAS_DEPTHS = (0.5, 0.9)  # of L / M; the draws do not suffice for deeper networks
APART = float(np.log(1.15))  # of log r: where curves of different widths still collapse
COLLAPSE = (0.1, 0.2, 0.3)  # L / M at which curves of different widths are compared

ROOTS = "the roots are found to 1e-12"
SMALL = {
    "high": 1.15,
    "ours": "the paper says small; at 1.15 the standard deviation is 39 % of the mean",
}
WHY_NO_GROWTH = "the paper says does not increase, but no estimate shows that a change is exactly 0"
WHY_POWER = "the paper says vanishes or decreases; the variance of wide networks goes as 1 / M"
WHY_STRAIGHT = "the paper says exponentially, and gives no measure of how straight log r is"
WHY_APART = "the paper says that r depends on L/M, and gives no measure of how well curves collapse"
OTHER_FIGURE = "the sentence is about Figure 1, with sigma_b^2 = 1; this is a network of Figure 2"
WHY_SHALLOW = "the paper speaks of the transition as a whole; this is where that of tanh is widest"


def ours(rows: pd.DataFrame) -> pd.DataFrame:
    """Our estimates, or exact values if there are some, without the sample of the paper's size."""
    return required(rows[rows["sample"] != "paper"], "our sample")


def _maps(tables: Tables) -> Iterator[tuple[str, float, int, pd.DataFrame]]:
    """Activation, weight variance of its border, width, and cells of its map."""
    borders = tables["borders"].set_index(["activation", "sigma_b2"])["sigma_w2"]
    groups = ours(tables["cells"]).groupby(["activation", "sigma_b2", "width"])
    for (activation, bias, width), cells in groups:
        yield activation, float(borders[activation, bias]), int(width), cells


def _r(rows: pd.DataFrame, depth: float) -> Estimate:
    return at(rows, "depth", depth, "dispersion", "error")


def _row_of(cells: pd.DataFrame, variance: float) -> pd.DataFrame:
    return cells[np.isclose(cells["sigma_w2"], variance)]


def _chaotic(cells: pd.DataFrame, border: float) -> list[float]:
    """The lowest weight variance of a map's chaotic part, and the highest."""
    variances = cells.loc[cells["sigma_w2"] >= CHAOTIC_FROM * border - 1e-9, "sigma_w2"]
    return sorted({*required(variances, "the chaotic phase").agg(["min", "max"])})


def _depth_and_half(cells: pd.DataFrame, width: int) -> tuple[int, int]:
    """The deepest L up to M / 5, and the deepest up to half of it."""
    depths = np.sort(cells["depth"].unique())
    deep = depths[depths <= UP_TO * width]
    if not len(deep) or depths[0] > deep[-1] / 2:
        raise CannotDecideError(f"no two depths up to M/5 at M = {width}")
    return int(deep[-1]), int(depths[depths <= deep[-1] / 2][-1])


def _growth(curve: pd.DataFrame, deep: int, shallow: int) -> Estimate:
    return _r(curve, deep).log().minus(_r(curve, shallow).log())


def t01(tables: Tables) -> Iterator[Part]:
    """Ordered: r small, not growing with depth, and r - 1 falls with M, as 1 / M."""
    by_width: dict[str, dict[int, pd.DataFrame]] = {}
    for activation, border, width, cells in _maps(tables):
        ordered = cells["sigma_w2"] <= ORDERED_UP_TO * border + 1e-9
        inside = required(cells[ordered], "the ordered phase")
        curve = _row_of(inside, inside["sigma_w2"].max())
        name = f"{NAMES[activation]}, M = {width}"
        rs = estimates.estimates(inside[inside["depth"] >= 3], "dispersion", "error")
        yield largest(f"{name}: largest r for L >= 3", rs, high=2, strict=True, paper=True)
        yield largest(f"{name}: largest r for L >= 3, as small", rs, **SMALL)
        growth = _r(curve, curve["depth"].max()).minus(_r(curve, FROM_DEPTH))
        label = f"{name}: r at the deepest - r at L = {FROM_DEPTH}"
        yield growth.part(label, high=0.05, ours=WHY_NO_GROWTH, late=True)
        deep, shallow = _depth_and_half(cells, width)
        chaotic = _row_of(cells, _chaotic(cells, border)[0])
        less = _growth(curve, deep, shallow).minus(_growth(chaotic, deep, shallow))
        label = f"{name}: growth of log r from L = {shallow} to {deep}, ordered - chaotic"
        yield less.part(label, **BELOW)
        name = f"{NAMES[activation]}, sigma_w^2 = {curve['sigma_w2'].iloc[0]:.4g}, Figure 1"
        by_width.setdefault(name, {})[width] = curve
    rows = ours(tables["curves"])
    ordered = required(rows[rows["sigma_w2"] < BORDER], "the ordered phase of Figure 2")
    for (variance, _, width), curve in ordered.groupby(["sigma_w2", "sigma_b2", "width"]):
        name = f"ReLU, sigma_w^2 = {variance:g}, Figure 2"
        by_width.setdefault(name, {})[int(width)] = curve
    # r - 1 falls with M at L = 20 and at the largest depth that all widths have
    for name, curves in by_width.items():
        widths = sorted(curves)
        if len(widths) < 2:
            raise CannotDecideError("networks of one width do not show how r falls with it")
        deepest = min(int(curve["depth"].max()) for curve in curves.values())
        for depth in sorted({FROM_DEPTH, deepest}):
            away = [_r(curves[width], depth).shifted(-1) for width in widths]
            power = estimates.power_of(widths, away)
            label = f"{name}: power of M with which r - 1 changes at L = {depth}"
            yield power.part(label, **BELOW)
            if depth == FROM_DEPTH:
                label += ", as 1/M"
                yield power.part(label, low=-1.2, high=-0.8, ours=WHY_POWER, late=True)


def t02(tables: Tables) -> Iterator[Part]:
    """Chaotic: r grows with depth."""
    for activation, border, width, cells in _maps(tables):
        deep, shallow = _depth_and_half(cells, width)
        for variance in _chaotic(cells, border):
            growth = _growth(_row_of(cells, variance), deep, shallow)
            name = f"{NAMES[activation]}, M = {width}, sigma_w^2 = {variance:g}"
            yield growth.part(f"{name}: log r at L = {deep} - at {shallow}", **ABOVE)


def t03(tables: Tables) -> Iterator[Part]:
    """Border: the standard deviation is below the mean, r < 2; estimates, and exact values.

    Cells that were drawn more often on their own take the place of those of the map.
    """
    curves: dict[str, pd.DataFrame] = {}
    outside: dict[str, str] = {}
    often = ours(tables["often"])
    for activation, border, width, cells in _maps(tables):
        below = required(cells[cells["sigma_w2"] <= border + 1e-9], "the border")
        variance = below["sigma_w2"].max()
        name = f"{NAMES[activation]}, M = {width}, (sigma_w^2, sigma_b^2) = ({variance:g}, "
        row = _row_of(below, variance)
        same = (often["activation"] == activation) & (often["width"] == width)
        for key in ("sigma_b2", "sigma_w2"):
            same &= np.isclose(often[key], row[key].iloc[0])
        drawn_often = often[same]
        rest = row[~row["depth"].isin(drawn_often["depth"])]
        curves[f"{name}{below['sigma_b2'].iloc[0]:g})"] = pd.concat([rest, drawn_often])
    rows = ours(tables["curves"])
    exact = rows[np.isclose(rows["sigma_w2"], BORDER) & (rows["sigma_b2"] == 0)]
    for width, curve in required(exact, "the border without biases").groupby("width"):
        name = f"ReLU, M = {width}, (sigma_w^2, sigma_b^2) = (2, 0), exact"
        curves[name] = curve
        outside[name] = OTHER_FIGURE
    for name, curve in curves.items():
        deep = required(curve[curve["depth"] >= FROM_DEPTH], f"{name}, L >= {FROM_DEPTH}")["depth"]
        for depth in sorted({int(deep.min()), int(deep.max())}):
            label = f"{name}: r at L = {depth}"
            limits = {"high": 2, "strict": True, "paper": True, "outside": outside.get(name, "")}
            yield _r(curve, depth).part(label, **limits)


def band(cells: pd.DataFrame, depth: float, levels: tuple[float, float]) -> Estimate:
    """Width in sigma_w^2 of the band between two levels of r at one depth."""
    required(cells, f"a map at depth {depth:g}")
    grid = sorted(cells["sigma_w2"].unique())
    line = [_r(_row_of(cells, variance), depth).log() for variance in grid]
    ends = [_crossing(grid, line, np.log(level)) for level in levels]
    return ends[1].minus(ends[0])


def _crossing(grid: list[float], line: list[Estimate], level: float) -> Estimate:
    for (x0, x1), (y0, y1) in zip(pairwise(grid), pairwise(line), strict=True):
        if y0.value < level <= y1.value:
            share = (level - y0.value) / (y1.value - y0.value)
            error = (1 - share) * y0.error + share * y1.error
            step = (x1 - x0) / (y1.value - y0.value)
            return Estimate(x0 + share * (x1 - x0), error * step)
    raise CannotDecideError(f"r does not rise above {np.exp(level):.2g} in the map")


def t04(tables: Tables) -> Iterator[Part]:
    """The band of the transition gets narrower from each width to the next."""
    maps = {name: list(group) for name, group in groupby(_maps(tables), itemgetter(0))}
    for (ratio, levels), (activation, group) in product(BANDS.items(), maps.items()):
        bands = {
            width: band(cells, ratio * width, levels)
            for _, _, width, cells in group
            if cells["depth"].max() >= ratio * width
        }
        for narrow, wide in pairwise(sorted(bands)):
            name = f"{NAMES[activation]}, L/M = {ratio:g}: {_band_name(levels)} at M = {narrow}"
            yield bands[narrow].minus(bands[wide]).part(f"{name} - at {wide}", **ABOVE)


def _band_name(levels: tuple[float, float]) -> str:
    return f"band of {levels[0]:g} < r < {levels[1]:g}"


def t05(tables: Tables) -> Iterator[Part]:
    """Shallow networks have a small variance at every weight variance, deeper ones a larger one."""
    for activation, _, width, cells in _maps(tables):
        name = f"{NAMES[activation]}, M = {width}"
        shallow = cells[cells["depth"] <= SHALLOW]
        rs = estimates.estimates(shallow, "dispersion", "error")
        label = f"{name}: largest r for L <= {SHALLOW}"
        yield largest(label, rs, late=True, **SMALL)
        curve = _row_of(cells, cells["sigma_w2"].max())
        deep, _ = _depth_and_half(cells, width)
        more = _r(curve, deep).minus(_r(curve, SHALLOW))
        label = f"{name}, highest sigma_w^2: r at L = {deep} - at {SHALLOW}"
        yield more.part(label, cut="the paper says sufficiently shallow; L = 2 is ours", **ABOVE)


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
    return at(curve, "depth", FROM_DEPTH, "log_r", "log_error")


def _collapse(curves: dict[int, pd.DataFrame]) -> Iterator[Part]:
    """Two widths differ less at one L / M than at one depth, and little."""
    for ratio in COLLAPSE:
        reaching = [width for width in sorted(curves) if curves[width]["lambda"].max() >= ratio]
        if len(reaching) < 2:
            raise CannotDecideError(f"fewer than two widths reach L/M = {ratio}")
        narrow, wide = reaching[0], reaching[-1]
        log_r_narrow = at(curves[narrow], "lambda", ratio, "log_r", "log_error")
        log_r_wide = at(curves[wide], "lambda", ratio, "log_r", "log_error")
        apart = log_r_narrow.minus(log_r_wide)
        name = f"log r at M = {narrow} - at {wide}"
        late = ratio == COLLAPSE[-1]  # the planned rule had no L/M of 0.3
        label = f"L/M = {ratio}: {name}"
        yield apart.part(label, low=-APART, high=APART, ours=WHY_APART, late=late)
        at_depth = _at_depth(curves[narrow]).minus(_at_depth(curves[wide]))
        size_at_ratio = Estimate(abs(apart.value), apart.error)
        size_at_depth = Estimate(abs(at_depth.value), at_depth.error)
        label = f"{name}: size at L/M = {ratio} - at L = {FROM_DEPTH}"
        yield size_at_ratio.minus(size_at_depth).part(label, **BELOW)


def t08(tables: Tables) -> Iterator[Part]:
    """The band of the transition is wider at the largest sigma_b^2 than at the smallest."""
    for (activation, width), cells in ours(tables["cells"]).groupby(["activation", "width"]):
        biases, depths = (sorted(cells[name].unique()) for name in ("sigma_b2", "depth"))
        if len(biases) < 2:
            raise CannotDecideError("maps of one sigma_b^2 do not show what it changes")
        low, high = (cells[cells["sigma_b2"] == bias] for bias in (biases[0], biases[-1]))
        first, last = (share * width for share in BIAS_DEPTHS)
        deep = [depth for depth in depths if first <= depth <= last]
        bias = f"at sigma_b^2 = {biases[-1]:g} - at {biases[0]:g}"
        means = [mean([band(rows, depth, BIAS_BAND) for depth in deep]) for rows in (low, high)]
        wider = means[1].minus(means[0])
        name = f"{NAMES[activation]}: {_band_name(BIAS_BAND)}"
        yield wider.part(f"{name}, mean over L = {first:g} to {last:g}, {bias}", **ABOVE)
        shallow = BIAS_SHALLOW * width
        wider = band(high, shallow, BIAS_BAND).minus(band(low, shallow, BIAS_BAND))
        label = f"{name}, L = {shallow:g}, {bias}"
        yield wider.part(label, low=0, strict=True, ours=WHY_SHALLOW, late=True)


def t09(tables: Tables) -> list[Part]:
    """The border of ReLU is the same for all sigma_b^2; that of tanh moves, and is larger at 1."""
    lines = tables["borders"].set_index("sigma_b2").groupby("activation")["sigma_w2"]
    borders = {activation: line.to_dict() for activation, line in lines}
    relu, tanh = borders.get("relu", {}), borders.get("tanh", {})
    if len(relu) < 2 or 1 not in relu or 1 not in tanh:
        raise CannotDecideError("no borders of several sigma_b^2, 1 among them")
    one, other = (Estimate(max(line.values()) - min(line.values())) for line in (relu, tanh))
    label, whose = "largest - smallest border", {"paper": True, "tolerance": ROOTS}
    larger = Estimate(tanh[1] - relu[1])
    return [
        one.part(f"ReLU: {label}", high=1e-9, **whose),
        other.part(f"tanh: {label}", low=1e-9, strict=True, **whose),
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
    """The sigma_w of ReLU networks at which chi_1 = 1; the paper's 2 is sigma_w^2."""
    rows = tables["borders"]
    borders = sorted(rows.loc[rows["activation"] == "relu", "sigma_w2"].unique())
    if not borders or any(after - before > 1e-9 for before, after in pairwise(borders)):
        return []
    return [Ours(row="relu", column="sigma_w", value=math.sqrt(borders[0]))]
