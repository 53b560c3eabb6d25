"""Experiments of beyond at small sizes, compared with exact values, and their figures."""

import numpy as np
import pytest
from tests.helpers.measuring import measured
from tests.helpers.redrawn_figures import redrawn, reported, titles, words

from finitewidth.figures import style
from finitewidth.kernels.ntk_init.estimators import dispersion, mean_ratio
from finitewidth.kernels.ntk_init.moments import leading_excess, log_moments
from finitewidth.kernels.ntk_init.scalar_chain import sample_scalar_chain
from finitewidth.kernels.ntk_init.tail_errors import exact_dispersion_error
from finitewidth.papers.beyond.experiments import diagonal, off_diagonal, shapes, theorem31, theory
from finitewidth.papers.beyond.experiments.grids import network
from finitewidth.papers.beyond.experiments.power_sums import PairSums, PowerSums
from finitewidth.papers.beyond.figures import dispersion as dispersion_figure
from finitewidth.papers.beyond.figures import extra_shapes, ratio
from finitewidth.settings.typed import section_from

PHASES = {"group": "phases", "errors": "bars"}
NEAR = {"group": "near", "errors": "bars"}
RATIOS = {"errors": "bars"}
REPORTED = reported("beyond")
BANDS = {"errors": "bands"}
DIAGONAL = {
    "draws": 20_000,
    "paper_draws": 200,
    "resamples": 20,
    "max_lambda": 0.3,
    "points": 3,
    "phases": {
        "widths": [10, 20],
        "alpha_0": [1.0],
        "sigma_w2": [1.0, 2.0, 2.5],
        "banded": [1.0, 2.5],
    },
    "near": {"widths": [20], "alpha_0": [2.0, 0.1], "sigma_w2": [1.8, 2.2], "banded": [1.8]},
}
OFF = {
    "draws": 4000,
    "paper_draws": 200,
    "resamples": 20,
    "max_lambda": 0.3,
    "points": 3,
    "ratio": {
        "widths": [20],
        "alpha_0": [1.0],
        "sigma_w2": [1.0, 2.0],
        "cosines": [0.1, 0.9],
        "banded": {"sigma_w2": [1.0], "cosines": [0.9]},
    },
    "phases": {"widths": [20], "alpha_0": [1.0], "sigma_w2": [1.0, 2.0], "cosines": [0.1, 0.9]},
    "near": {"widths": [20], "alpha_0": [0.1], "sigma_w2": [1.8], "cosines": [0.9]},
}
THEORY = {
    "limits": {"max_lambda": 1.0, "points": 5, "alpha_0": [1.0, 0.1]},
    "architectures": {
        "narrow": 10,
        "wide": 50,
        "max_lambda": 0.5,
        "points": 4,
        "sigma_w2": [1.0, 2.0],
        "drawn_depth": 4,
    },
}
THEOREM = {
    "draws": 60_000,
    "max_lambda": 2.0,
    "points": 4,
    "sigma_w2": [2.0, 2.5],
    "widths": [50],
    "small": {"width": 8, "depths": [2, 3], "sigma_w2": [2.0]},
    "doubled": {"lambdas": [0.5], "widths": [20, 40], "sigma_w2": [1.0, 2.5]},
}
SHAPES = {
    "narrow": 20,
    "wide": 60,
    "maps": {"max_lambda": 1.0, "points": 6, "sigma_w2": {"first": 1.6, "last": 2.4, "points": 9}},
    "layers": {"lambda": 0.5, "sigma_w2": [1.9, 2.0, 2.2]},
    "inputs": {
        "lambdas": [0.1, 0.5],
        "largest": 2.0,
        "points": 12,
        "sigma_w2": {"first": 1.6, "last": 3.2, "points": 5},
    },
    "random": {
        "shapes": 30,
        "deepest": 30,
        "narrowest": 10,
        "widest": 60,
        "growth": 10.0,
        "most_reciprocals": 2.0,
        "largest": 2.0,
        "points": 5,
        "sigma_w2": {"first": 0.5, "last": 6.0},
    },
}
SHOWN = {"largest": 0.3, "linear": 0.003}


