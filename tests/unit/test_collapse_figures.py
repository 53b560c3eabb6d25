"""Figures of trained networks of collapse: what is drawn and marked, and that it can be read."""

from functools import cache

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text
from tests import collapsed_networks as made_up
from tests.artwork import faults

from finitewidth.common import fields
from finitewidth.figures import style
from finitewidth.papers.collapse.experiments.decay import measure as measure_decay
from finitewidth.papers.collapse.figures import blocks, decay, invariant

MANY = {"count": 30, "epochs": tuple(range(2, 401, 2))}
DATASETS = {
    "mnist": "digits 8×8 (stand-in for MNIST)",
    "fashion_mnist": "warped digits 8×8 (stand-in for FashionMNIST)",
    "cifar10": "patches of photographs (stand-in for CIFAR-10)",
}
REPORTED = pd.DataFrame(
    [("collapse_text", "train_accuracy", "vertical_line", 99.9), ("collapse_text", "hours", "", 3)],
    columns=["artifact", "quantity", "row", "value"],
)


def models(effect=True, **made):
    """Tables of the picked models, with the paper's values."""
    return made_up.models(effect, **made) | {"reported": REPORTED}


SWEPT = measure_decay({"sweeps": made_up.decay()}, {"trained": 0.95, "end": 6.0})
CASES = {
    "fig2": (invariant, models(), {"ends": False}),
    "fig6": (invariant, models(), {"ends": True}),
    "fig6, many points": (invariant, models(**MANY), {"ends": True}),
    "fig6, no collapse": (invariant, models(False), {"ends": True}),
    "fig1": (blocks, made_up.blocks(True, per_class=4, features=32), {}),
    "fig20": (blocks, made_up.blocks(True, per_class=12, features=132), {}),
    "decay": (decay, SWEPT, {"datasets": DATASETS}),
}


@pytest.fixture(autouse=True)
def styled():
    with mpl.rc_context():
        style.apply()
        yield


@cache
def drawn(case):
    module, tables, settings = CASES[case]
    return render(module, tables, settings)


def render(module, tables, settings):
    """The figure and the rows of a case, as the job draws it."""
    rows = fields.checked(module.select(tables, settings), module.FIELDS)
    return module.draw(rows, settings), rows


def letter_of(axis):
    return axis.get_title(loc="left").removeprefix(r"$\mathbf{").partition("}")[0]


def pane(figure, letter):
    """The axes of a pane."""
    return next(axis for axis in figure.axes if letter_of(axis) == letter)


def values_of(rows, panel, column="value"):
    return rows.loc[rows["panel"] == panel, column]


def shown_texts(figure):
    return [text for text in figure.findobj(match=Text) if text.get_text() and text.get_visible()]


@pytest.mark.parametrize("case", ["fig2", "fig6, many points", "fig1", "fig20", "decay"])
def test_texts_are_on_the_page_large_enough_and_apart(case):
    figure, _ = render(*CASES[case])
    style.add_mark(figure, "stand-in data: digits 8×8 for MNIST · other sizes than the paper's")
    assert faults(figure) == []
    beyond = {label for axis in figure.axes for label in ticks_beyond(axis)}
    boxes = [(text.get_text(), text.get_window_extent().shrunk(0.9, 0.8))
             for text in shown_texts(figure) if text not in beyond]  # fmt: skip
    for place, (one, box) in enumerate(boxes):
        for other, beside in boxes[place + 1 :]:
            assert not box.overlaps(beside), f"{one!r} and {other!r}"


def ticks_beyond(axis):
    """Labels of ticks outside the limits, or of axes that are off: they are not drawn."""
    found = []
    for ticks in (axis.xaxis, axis.yaxis):
        low, high = sorted(ticks.get_view_interval())
        for tick in (*ticks.get_major_ticks(), *ticks.get_minor_ticks()):
            inside = axis.axison and low - 1e-9 <= tick.get_loc() <= high + 1e-9
            found += [tick.label2] if inside else [tick.label1, tick.label2]
    return found


