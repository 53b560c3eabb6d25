"""Figures of trained networks of collapse: what is drawn and marked, and that it can be read."""

from functools import cache

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.text import Text
from tests.captions import synthetic_collapse as made_up

from finitewidth.captions.facts import collapse_networks
from finitewidth.captions.facts.collapse import collapse_fig3
from finitewidth.common import result_files
from finitewidth.experiments.collapse import heat_maps
from finitewidth.figures import style
from finitewidth.figures.collapse import blocks, decay, invariant, looks

MANY = {"count": 30, "epochs": tuple(range(2, 401, 2))}
DATASETS = {
    "mnist": "digits 8×8 (stand-in for MNIST)",
    "fashion_mnist": "warped digits 8×8 (stand-in for FashionMNIST)",
    "cifar10": "patches of photographs (stand-in for CIFAR-10)",
}
CASES = {
    "fig2": (invariant, made_up.models(True), {"ends": False}),
    "fig6": (invariant, made_up.models(True), {"ends": True}),
    "fig6, many points": (invariant, made_up.models(True, **MANY), {"ends": True}),
    "fig6, no collapse": (invariant, made_up.models(False), {"ends": True}),
    "fig1": (blocks, made_up.blocks(True, per_class=4, features=32), {}),
    "fig20": (blocks, made_up.blocks(True, per_class=12, features=132), {}),
    "decay": (decay, made_up.decay(True), {"datasets": DATASETS}),
}


@pytest.fixture(autouse=True)
def styled():
    with mpl.rc_context():
        style.apply()
        yield


@cache
def drawn(case):
    module, tables, settings = CASES[case]
    rows = module.select(tables, settings)
    return module.draw(rows, settings), rows


def titled(figure, start):
    """The axis whose title begins so."""
    return next(axis for axis in figure.axes if axis.get_title(loc="left").startswith(start))


def shown_texts(figure):
    return [text for text in figure.findobj(match=Text) if text.get_text() and text.get_visible()]


@pytest.mark.parametrize("case", ["fig2", "fig6, many points", "fig1", "fig20", "decay"])
def test_texts_are_on_the_page_large_enough_and_apart(case):
    module, tables, settings = CASES[case]
    figure = module.draw(module.select(tables, settings), settings)
    style.add_footer(figure, "preset quick · digits 8×8 (stand-in for MNIST) · 12 runs")
    figure.draw_without_rendering()
    assert figure.get_figwidth() == 6.9
    page, boxes = figure.bbox, []
    beyond = {label for axis in figure.axes for label in ticks_beyond(axis)}
    for text in shown_texts(figure):
        assert text.get_fontsize() >= 6.5, text.get_text()
        box = text.get_window_extent()
        if text in beyond:
            continue
        assert page.x0 <= box.x0, text
        assert box.x1 <= page.x1, text
        assert page.y0 <= box.y0, text
        assert box.y1 <= page.y1, text
        boxes.append((text.get_text(), box.shrunk(0.9, 0.8)))
    for place, (one, box) in enumerate(boxes):
        for other, beside in boxes[place + 1 :]:
            assert not box.overlaps(beside), f"{one!r} and {other!r}"


def ticks_beyond(axis):
    """Labels of ticks outside the limits, which are not drawn."""
    found = []
    for ticks in (axis.xaxis, axis.yaxis):
        low, high = sorted(ticks.get_view_interval())
        for tick in (*ticks.get_major_ticks(), *ticks.get_minor_ticks()):
            inside = low - 1e-9 <= tick.get_loc() <= high + 1e-9
            found += [tick.label2] if inside else [tick.label1, tick.label2]
    return found


@pytest.mark.parametrize("case", ["fig6", "fig1", "decay"])
def test_the_rows_that_are_written_draw_the_same_figure(case, tmp_path):
    module, tables, settings = CASES[case]
    read = {}
    for name, rows in tables.items():
        result_files.write_table(tmp_path / f"{name}.csv", rows)
        read[name] = result_files.read_table(tmp_path / f"{name}.csv")
    rows = module.select(read, settings)
    result_files.write_table(tmp_path / "drawn.csv", rows)
    again = module.draw(result_files.read_table(tmp_path / "drawn.csv"), settings)
    for one, other in zip(drawn(case)[0].axes, again.axes, strict=True):
        assert one.get_title(loc="left") == other.get_title(loc="left")
        for line, same in zip(one.get_lines(), other.get_lines(), strict=True):
            np.testing.assert_array_equal(line.get_xydata(), same.get_xydata())
            assert line.get_marker() == same.get_marker()
        legends = [axis.get_legend() for axis in (one, other)]
        labels = [[text.get_text() for text in legend.get_texts()] for legend in legends if legend]
        assert labels[:1] == labels[1:]