@pytest.fixture(autouse=True)
def _style():
    style.apply()


@pytest.fixture(scope="module")
def on_diagonal():
    return measured(diagonal.measure, {}, DIAGONAL)


@pytest.fixture(scope="module")
def beside_diagonal():
    return measured(off_diagonal.measure, {}, OFF)


@pytest.fixture(scope="module")
def closed_forms():
    return measured(theory.measure, {}, THEORY)


@pytest.fixture(scope="module")
def compared():
    return measured(shapes.measure, {}, SHAPES)


@pytest.fixture(scope="module")
def drawn_in_full():
    return measured(theorem31.measure, {}, THEOREM)


def test_sums_over_blocks_give_what_the_estimators_give():
    rng = np.random.default_rng(3)
    theta = rng.gamma(3, 2, 900)
    other = theta * rng.gamma(5, 1, 900)
    sums = PowerSums(5.0)
    pairs = PairSums()
    for part, both in zip(np.split(theta, 3), np.split(other, 3), strict=True):
        sums.add(part)
        pairs.add(part, both)
    found = dispersion(theta, resamples=4000)
    assert sums.dispersion() == pytest.approx((found.value, found.standard_error), rel=0.06)
    ratio = mean_ratio(other, theta, resamples=4000)
    assert pairs.estimate() == pytest.approx((ratio.value, ratio.standard_error), rel=0.06)
    assert sums.dispersion()[0] == pytest.approx(found.value, rel=1e-12)


def test_the_error_from_exact_moments_is_that_of_the_draws_where_tails_are_light():
    init = network(3, 20, 1.0, 1.5)
    sums = PowerSums(float(np.exp(log_moments(init).mean)))
    sums.add(sample_scalar_chain(init, 100_000, 5).theta)
    assert exact_dispersion_error(init, 100_000) == pytest.approx(sums.dispersion()[1], rel=0.1)


def test_diagonal_estimates_agree_with_the_exact_dispersion(on_diagonal):
    estimates = on_diagonal["estimates"]
    curves = on_diagonal["theory"]
    keys = ["group", "width", "alpha_0", "sigma_w2", "depth"]
    assert set(estimates["sample"]) == {"paper", "many"}
    exact = curves[curves["curve"] == "exact"].set_index(keys)["y"]
    many = estimates[estimates["sample"] == "many"].set_index(keys)
    assert len(many) == len(exact)
    z = (many["y"] - exact) / many["spread"]
    assert z.abs().max() < 5
    assert set(estimates[estimates["sample"] == "paper"]["draws"]) == {200}


def test_no_second_sample_where_we_draw_as_many_as_the_paper():
    found = measured(diagonal.measure, {}, {**DIAGONAL, "draws": 200})
    tables = {**found, "reported": REPORTED}
    assert set(tables["estimates"]["sample"]) == {"paper"}
    look = section_from(dispersion_figure.Look, PHASES)
    figure = dispersion_figure.draw(dispersion_figure.select(tables, look), look)
    assert len(figure.axes) == 2  # one row


def test_the_paper_sized_ratio_is_of_the_first_draws_and_near_the_whole(beside_diagonal):
    estimates = beside_diagonal["estimates"]
    ratio = estimates[estimates["group"] == "ratio"]
    assert ratio["y"].between(0.2, 1.0).all()
    wide = ratio.pivot_table(
        index=["sigma_w2", "cosine", "depth"], columns="sample", values=["y", "spread"]
    )
    gap = (wide["y"]["paper"] - wide["y"]["many"]).abs()
    assert (gap < 5 * wide["spread"]["paper"]).all()
    larger = ratio[ratio["sample"] == "many"].pivot_table(
        index=["sigma_w2", "depth"], columns="cosine", values="y"
    )
    assert (larger[0.9] > larger[0.1]).all()


