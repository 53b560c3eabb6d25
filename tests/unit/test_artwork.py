"""The checks of artwork find what they look for, and let good figures pass."""

from itertools import combinations

import numpy as np
import pytest
from matplotlib.figure import Figure
from tests import artwork

from finitewidth.figures import style


@pytest.fixture(autouse=True)
def _style():
    style.apply()


def good() -> Figure:
    """Two panels with two curves each, error bars, letters and a legend."""
    figure, axes = style.subplots(1, 2, height=2.2)
    x = np.arange(5.0)
    for axis in axes:
        style.bars(axis, x, x + 1, 0.1 * x + 0.1, color=style.COLOURS[0], label="one")
        axis.plot(x, 2 * x + 1, color=style.COLOURS[1], linestyle="--", label="two")
        axis.set(xlabel="step", ylabel="loss")
    axes[0].legend()
    style.title_panels(axes, ["first", "second"])
    return figure


def broken(how: str) -> Figure:
    figure = good()
    axis = figure.axes[0]
    if how == "size":
        figure.set_size_inches(10, 3)
    elif how == "small":
        axis.text(1, 1, "too small", fontsize=5)
    elif how == "outside":
        figure.text(0.98, 0.5, "words beyond the border of the picture")
    elif how == "pale text":
        axis.text(1, 1, "pale", color="0.7")
    elif how == "letter":
        axis.set_title("no letter", loc="left")
    elif how == "pale line":
        axis.plot([0, 1], [0, 1], color="yellow")
    elif how == "pale marks":
        axis.scatter([0, 1], [0, 1], color="#ffffaa")
    elif how == "leaves":
        axis.set_ylim(0, 3)
    elif how == "bar":
        axis.errorbar([0, 1, 2], [0, 1, 2], [0.1, 0.1, np.nan], color="black")
    elif how == "label":
        axis.set_xlabel("")
    elif how == "legend":
        axis.legend(handles=[axis.plot([], [], color="red", marker="s", label="no such curve")[0]])
    elif how == "colours":
        axis.plot([0, 1], [0, 1], color="#009900", label="green")
        axis.plot([0, 1], [1, 0], color="#aa7700", label="brown")
        axis.legend()
    elif how == "level":
        axis.axhline(100, color="black")
        axis.set_ylim(0, 10)
    elif how == "covered":
        figure.text(0.5, 0.5, "")
        style.add_mark(figure, "other sizes than the paper's")
        figure.get_layout_engine().set(rect=(0, 0, 1, 1))
        figure.set_layout_engine("none")
        figure._supxlabel.set_position((0.5, 0.4))
    elif how == "map":
        axis.clear()
        axis.pcolormesh(np.eye(3))
        axis.axvline(1, color="white")
        axis.set(xlabel="x", ylabel="y")
        style.title_panels(figure.axes, [""] * len(figure.axes))
    return figure


FAULTS = {
    "size": "width 10", "small": "5 points", "outside": "leaves the picture",
    "pale text": "contrast", "letter": "no letter", "pale line": "has contrast 1",
    "pale marks": "have contrast", "leaves": "leaves the axes", "bar": "at its last point",
    "level": "lies outside", "covered": "mark of stand-ins covers", "label": "no label",
    "legend": "drawn nowhere", "colours": "differ by", "map": "no stroke",
}  # fmt: skip


def test_a_good_figure_has_no_fault():
    assert artwork.faults(good()) == []


@pytest.mark.parametrize("how", FAULTS)
def test_each_fault_is_found(how):
    found = artwork.faults(broken(how))
    assert any(FAULTS[how] in fault for fault in found), found


def test_a_clipped_curve_is_marked_where_it_leaves():
    figure = good()
    for axis in figure.axes:
        style.clip(axis, (0, 3))
    assert artwork.faults(figure) == []
    marks = [line for line in figure.axes[0].lines if line.get_marker() == "^"]
    assert [list(mark.get_xdata()) for mark in marks] == [[3], [2]]


def test_colour_difference_agrees_with_a_published_pair(monkeypatch):
    # Sharma, Wu and Dalal (2005), table 1, pairs 1, 7 and 25
    pairs = [((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
             ((50, 0, 0), (50, -1, 2), 2.3669),
             ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644)]  # fmt: skip
    for one, other, value in pairs:
        known = {"one": np.array(one, float), "other": np.array(other, float)}
        monkeypatch.setattr(artwork, "_lab", lambda colour, eye=None, known=known: known[colour])
        assert artwork.difference("one", "other") == pytest.approx(value, abs=1e-4)


def test_the_palette_is_seen_by_everybody():
    assert min(artwork.ratio(colour) for colour in style.COLOURS) >= 3.2
    for eye in (None, *artwork.DEFICIENT):
        for one, other in combinations(style.COLOURS, 2):
            assert artwork.difference(one, other, eye) >= 17


def test_a_figure_fits_a_page():
    with pytest.raises(ValueError, match="does not fit a page"):
        style.subplots(1, 1, height=12)