@pytest.mark.parametrize("case", ["fig6", "fig1", "decay"])
def test_the_rows_that_are_written_draw_the_same_figure(case, tmp_path):
    module, _, settings = CASES[case]
    figure, rows = drawn(case)
    fields.write(tmp_path / "drawn.csv", rows, module.FIELDS)
    again = module.draw(fields.read(tmp_path / "drawn.csv", module.FIELDS), settings)
    for one, other in zip(figure.axes, again.axes, strict=True):
        assert one.get_title(loc="left") == other.get_title(loc="left")
        for line, same in zip(one.get_lines(), other.get_lines(), strict=True):
            np.testing.assert_array_equal(line.get_xydata(), same.get_xydata())
            assert line.get_marker() == same.get_marker()
        legends = [axis.get_legend() for axis in (one, other)]
        labels = [[text.get_text() for text in legend.get_texts()] for legend in legends if legend]
        assert labels[:1] == labels[1:]


def vertical(axis):
    """Where the axes have vertical lines."""
    return sorted(line.get_xdata()[0] for line in axis.get_lines()
                  if len(line.get_xdata()) == 2 and np.ptp(line.get_xdata()) == 0)  # fmt: skip


def test_vertical_lines_stand_where_networks_fit_the_training_images():
    figure, rows = drawn("fig6, many points")
    wanted = sorted(values_of(rows, "lines", "epoch").dropna())
    assert len(wanted) == 5
    for letter in "abcdeklm":
        assert vertical(pane(figure, letter)) == wanted


def test_values_at_the_end_are_drawn_for_each_network():
    figure, rows = drawn("fig6")
    for letter in "ij":
        points = [line.get_ydata()[0] for line in pane(figure, letter).get_lines()
                  if len(line.get_xdata()) == 1]  # fmt: skip
        assert sorted(points) == sorted(values_of(rows, letter))
        assert len(points) == 5 * len(invariant.PANES[letter].quantities)


def shown_map(axis):
    """The values of a map, and its scale of colours."""
    mesh = axis.collections[0]
    values = np.asarray(mesh.get_array())
    return values.reshape(int(values.size**0.5), -1), mesh


def test_maps_are_symmetric_and_show_shares():
    figure, rows = drawn("fig1")
    for letter, size in zip("abcd", (40, 40, 10, 32), strict=True):
        shown, mesh = shown_map(pane(figure, letter))
        own = rows[rows["panel"] == letter]
        np.testing.assert_array_equal(shown, shown.T)
        places = own["row"].astype(int), own["column"].astype(int)
        np.testing.assert_array_equal(shown[places], own["share"])
        assert (mesh.norm.vmin, mesh.norm.vmax) == (0, 1)
        assert len(shown) == size
        assert mesh.get_rasterized()


def test_alignments_are_drawn_with_their_last_value():
    figure, rows = drawn("fig1")
    labels = [text.get_text() for text in pane(figure, "e").get_legend().get_texts()]
    for kernel, line, label in zip(blocks.KERNELS, pane(figure, "e").get_lines(), labels,
                                   strict=True):  # fmt: skip
        own = rows[(rows["panel"] == "e") & (rows["kernel"] == kernel)]
        np.testing.assert_array_equal(line.get_ydata(), own["alignment"])
        assert f"{own['alignment'].iloc[-1]:.2f}" in label


def test_every_sweep_is_drawn_against_tau_rates_and_decay():
    figure, rows = drawn("decay")
    cells = rows[(rows["panel"] == "cell") & (rows["sweep"] != "patches")]
    panes = figure.axes[:4]
    points = [sum(len(bars.lines[0].get_xdata()) for bars in axis.containers) for axis in panes]
    trained = (cells["decay"] > 0).sum()
    assert points == [trained, len(cells), trained, 6]
    assert panes[3].get_title(loc="left").endswith("patches of photographs")
    assert "\N{MINUS SIGN}0.6" in panes[0].texts[1].get_text().replace("-", "\N{MINUS SIGN}")
