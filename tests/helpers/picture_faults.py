"""What is wrong with a drawn figure: sizes, fonts, contrast, colours, clipped curves, legends.

`faults` looks at the artists of a figure, not at its pixels. All thresholds are ours: they follow
the usual demands of journals (text of 6.5 points) and of WCAG 2.2 (contrast 3:1 of lines and marks,
4.5:1 of text).
"""

import re
from collections.abc import Iterator
from itertools import combinations

import matplotlib.colors as colours
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection, QuadMesh
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.mathtext import MathTextParser
from matplotlib.text import Text

from finitewidth.figures import style

LINES, TEXTS = 3.0, 4.5  # contrast with the background
SCRIPT = 5.2  # points
APART = 9.0  # CIEDE2000 between series that differ in nothing but colour
NOTHING = ("none", "None", "", " ", None)
# Machado, Oliveira and Fernandes (2009), severity 1, for linear RGB
DEFICIENT = {
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
}
XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)


def faults(figure: Figure) -> list[str]:
    """Describe all that is wrong with a figure; empty if nothing is."""
    figure.draw_without_rendering()
    found = [*size(figure), *texts(figure), *scripts(figure), *letters(figure), *overlaps(figure)]
    for axis in figure.axes:
        for check in (contrast, clipped, bars, labels):
            found += [f"{_name(axis)}: {fault}" for fault in check(axis)]
    return [*found, *legends(figure), *apart(figure)]


def _name(axis: Axes) -> str:
    return axis.get_title(loc="left") or axis.get_title() or axis.get_ylabel() or "a panel"


def size(figure: Figure) -> Iterator[str]:
    """The figure has the width of a column or of a page."""
    width, height = figure.get_size_inches()
    if not any(np.isclose(width, w) for w in (style.SINGLE, style.DOUBLE)):
        yield f"width {width:g} inches"
    if height > style.TALLEST:
        yield f"height {height:g} inches"


def texts(figure: Figure) -> Iterator[str]:
    """All text is large enough and dark enough, and lies within the picture."""
    box = figure.bbox
    hidden = _hidden(figure)
    for text in figure.findobj(Text):
        words = text.get_text().strip()
        if not words or not text.get_visible() or id(text) in hidden or not _shown(text):
            continue
        if text.get_fontsize() < style.SMALLEST - 1e-6:
            yield f"text {words!r} of {text.get_fontsize():g} points"
        extent = text.get_window_extent()
        slack = 1.5
        if (
            extent.x0 < -slack
            or extent.y0 < -slack
            or extent.x1 > box.width + slack
            or extent.y1 > box.height + slack
        ):
            yield f"text {words!r} leaves the picture"
        on_picture = text.axes is not None and _picture(text.axes)
        if not on_picture and not text.get_path_effects() and ratio(text.get_color()) < TEXTS:
            yield f"text {words!r} has contrast {ratio(text.get_color()):.1f}"


def scripts(figure: Figure) -> Iterator[str]:
    """Indices and powers in formulas that are too small to be read in print."""
    parser = MathTextParser("path")
    for text in figure.findobj(Text):
        words = text.get_text()
        if text.get_visible() and words.count("$") > 1:
            for line in words.splitlines():
                glyphs = parser.parse(line, 72, text.get_fontproperties()).glyphs
                least = min((size for _, size, *_ in glyphs), default=SCRIPT)
                if least < SCRIPT - 1e-6:
                    yield f"index of {least:.2g} points in {words!r}"


def _hidden(figure: Figure) -> set[int]:
    """Identities of all labels of ticks that are not drawn."""
    found = set()
    for axis in figure.axes:
        for ruler in (axis.xaxis, axis.yaxis):
            seen = ruler._update_ticks() if axis.get_visible() and axis.axison else []
            for tick in (*ruler.get_major_ticks(), *ruler.get_minor_ticks()):
                if not any(tick is one for one in seen):
                    found |= {id(tick.label1), id(tick.label2)}
    return found