def test_architectures_have_the_widths_of_the_caption(closed_forms):
    assert theory.widths_of("growing", 4, 10, 50) == (10, 20, 30, 40)
    assert theory.widths_of("shrinking", 4, 10, 50) == (50, 40, 30, 20)
    assert theory.widths_of("constant", 3, 10, 51) == (31, 31, 31)
    assert theory.widths_of("growing", 3, 10, 50) == (10, 24, 37)
    assert theory.widths_of("shrinking", 3, 10, 50) == (50, 37, 24)
    drawn = closed_forms["drawings"]
    assert list(drawn[drawn["architecture"] == "growing"]["y"]) == [10, 20, 30, 40, 1]


def test_networks_drawn_in_full_follow_the_exact_curve(drawn_in_full):
    small = drawn_in_full["small"].pivot_table(index="depth", columns="curve", values="y")
    nets = drawn_in_full["small"].query("curve == 'networks'").set_index("depth")
    assert ((small["networks"] - small["exact"]).abs() < 5 * nets["spread"]).all()
    printed = drawn_in_full["small"].query("curve == 'printed_sums'")
    assert printed["relative"].tolist() == [1.0, 1.0]
    limits = drawn_in_full["curves"].query("curve == 'printed_limit'")
    np.testing.assert_allclose(limits["relative"], 1.0)


def test_compared_networks_differ_in_their_input_only_if_it_is_their_own(compared):
    rows = compared["dispersions"]
    common = rows[rows["input"] == "common"]
    assert set(common["input_width"]) == {40}
    own = rows[rows["input"] == "own"]
    widths = own.groupby("architecture")["input_width"].unique()
    assert widths["growing"].tolist() == [20]
    assert widths["constant"].tolist() == [40]
    assert widths["shrinking"].tolist() == [60]
    assert len(widths) == 3
    assert len(rows) == 6 * 9 * 2 * 3
    assert not rows.duplicated(["input", "sigma_w2", "depth", "architecture"]).any()
    networks = {(kind, name): init for kind, name, init in shapes.networks(9, 20, 60, 2.0)}
    hidden = theory.widths_of("growing", 9, 20, 60)[1:]
    assert networks["common", "growing"].widths == (40, *hidden)


def test_coefficients_of_layers_add_up_to_the_excess(compared):
    key = ["input", "sigma_w2", "architecture"]
    layers = compared["layers"]
    assert set(layers["depth"]) == {20}
    for (kind, variance, name), own in layers.groupby(key):
        inits = {(k, n): init for k, n, init in shapes.networks(20, 20, 60, variance)}
        init = inits[kind, name]
        total = (own["y"].to_numpy() / init.widths[1:]).sum()
        assert own["layer"].tolist() == list(range(1, 20))
        assert total == pytest.approx(leading_excess(init))


def test_growing_networks_are_larger_up_to_the_threshold_of_their_map(compared):
    limits = compared["thresholds"].set_index(["sigma_w2", "depth"])
    assert limits.index.get_level_values("depth").unique().tolist() == [4, 20]
    for key, rows in compared["inputs"].groupby(["sigma_w2", "depth"]):
        larger = rows["y"] > 0
        assert larger.tolist() == (rows["input_width"] <= limits.loc[key, "exact"]).tolist()
        assert rows["input_width"].agg(["min", "max"]).tolist() == [1, 80]
    gaps = limits["exact"] - limits["first_order"]
    assert gaps.between(-1.5, 1).all()
    assert limits["exact"].max() == 5


def test_random_widths_obey_their_settings_and_are_counted(compared):
    rows = compared["random"]
    counts = compared["counts"].set_index("phase")
    assert counts["shapes"].to_dict() == {"ordered": 10, "critical": 10, "chaotic": 10}
    assert rows["narrow"].min() >= 10
    assert (rows["narrow"] < rows["wide"]).all()
    for name, own in rows.groupby("phase"):
        larger = own[own["y"] > 0]
        assert counts.loc[name, "higher"] == larger["shape"].nunique()
        assert counts.loc[name, "last"] == (larger["x"].max() if len(larger) else 0)
        assert counts.loc[name, "largest"] == own["y"].max()
    assert 0 < counts["higher"].sum() < 30


