"""Claims of trust on the dispersion r of the NTK at initialisation: Figures 1, 2 and 7."""

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from finitewidth.claims.judges.estimates import (
    Estimate,
    at,
    estimates,
    largest,
    power_of,
    required,
)
from finitewidth.claims.ledger import Tables
from finitewidth.claims.verdicts import CannotDecideError, Part

if TYPE_CHECKING:
    import pandas as pd

NAMES = {"relu": "ReLU", "tanh": "tanh"}
ORDERED, CHAOTIC = 0.75, 1.25  # of the border's weight variance
FROM_DEPTH = 20
BAND = (1.3, 3.0)  # of r: the transition between the phases
BAND_LAMBDA = 0.4  # L / M at which the band is measured; chaotic networks are above it there
APART = float(np.log(1.15))  # of log r: where curves of different widths still collapse
COLLAPSE = (0.1, 0.2, 0.3)  # L / M at which curves of different widths are compared


def ours(rows: "pd.DataFrame") -> "pd.DataFrame":
    """Our estimates, or exact values if there are some, without the sample of the paper's size."""
    return required(rows[rows["sample"] != "paper"], "our sample")


def _maps(tables: Tables) -> Iterator[tuple[str, float, int, "pd.DataFrame"]]:
    """Activation, weight variance of its border, width, and cells of its map."""
    borders = tables["borders"].set_index(["activation", "sigma_b2"])["sigma_w2"]
    groups = ours(tables["cells"]).groupby(["activation", "sigma_b2", "width"])
    for (activation, bias, width), cells in groups:
        yield activation, float(borders[activation, bias]), int(width), cells


def _r(rows: "pd.DataFrame", depth: float) -> Estimate:
    return at(rows, "depth", depth, "dispersion", "error")


def _row_of(cells: "pd.DataFrame", variance: float) -> "pd.DataFrame":
    return cells[np.isclose(cells["sigma_w2"], variance)]


def _deepest_ordered(cells: "pd.DataFrame", border: float) -> "pd.DataFrame":
    """The curve of the largest weight variance of the map's ordered part."""
    inside = required(cells[cells["sigma_w2"] <= ORDERED * border + 1e-9], "the ordered phase")
    return _row_of(inside, inside["sigma_w2"].max())


def t01(tables: Tables) -> list[Part]:
    """Ordered: r small, not growing with depth, and r - 1 falls as 1 / M."""
    parts: list[Part] = []
    by_width: dict[str, dict[int, Estimate]] = {}
    for activation, border, width, cells in _maps(tables):
        name = f"{NAMES[activation]}, M = {width}"
        curve = _deepest_ordered(cells, border)
        inside = cells[(cells["sigma_w2"] <= ORDERED * border + 1e-9) & (cells["depth"] >= 3)]
        found = estimates(inside, "dispersion", "error")
        parts.append(largest(f"{name}: largest r for L >= 3", found, high=1.15))
        growth = _r(curve, curve["depth"].max()).minus(_r(curve, FROM_DEPTH))
        parts.append(growth.part(f"{name}: r at the deepest - r at L = 20", high=0.05))
        by_width.setdefault(activation, {})[width] = _r(curve, FROM_DEPTH).shifted(-1)
    for activation, found in by_width.items():
        widths = sorted(found)
        if len(widths) < 2:
            raise CannotDecideError("maps of one width do not show how r falls with it")
        power = power_of(widths, [found[width] for width in widths])
        label = f"{NAMES[activation]}: power of M with which r - 1 changes at L = 20"
        parts.append(power.part(label, low=-1.2, high=-0.8))
    return parts


def t02(tables: Tables) -> list[Part]:
    """Chaotic: r grows with depth."""
    parts = []
    for activation, border, width, cells in _maps(tables):
        outside = required(cells[cells["sigma_w2"] >= CHAOTIC * border - 1e-9], "the chaotic phase")
        depths = np.sort(cells["depth"].unique())
        deep = depths[depths <= width / 2]
        if not len(deep) or depths[0] > deep[-1] / 2:
            raise CannotDecideError(f"no two depths up to M/2 at M = {width}")
        shallow = depths[depths <= deep[-1] / 2][-1]
        for variance in sorted({outside["sigma_w2"].min(), outside["sigma_w2"].max()}):
            curve = _row_of(outside, variance)
            growth = _r(curve, deep[-1]).log().minus(_r(curve, shallow).log())
            name = f"{NAMES[activation]}, M = {width}, sigma_w^2 = {variance:g}"
            parts.append(growth.part(f"{name}: log r at L = {deep[-1]} - at {shallow}", low=0))
    return parts


def t03(tables: Tables) -> list[Part]:
    """Border: the standard deviation is below the mean, r < 2."""
    parts = []
    for activation, border, width, cells in _maps(tables):
        below = required(cells[cells["sigma_w2"] <= border + 1e-9], "the border")
        variance, depth = below["sigma_w2"].max(), below["depth"].max()
        name = f"{NAMES[activation]}, M = {width}, sigma_w^2 = {variance:g}, L = {depth}"
        parts.append(_r(_row_of(below, variance), depth).part(f"{name}: r", high=2))
    return parts


def band(cells: "pd.DataFrame", depth: float) -> Estimate:
    """Width in sigma_w^2 of the band of r at one depth.

    Raises:
        CannotDecideError: the map does not reach across the band, or not to the depth.
    """
    required(cells, f"a map at depth {depth:g}")
    grid = sorted(cells["sigma_w2"].unique())
    line = [_r(_row_of(cells, variance), depth).log() for variance in grid]
    ends = [_crossing(grid, line, np.log(level)) for level in BAND]
    return ends[1].minus(ends[0])