def _shown(text: Text) -> bool:
    """Whether the axes of a text show it."""
    axis = text.axes
    if axis is None or axis.axison:
        return axis is None or axis.get_visible()
    titles = (axis.title, axis._left_title, axis._right_title)
    return axis.get_visible() and any(text is one for one in (*axis.texts, *titles))


def _picture(axis: Axes) -> bool:
    """Whether axes have colours behind their lines: a map or an image."""
    return bool(axis.images) or any(isinstance(c, QuadMesh) for c in axis.collections)


def _panels(figure: Figure) -> list[Axes]:
    """The axes that are panels: not scales of colours, not empty, not hidden."""
    return [
        a for a in figure.axes if a.get_visible() and not hasattr(a, "_colorbar") and a.has_data()
    ]


def letters(figure: Figure) -> Iterator[str]:
    """Several panels have letters, one each and in order."""
    # an inset without a letter lies within a panel
    panels = [a for a in _panels(figure) if a.get_label() != "inset"]
    if len(panels) < 2:
        return
    found = []
    for axis in panels:
        first = re.match(r"\$\\mathbf\{(\w+)\}\$", axis.get_title(loc="left"))
        if first is None:
            yield f"a panel has no letter (title {axis.get_title(loc='left')!r})"
        else:
            found.append(first[1])
    expected = style._letters(len(found))
    if sorted(found, key=lambda f: (len(f), f)) != expected:
        yield f"the panels' letters are {found}"


def overlaps(figure: Figure) -> Iterator[str]:
    """The mark of stand-ins, legends and panels do not cover one another."""
    panels = [(f"panel {_name(a)}", a.get_tightbbox()) for a in figure.axes if a.get_visible()]
    panels = [(name, box) for name, box in panels if box is not None]
    legends = [("a legend of the figure", each.get_window_extent()) for each in figure.legends]
    above = [("a legend", box, panels) for _, box in legends]
    mark = figure._supxlabel
    if mark is not None and mark.get_text():
        above.append(("the mark of stand-ins", mark.get_window_extent(), panels + legends))
    for what, place, below in above:
        for name, box in below:
            if _shared(place, box) > 1:
                yield f"{what} covers {name}"


def _shared(one, other) -> float:
    """Height in pixels of the part that two boxes share; 0 if they do not meet."""
    wide = min(one.x1, other.x1) - max(one.x0, other.x0)
    high = min(one.y1, other.y1) - max(one.y0, other.y0)
    return float(min(wide, high)) if wide > 0 and high > 0 else 0.0


def contrast(axis: Axes) -> Iterator[str]:
    """Lines and marks stand out from what is behind them."""
    behind = _picture(axis)
    for line in axis.lines:
        if not _drawn(line):
            continue
        if behind and not line.get_path_effects():
            yield f"line {line.get_label()!r} on a map has no stroke of another colour"
        elif not behind:
            seen = [ratio(c) for c in _colours(line)]
            if seen and max(seen) < LINES:
                yield f"line {line.get_label()!r} has contrast {max(seen):.1f}"
    for points in axis.collections:
        if not isinstance(points, PathCollection | LineCollection) or behind:
            continue
        alpha = points.get_alpha()
        if alpha is not None and alpha < 1 and len(points.get_offsets()) > 50:
            continue  # a cloud is seen as a whole
        edges = points.get_edgecolor()
        faces = points.get_facecolor()
        for k in range(max(len(edges), len(faces))):
            pair = [c[k % len(c)] for c in (edges, faces) if len(c)]
            if max(ratio(c) for c in pair) < LINES:
                yield f"marks {points.get_label()!r} have contrast {max(map(ratio, pair)):.1f}"
                break


def _drawn(line: Line2D) -> bool:
    return line.get_visible() and len(line.get_xdata()) > 0 and bool(_colours(line))