def test_curves_are_smooth_lines_over_raw_points():
    figure, rows = drawn("fig6, many points")
    lines = titled(figure, "e) NC3").get_lines()
    own = rows.query("quantity == 'nc3' and panel == 'e' and init == 'lecun'")
    for model, filled in (("collapsed", True), ("other", False)):
        wanted = own[own["model"] == model].sort_values("epoch")
        colour = looks.MODELS[model].colours["lecun"]
        line, dots = (
            next(one for one in lines if one.get_color() == colour and one.get_marker() == marker
                 and len(one.get_xdata()) > 2)
            for marker in ("o", ".")
        )  # fmt: skip
        np.testing.assert_array_equal(line.get_ydata(), wanted["smooth"])
        np.testing.assert_array_equal(dots.get_ydata(), wanted["value"])
        assert dots.get_linestyle() == "None"
        face = to_hex(line.get_markerfacecolor())
        assert face == (colour.lower() if filled else "#ffffff")


def test_vertical_lines_stand_where_networks_fit_the_training_images():
    figure, rows = drawn("fig6, many points")
    wanted = sorted(rows.loc[rows["panel"] == "line", "epoch"])
    for pane in ("a)", "a')", "b)", "c)", "d)", "e)"):
        lines = [
            line
            for line in titled(figure, pane).get_lines()
            if len(line.get_xdata()) == 2 and line.get_xdata()[0] == line.get_xdata()[1]
        ]
        assert sorted(line.get_xdata()[0] for line in lines) == wanted


def test_a_network_that_never_fits_has_no_line():
    tables = made_up.models(True)
    tables["lines"]["epoch"] = np.nan
    rows = invariant.select(tables, {"ends": True})
    figure = invariant.draw(rows, {"ends": True})
    figure.draw_without_rendering()
    places = [line.get_xdata()[0] for line in titled(figure, "d)").get_lines()
              if len(line.get_xdata()) == 2]  # fmt: skip
    assert len(places) == 5
    assert np.isnan(places).all()


def test_figure_2_has_panes_a_to_h():
    letters = {axis.get_title(loc="left")[:1] for axis in drawn("fig2")[0].axes} - {""}
    assert letters == set("abcdefgh")
    letters = {axis.get_title(loc="left")[:1] for axis in drawn("fig6")[0].axes} - {""}
    assert letters == set("abcdefghij")


def test_the_legend_says_what_was_not_found():
    texts = {text.get_text() for text in shown_texts(drawn("fig6")[0])}
    assert "He: none" in texts
    picks = CASES["fig6"][1]["picks"].query("init == 'lecun' and model == 'collapsed'").iloc[0]
    (entry,) = (text for text in texts if text.startswith("LeCun") and r"$\eta$ = 1" in text)
    assert f"{100 * picks['test_accuracy']:.1f} %" in entry
    assert f"$A$ = {picks['alignment_theta_h']:.2f}" in entry
    texts = [text.get_text() for text in shown_texts(drawn("fig6, no collapse")[0])]
    assert [text for text in texts if "none" in text] == [
        "LeCun: none", "PyTorch: none", "He: none",
    ]  # fmt: skip


def test_picked_networks_are_marked_among_all_rates():
    figure, rows = drawn("fig6")
    marked = [line for line in titled(figure, "h)").get_lines() if line.get_markersize() == 5]
    points = {
        (line.get_xdata()[0], line.get_ydata()[0]) for line in marked if len(line.get_xdata())
    }
    own = rows[(rows["panel"] == "h") & (rows["picked"] != "")]
    assert points == set(zip(own["rate"], own["value"], strict=True))
    assert len(points) == 5


def test_networks_with_a_far_lower_accuracy_are_marked_at_the_edge():
    tables = made_up.models(True)
    tables["rates"].loc[0, "test_accuracy"] = 0.1
    axis = titled(invariant.draw(invariant.select(tables, {"ends": True}), {"ends": True}), "h)")
    assert axis.get_ylim()[0] > 0.9
    marked = [line for line in axis.get_lines() if line.get_marker() == "v"]
    assert [len(line.get_xdata()) for line in marked] == [1, 0, 0]
    assert collapse_fig3(tables)["cut"]
    assert not collapse_fig3(made_up.models(True))["cut"]