def _crossing(grid: list[float], line: list[Estimate], level: float) -> Estimate:
    """Place where a line first rises above a level."""
    for (x0, x1), (y0, y1) in zip(pairwise(grid), pairwise(line), strict=True):
        if y0.value < level <= y1.value:
            share = (level - y0.value) / (y1.value - y0.value)
            error = (1 - share) * y0.error + share * y1.error
            step = (x1 - x0) / (y1.value - y0.value)
            return Estimate(x0 + share * (x1 - x0), error * step)
    raise CannotDecideError(f"r does not rise above {np.exp(level):.2g} in the map")


def t04(tables: Tables) -> list[Part]:
    """The band of the transition gets narrower from each width to the next."""
    found: dict[str, dict[int, Estimate]] = {}
    for activation, _, width, cells in _maps(tables):
        if cells["depth"].max() >= BAND_LAMBDA * width:
            found.setdefault(activation, {})[width] = band(cells, BAND_LAMBDA * width)
    parts = []
    for activation, bands in found.items():
        widths = sorted(bands)
        for narrow, wide in pairwise(widths):
            name = f"{NAMES[activation]}: band at M = {narrow} - at {wide}"
            parts.append(bands[narrow].minus(bands[wide]).part(name, low=0))
    return parts


def t05(tables: Tables) -> list[Part]:
    """Shallow networks have a small variance at every weight variance."""
    parts = []
    for activation, _, width, cells in _maps(tables):
        if width >= 100:
            found = estimates(cells[cells["depth"] <= 2], "dispersion", "error")
            name = f"{NAMES[activation]}, M = {width}: largest r for L <= 2"
            parts.append(largest(name, found, high=1.3))
    return parts


def _chaotic_curves(tables: Tables) -> dict[int, "pd.DataFrame"]:
    """Width -> curve of log r in the chaotic phase of ReLU networks (sigma_w^2 > 2)."""
    rows = ours(tables["curves"])
    rows = required(rows[rows["sigma_w2"] > 2], "the chaotic phase")
    logs = {"log_r": np.log(rows["dispersion"]), "log_error": rows["error"] / rows["dispersion"]}
    return dict(tuple(rows.assign(**logs).groupby("width")))


def t06(tables: Tables) -> list[Part]:
    """Chaotic: r falls with M at one depth; log r is linear in L / M, the same for all widths."""
    curves = _chaotic_curves(tables)
    widths, parts = sorted(curves), []
    for narrow, wide in pairwise(widths):
        first, second = (at(curves[w], "depth", FROM_DEPTH, "log_r", "log_error")
                         for w in (narrow, wide))  # fmt: skip
        parts.append(first.minus(second).part(f"L = 20: log r at M = {narrow} - at {wide}", low=0))
    import pandas as pd

    parts.append(_straightness(pd.concat(curves.values())))
    for ratio in COLLAPSE:
        reaching = [w for w in widths if curves[w]["lambda"].max() >= ratio]
        if len(reaching) < 2:
            raise CannotDecideError(f"fewer than two widths reach L/M = {ratio}")
        narrow, wide = reaching[0], reaching[-1]
        first, second = (at(curves[w], "lambda", ratio, "log_r", "log_error")
                         for w in (narrow, wide))  # fmt: skip
        name = f"L/M = {ratio}: log r at M = {narrow} - at {wide}"
        parts.append(first.minus(second).part(name, low=-APART, high=APART))
    return parts


def _straightness(rows: "pd.DataFrame") -> Part:
    """R^2 of a line through log r against L / M; its error is from the errors of the points."""
    x, y, errors = (rows[name].to_numpy(float) for name in ("lambda", "log_r", "log_error"))
    left = y - np.polyval(np.polyfit(x, y, 1), x)
    total, centred = float(((y - y.mean()) ** 2).sum()), y - y.mean()
    if total == 0:
        raise CannotDecideError("log r is the same at every L/M")
    unexplained = float(left @ left) / total
    gradient = 2 * (unexplained * centred - left) / total
    error = float(np.linalg.norm(gradient * errors))
    return Estimate(1 - unexplained, error).part("R^2 of log r on L/M", low=0.97)


def t08(tables: Tables) -> list[Part]:
    """The band of the transition widens with sigma_b^2."""
    parts = []
    for (activation, width), cells in ours(tables["cells"]).groupby(["activation", "width"]):
        depth, biases = BAND_LAMBDA * width, sorted(cells["sigma_b2"].unique())
        bands = [band(cells[cells["sigma_b2"] == bias], depth) for bias in biases]
        for place in range(1, len(biases)):
            name = f"{NAMES[activation]}: band at sigma_b^2 = {biases[place]:g} - at "
            wider = bands[place].minus(bands[place - 1])
            parts.append(wider.part(f"{name}{biases[place - 1]:g}", low=0))
    return parts


def t09(tables: Tables) -> list[Part]:
    """The border of ReLU is 2 for every sigma_b^2; that of tanh moves and is above 2 at 1."""
    lines = tables["borders"].set_index("sigma_b2").groupby("activation")["sigma_w2"]
    found = {activation: line.to_dict() for activation, line in lines}
    if len(found.get("relu", {})) < 2 or 1 not in found.get("tanh", {}):
        raise CannotDecideError("no borders of several sigma_b^2, 1 among them")
    relu = [Estimate(value) for value in found["relu"].values()]
    tanh = found["tanh"]
    moved = Estimate(max(tanh.values()) - min(tanh.values()))
    return [
        largest("ReLU: largest border", relu, high=2 + 1e-9),
        Estimate(min(relu).value).part("ReLU: smallest border", low=2 - 1e-9),
        moved.part("tanh: largest - smallest border", low=0.01),
        Estimate(tanh[1]).part("tanh, sigma_b^2 = 1: border", low=2, strict=True),
    ]