def _colours(line: Line2D) -> list:
    """The colours with which a line and its marks are drawn."""
    found = []
    if line.get_linestyle() not in NOTHING and line.get_linewidth() > 0:
        found.append(line.get_color())
    if line.get_marker() not in NOTHING:
        found += [line.get_markeredgecolor(), line.get_markerfacecolor()]
    return [_with(c, line.get_alpha()) for c in found if not isinstance(c, str) or c not in NOTHING]


def _with(colour, alpha) -> tuple:
    rgba = colours.to_rgba(colour)
    return rgba if alpha is None else (*rgba[:3], rgba[3] * alpha)


def clipped(axis: Axes) -> Iterator[str]:
    """No curve leaves the axes without a mark where it does."""
    left, right = sorted(axis.get_xlim())
    low, high = sorted(axis.get_ylim())
    for line in axis.lines:
        if line.get_gid() == style.CLIPPED or line.get_marker() in style.CAPS:
            continue
        if line.get_transform() != axis.transData:
            if _level_outside(axis, line):
                yield f"line {line.get_label()!r} lies outside the axes"
            continue
        x, y = (np.asarray(v, dtype=float) for v in line.get_data())
        to = axis.transData.transform
        with np.errstate(all="ignore"):
            places = to(np.column_stack([x, y]))
        box = to([[left, low], [right, high]])
        finite = np.isfinite(places).all(axis=1)
        # zero has no place on a logarithmic axis
        finite &= (x > 0) | (axis.get_xscale() != "log")
        finite &= (y > 0) | (axis.get_yscale() != "log")
        over = (places < box.min(axis=0) - 3) | (places > box.max(axis=0) + 3)
        if (finite & over.any(axis=1)).any():
            yield f"line {line.get_label()!r} leaves the axes"


def _level_outside(axis: Axes, line: Line2D) -> bool:
    """Whether a horizontal or vertical line over the whole axes lies beyond their limits."""
    x, y = (np.asarray(v, dtype=float) for v in line.get_data())
    for transform, values, limits in (
        (axis.get_yaxis_transform(which="grid"), y, axis.get_ylim()),
        (axis.get_xaxis_transform(which="grid"), x, axis.get_xlim()),
    ):
        if line.get_transform() == transform and len(set(values)) == 1:
            low, high = sorted(limits)
            return not low <= values[0] <= high
    return False


def bars(axis: Axes) -> Iterator[str]:
    """A curve that has error bars has one at its first and at its last point.

    A missing bar is a fault if its neighbours have one; the data file says whether it is known.
    """
    for container in axis.containers:
        if not isinstance(container, ErrorbarContainer) or not container.has_yerr:
            continue
        line, _, segments = container
        if line is None or not segments:
            continue
        x = np.asarray(line.get_xdata(), dtype=float)
        y = np.asarray(line.get_ydata(), dtype=float)
        x = x[np.isfinite(y)]
        ends = np.concatenate(
            [s for c in segments for s in c.get_segments() if len(s)] or [np.zeros((0, 2))]
        )
        if not len(x) or not len(ends):
            continue
        with_bar = ends[np.isfinite(ends).all(axis=1), 0]
        for name, place in (("first", x[0]), ("last", x[-1])):
            if not np.isclose(with_bar, place).any():
                yield f"curve {container.get_label()!r} has no error bar at its {name} point"


def labels(axis: Axes) -> Iterator[str]:
    """A panel with numbers along an axis says what they are, there or on a panel that shares it."""
    if not axis.axison or not axis.has_data() or hasattr(axis, "_colorbar"):
        return
    for name, ruler in (("x", axis.xaxis), ("y", axis.yaxis)):
        ticks = [t.get_text() for t in ruler.get_ticklabels() if t.get_visible()]
        # not the one below all panels: the mark of stand-ins is written there
        common = axis.figure._supylabel if name == "y" else None
        siblings = getattr(axis, f"get_shared_{name}_axes")().get_siblings(axis)  # and itself
        said = any(getattr(s, f"{name}axis").get_label_text() for s in siblings)
        said = said or (common is not None and common.get_text())
        if any(ticks) and not said and not _same_ruler(axis, name):
            yield f"the {name} axis has no label"