def test_the_first_order_has_the_sign_of_most_exact_differences(compared):
    rows = compared["random"]
    assert ((rows["y"] > 0) == (rows["excess"] > 0)).mean() > 0.95


def test_a_map_in_which_the_first_is_larger_everywhere_is_hatched(compared, tmp_path):
    ratios = compared["ratios"]
    tables = {**compared, "ratios": ratios.assign(y=ratios["y"].abs() + 0.01)}
    _, figure = redrawn(extra_shapes, tables, SHOWN, tmp_path)
    for axis in figure.axes[3:6]:
        assert any(getattr(part, "hatches", None) for part in axis.collections)


def test_maps_of_architectures_show_where_the_first_is_larger(compared, tmp_path):
    rows, figure = redrawn(extra_shapes, compared, SHOWN, tmp_path)
    maps = rows[rows["panel"] == "map"]
    drawn = maps[["input", "first", "second"]].drop_duplicates()
    assert len(drawn) == 3
    assert titles(figure)[:2] == [rf"growing / shrinking, $L$ = {depth}" for depth in (4, 20)]
    counts = rows[rows["panel"] == "counts"].set_index("phase")
    words_of_phases = {f"at the edge: {counts.loc['critical', 'higher']:g} of 10"}
    assert words_of_phases <= set(words(figure))
    for axis, depth in zip(figure.axes[:2], (4, 20), strict=True):
        limits = rows[(rows["panel"] == "threshold") & (rows["depth"] == depth)]
        within = limits[limits["input_width"].between(*axis.get_ylim())]
        drawn = axis.lines[-1].get_xydata()
        np.testing.assert_array_equal(drawn[:, 1], within.sort_values("sigma_w2")["input_width"])
        assert any(getattr(part, "hatches", None) for part in axis.collections)
    assert len(figure.axes[0].lines[-1].get_xdata())


FIGURES = {
    "fig1": (dispersion_figure, "on_diagonal", PHASES),
    "fig2": (dispersion_figure, "on_diagonal", NEAR),
    "fig3": (ratio, "beside_diagonal", RATIOS),
    "fig7": (dispersion_figure, "beside_diagonal", PHASES),
    "fig8": (dispersion_figure, "beside_diagonal", NEAR),
    "fig9": (dispersion_figure, "on_diagonal", PHASES | BANDS),
    "fig11": (ratio, "beside_diagonal", BANDS),
}


@pytest.mark.parametrize("name", FIGURES)
def test_all_rows_are_drawn_and_nothing_else(name, request, tmp_path):
    module, fixture, settings = FIGURES[name]
    value = "ratio" if module is ratio else "dispersion"
    tables = {**request.getfixturevalue(fixture), "reported": REPORTED}
    rows, figure = redrawn(module, tables, settings, tmp_path)
    bands = []
    for axis in figure.axes:
        for band in axis.collections:
            for path in band.get_paths():
                bands.append(path.vertices)
    seen = {
        point
        for axis in figure.axes
        for line in axis.lines
        if line.get_transform() == axis.transData
        for point in zip(*line.get_data(), strict=True)
    }
    ours = rows[rows["source"] == "ours"]
    for row in ours.itertuples():
        point = (row.depth_over_width, getattr(row, value))
        end = (point[0], point[1] + row.standard_error)
        assert point in seen or any(np.isclose(v, end).all(axis=1).any() for v in bands), row
    levels = set()
    for axis in figure.axes:
        for line in axis.lines:
            if line.get_gid() == style.PAPER:
                levels.update(line.get_ydata())
    assert levels == set(rows.loc[rows["source"] == "paper", value])
    expected = {"fig1": {1, 2}, "fig9": {1, 2}, "fig7": {1, 2}, "fig2": {2}, "fig8": {2}}
    assert levels == expected.get(name, {0.25, 1})
