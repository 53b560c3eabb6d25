"""The checks of artwork find what they look for, and let good figures pass."""

from itertools import combinations

import numpy as np
import pytest
from matplotlib.figure import Figure
from tests.helpers import picture_faults

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


def wrong_legend(axis):
    axis.legend(handles=[axis.plot([], [], color="red", marker="s", label="no such curve")[0]])


def like_colours(axis):
    axis.plot([0, 1], [0, 1], color="#009900", label="green")
    axis.plot([0, 1], [1, 0], color="#aa7700", label="brown")
    axis.legend()


def outer_level(axis):
    axis.axhline(100, color="black")
    axis.set_ylim(0, 10)


def covering_mark(axis):
    style.add_mark(axis.figure, "other sizes than the paper's")
    axis.figure.get_layout_engine().set(rect=(0, 0, 1, 1))
    axis.figure.set_layout_engine("none")
    axis.figure._supxlabel.set_position((0.5, 0.4))


def bare_line_on_a_map(axis):
    axis.clear()
    axis.pcolormesh(np.eye(3))
    axis.axvline(1, color="white")
    axis.set(xlabel="x", ylabel="y")
    style.title_panels(axis.figure.axes, [""] * len(axis.figure.axes))


# words of the fault -> what makes it
FAULTS = {
    "width 10": lambda axis: axis.figure.set_size_inches(10, 3),
    "5 points": lambda axis: axis.text(1, 1, "too small", fontsize=5),
    "leaves the picture": lambda axis: axis.figure.text(0.98, 0.5, "words beyond the border"),
    "contrast": lambda axis: axis.text(1, 1, "pale", color="0.7"),
    "no letter": lambda axis: axis.set_title("no letter", loc="left"),
    "has contrast 1": lambda axis: axis.plot([0, 1], [0, 1], color="yellow"),
    "have contrast": lambda axis: axis.scatter([0, 1], [0, 1], color="#ffffaa"),
    "leaves the axes": lambda axis: axis.set_ylim(0, 3),
    "at its last point": lambda axis: axis.errorbar([0, 1], [0, 1], [0.1, np.nan], color="black"),
    "no label": lambda axis: axis.set_xlabel(""),
    "drawn nowhere": wrong_legend,
    "differ by": like_colours,
    "lies outside": outer_level,
    "mark of stand-ins covers": covering_mark,
    "no stroke": bare_line_on_a_map,
}


def test_a_good_figure_has_no_fault():
    assert picture_faults.faults(good()) == []


@pytest.mark.parametrize("words", FAULTS)
def test_each_fault_is_found(words):
    figure = good()
    FAULTS[words](figure.axes[0])
    found = picture_faults.faults(figure)
    assert any(words in fault for fault in found), found


def test_a_clipped_curve_is_marked_where_it_leaves():
    figure = good()
    for axis in figure.axes:
        style.clip(axis, (0, 3))
    assert picture_faults.faults(figure) == []
    marks = [line for line in figure.axes[0].lines if line.get_marker() == "^"]
    assert [list(mark.get_xdata()) for mark in marks] == [[3], [2]]


def test_colour_difference_agrees_with_a_published_pair(monkeypatch):
    # Sharma, Wu and Dalal (2005), table 1, pairs 1, 7 and 25
    pairs = [
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, 0, 0), (50, -1, 2), 2.3669),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
    ]
    for one, other, value in pairs:
        known = {"one": np.array(one, float), "other": np.array(other, float)}
        monkeypatch.setattr(
            picture_faults, "_lab", lambda colour, eye=None, known=known: known[colour]
        )
        assert picture_faults.difference("one", "other") == pytest.approx(value, abs=1e-4)


def test_the_palette_is_seen_by_everybody():
    assert min(picture_faults.ratio(colour) for colour in style.COLOURS) >= 3.2
    for eye in (None, *picture_faults.DEFICIENT):
        for one, other in combinations(style.COLOURS, 2):
            assert picture_faults.difference(one, other, eye) >= 17


def test_a_figure_fits_a_page():
    with pytest.raises(ValueError, match="does not fit a page"):
        style.subplots(1, 1, height=12)