def _same_ruler(axis: Axes, name: str) -> bool:
    """Whether another panel of the same row or column has the label."""
    box = axis.get_position()
    for other in axis.figure.axes:
        place = other.get_position()
        same = abs(place.y0 - box.y0) < 0.03 if name == "y" else abs(place.x0 - box.x0) < 0.03
        if other is not axis and same and getattr(other, f"{name}axis").get_label_text():
            return True
    return False


def legends(figure: Figure) -> Iterator[str]:
    """What a legend shows, some axes draw."""
    drawn = set()
    for axis in figure.axes:
        for line in axis.lines:
            if _drawn(line):
                drawn.add(_look(line))
    filled = []
    for axis in figure.axes:
        filled.extend((*axis.collections, *axis.patches))
    for legend in _legends(figure):
        for handle, text in zip(legend.legend_handles, legend.get_texts(), strict=False):
            if not isinstance(handle, Line2D) or not _colours(handle):
                continue
            words = text.get_text()
            if any(_covers(look, _look(handle)) for look in drawn):
                continue
            if filled and handle.get_linestyle() in NOTHING and _among(handle, filled):
                continue
            yield f"the legend's {words!r} is drawn nowhere with this look"


def _legends(figure: Figure) -> list:
    return [*figure.legends, *(a.get_legend() for a in figure.axes if a.get_legend() is not None)]


def _look(line: Line2D) -> tuple:
    """Colour, kind of line and mark; a mark's own colours count for nothing without a mark."""
    dashed = line.get_linestyle() if line.get_linewidth() > 0 else "None"
    dashes = getattr(line, "_unscaled_dash_pattern", None)
    kind = "None" if dashed in NOTHING else (dashed, str(dashes[1] if dashes else None))
    mark = "None" if line.get_marker() in NOTHING else str(line.get_marker())
    colour = colours.to_hex(_colours(line)[0])
    return colour, str(kind), mark


def _covers(look: tuple, handle: tuple) -> bool:
    """Whether a drawn artist explains a handle.

    Handles of one property (a kind of line in neutral grey, a mark in neutral grey) are explained
    by any artist with that property.
    """
    same_colour = look[0] == handle[0] or _saturation(handle[0]) < 0.02
    plain = handle[2] == "None" and "'-'" in handle[1]  # a colour, shown as a plain line
    same_line = look[1] == handle[1] or handle[1] == "None" or plain
    same_mark = look[2] == handle[2] or (handle[2] == "None")
    return same_colour and same_line and same_mark


def _among(handle: Line2D, collections: list) -> bool:
    """Whether a scatter plot has marks of the handle's colour."""
    of_handle = {colours.to_hex(c) for c in _colours(handle)}
    for collection in collections:
        both = (collection.get_facecolor(), collection.get_edgecolor())
        rgba = []
        for each in both:
            rgba.extend(np.atleast_2d(each))
        if of_handle & {colours.to_hex(c) for c in rgba if len(c)}:
            return True
    return max(map(_saturation, of_handle)) < 0.02  # a neutral handle stands for a mark


def _saturation(colour: str) -> float:
    rgb = colours.to_rgb(colour)
    return max(rgb) - min(rgb)


def apart(figure: Figure) -> Iterator[str]:
    """Series of a legend that differ in nothing but colour can be told apart by everybody.

    Ordered scales (five or more shades whose lightness rises from entry to entry) are left out: a
    reader follows their order.
    """
    for legend in _legends(figure):
        groups: dict[tuple, list] = {}
        for handle, text in zip(legend.legend_handles, legend.get_texts(), strict=False):
            if isinstance(handle, Line2D) and _colours(handle):
                series = _colours(handle)[0], text.get_text()
                groups.setdefault(_look(handle)[1:], []).append(series)
        for same in groups.values():
            steps = np.diff([_lab(colour)[0] for colour, _ in same])
            if len(same) >= 4 and ((steps > 2).all() or (steps < -2).all()):
                continue
            for (one, name), (other, second) in combinations(same, 2):
                near = min(difference(one, other, eye) for eye in (None, *DEFICIENT))
                if near < APART:
                    yield f"{name!r} and {second!r} differ by {near:.1f} only"