def test_values_at_the_end_are_drawn_for_each_network():
    figure, rows = drawn("fig6")
    for pane, quantities in invariant.ENDS.items():
        points = [line.get_ydata()[0] for line in titled(figure, f"{pane})").get_lines()
                  if len(line.get_xdata()) == 1]  # fmt: skip
        own = rows[rows["panel"] == pane]
        assert sorted(points) == sorted(own["value"])
        assert len(points) == 5 * len(quantities)


def test_nothing_picked_is_a_figure_and_a_caption_all_the_same():
    tables = made_up.models(True)
    tables["picks"]["found"] = 0
    tables["rates"]["picked"] = ""
    for name in ("curves", "ends", "lines"):
        tables[name] = tables[name].iloc[:0]
    rows = invariant.select(tables, {"ends": True})
    invariant.draw(rows, {"ends": True}).draw_without_rendering()
    facts = collapse_fig3(tables)
    assert not any(facts[name] for name in ("alone", "both", "nc3_apart", "small", "smoothed"))


def test_diverged_networks_leave_gaps():
    tables = made_up.models(True)
    tables["rates"].loc[2, ["nc1", "nc1_ratio", "nc2", "nc3"]] = np.nan
    invariant.draw(
        invariant.select(tables, {"ends": True}), {"ends": True}
    ).draw_without_rendering()
    assert collapse_fig3(tables)["falls"]


def test_maps_are_symmetric_and_show_shares():
    figure, rows = drawn("fig1")
    images = [axis.images[0] for axis in figure.axes if axis.images]
    for image, letter in zip(images[:4], "abcd", strict=True):
        shown = np.asarray(image.get_array())
        own = rows[rows["panel"] == letter]
        np.testing.assert_array_equal(shown, shown.T)
        wanted = own["share"].to_numpy()
        np.testing.assert_array_equal(
            shown[own["row"].astype(int), own["column"].astype(int)], wanted
        )
        assert image.norm.vmin == 0
        assert image.norm.vmax == 1
    assert [image.get_array().shape[0] for image in images[:4]] == [40, 40, 10, 32]


def test_negative_shares_have_the_darkest_colour():
    tables = made_up.blocks(True)
    tables["traced"].loc[1, "share"] = -0.1
    figure = blocks.draw(blocks.select(tables, {}), {})
    image = figure.axes[0].images[0]
    assert image.cmap(image.norm(-0.1)) == image.cmap(image.norm(0.0))


def test_every_run_with_decay_is_in_the_pane_of_its_data():
    figure, _ = drawn("decay")
    panes = figure.axes[:4]
    points = [sum(len(line.get_xdata()) for line in axis.get_lines()) for axis in panes]
    runs = CASES["decay"][1]["runs"]
    counts = runs[runs["decay"] > 0]["data"].value_counts()
    assert points == [(runs["decay"] == 0).sum(), *counts[["mnist", "fashion", "cifar"]]]
    assert panes[1].get_title(loc="left") == "digits 8×8\n(stand-in for MNIST)"
    hollow = sum(len(line.get_xdata()) for axis in panes for line in axis.get_lines()
                 if line.get_markerfacecolor() == "white")  # fmt: skip
    assert hollow == (runs["train_accuracy"] < decay.FITTED).sum()
    assert panes[2].texts[0].get_text() == "$\\rho$ = \N{MINUS SIGN}0.96: LeCun, PyTorch"


def test_without_a_control_or_with_few_data_there_are_fewer_panes():
    tables = made_up.decay(True)
    runs = tables["runs"]
    tables["runs"] = runs[(runs["decay"] > 0) & (runs["data"] == "mnist")]
    figure = decay.draw(decay.select(tables, {}), {})
    assert len(figure.axes) == 2
    assert figure.axes[0].get_title(loc="left") == "MNIST"


def test_captions_and_figures_use_the_same_bounds_and_names():
    assert collapse_networks.BAND == invariant.BAND
    assert collapse_networks.FITTED == decay.FITTED
    assert collapse_networks.INITS == looks.NAMES
    titles = {model: look.title for model, look in looks.MODELS.items()}
    assert titles == collapse_networks.MODELS
    choices = {heat_maps.PRINTED, heat_maps.COLLAPSED, heat_maps.BEST}
    assert set(collapse_networks.CHOICES) == choices


def test_a_long_footer_is_broken_between_its_parts():
    figure = drawn("decay")[0]
    parts = [f"{name} 16×16 (stand-in for another dataset)" for name in "abcdefg"]
    style.add_footer(figure, " · ".join(parts))
    lines = figure.get_supxlabel().split("\n")
    assert len(lines) > 1
    assert [part for line in lines for part in line.split(" · ")] == parts
    figure.draw_without_rendering()
    assert figure._supxlabel.get_window_extent().x1 <= figure.bbox.x1