# --- colours --------------------------------------------------------------------------------------


def _linear(colour) -> np.ndarray:
    """Linear RGB of a colour on white."""
    red, green, blue, alpha = colours.to_rgba(colour)
    srgb = alpha * np.array([red, green, blue]) + (1 - alpha)
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def ratio(colour, background="white") -> float:
    """Contrast of WCAG 2.2 between two colours, 1 to 21."""
    one = float(XYZ[1] @ _linear(colour))
    other = float(XYZ[1] @ _linear(background))
    return (max(one, other) + 0.05) / (min(one, other) + 0.05)


def _lab(colour, eye: str | None = None) -> np.ndarray:
    """CIELAB of a colour, as somebody with a colour vision deficiency sees it."""
    linear = _linear(colour)
    if eye is not None:
        linear = np.clip(np.array(DEFICIENT[eye]) @ linear, 0, 1)
    xyz = XYZ @ linear / (XYZ @ np.ones(3))
    f = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def difference(one, other, eye: str | None = None) -> float:
    """CIEDE2000 between two colours (Sharma, Wu and Dalal 2005)."""
    l1, a1, b1 = _lab(one, eye)
    l2, a2, b2 = _lab(other, eye)
    mean_c = (np.hypot(a1, b1) + np.hypot(a2, b2)) / 2
    g = 0.5 * (1 - np.sqrt(mean_c**7 / (mean_c**7 + 25.0**7)))
    a1 = (1 + g) * a1
    a2 = (1 + g) * a2
    c1 = np.hypot(a1, b1)
    c2 = np.hypot(a2, b2)
    h1 = np.degrees(np.arctan2(b1, a1)) % 360
    h2 = np.degrees(np.arctan2(b2, a2)) % 360
    light = (l1 + l2) / 2
    chroma = (c1 + c2) / 2
    if c1 * c2 > 0:
        turn, hue = _turn_and_mean(h1, h2)
        delta_h = 2 * np.sqrt(c1 * c2) * np.sin(np.radians(turn) / 2)
    else:  # a grey has no hue
        hue = h1 + h2
        delta_h = 0.0
    t = (
        1
        - 0.17 * np.cos(np.radians(hue - 30))
        + 0.24 * np.cos(np.radians(2 * hue))
        + 0.32 * np.cos(np.radians(3 * hue + 6))
        - 0.20 * np.cos(np.radians(4 * hue - 63))
    )
    s_l = 1 + 0.015 * (light - 50) ** 2 / np.sqrt(20 + (light - 50) ** 2)
    s_c = 1 + 0.045 * chroma
    s_h = 1 + 0.015 * chroma * t
    r_c = 2 * np.sqrt(chroma**7 / (chroma**7 + 25.0**7))
    d_theta = 30 * np.exp(-(((hue - 275) / 25) ** 2))
    r_t = -np.sin(np.radians(2 * d_theta)) * r_c
    lightness = (l2 - l1) / s_l
    saturation = (c2 - c1) / s_c
    hues = delta_h / s_h
    squares = lightness * lightness + saturation * saturation + hues * hues
    return float(np.sqrt(squares + r_t * saturation * hues))


def _turn_and_mean(h1: float, h2: float) -> tuple[float, float]:
    """The shorter way from one hue to another, and the hue in its middle, in degrees."""
    turn = h2 - h1
    if abs(turn) <= 180:
        return turn, (h1 + h2) / 2
    shorter = turn - 360 * np.sign(turn)
    across = 360 if h1 + h2 < 360 else -360
    return shorter, (h1 + h2 + across) / 2
