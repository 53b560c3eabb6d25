"""Experiments of trust at small sizes, compared with exact values, and their figures."""

import numpy as np
import pytest
from tests.helpers.measuring import measured
from tests.helpers.picture_faults import faults
from tests.helpers.redrawn_figures import redrawn, reported, titles, words

from finitewidth.kernels.ntk_init.estimators import dispersion, linearised_dispersion
from finitewidth.kernels.ntk_init.initialisation import constant_width
from finitewidth.kernels.ntk_init.moments import log_moments
from finitewidth.papers.trust.experiments import border, depth, heat, mean_field, solutions
from finitewidth.papers.trust.figures import fig2, kappa
from finitewidth.papers.trust.figures import heat as heat_figure
from finitewidth.records.provenance import base_seed

HEAT = {
    "draws": 4000,
    "paper_draws": 200,
    "widths": [12],
    "sigma_b2": [0, 1],
    "depths": [1, 3, 5],
    "sigma_w2": {
        "tanh": {"first": 1, "last": 4, "points": 3},
        "relu": {"first": 1, "last": 4, "points": 3},
    },
}
DEPTH = {
    "draws": 3000,
    "paper_draws": 200,
    "pairs": [[2, 0], [3, 1]],
    "widths": [10, 20],
    "largest_depth": 6,
    "largest_lambda": 0.5,
    "points": 4,
}
FIELD = {
    "depth": 20,
    "covariances": [0, 0.5, 1],
    "pairs": {"erf": [[1, 1], ["border", 1]], "relu": [[1, 1], ["border", 0], [3, 1]]},
}


@pytest.fixture(scope="module")
def maps():
    return measured(heat.measure, {}, HEAT)


@pytest.fixture(scope="module")
def curves():
    return measured(depth.measure, {}, DEPTH)


@pytest.fixture(scope="module")
def field():
    return measured(mean_field.measure, {}, FIELD)


def test_every_cell_of_every_map_is_there_once(maps):
    cells = maps["cells"]
    keys = ["activation", "width", "sigma_b2", "sigma_w2", "depth", "sample"]
    assert len(cells) == len(cells.drop_duplicates(keys)) == 2 * 2 * 3 * 3 * 2
    assert set(cells.loc[cells["sample"] == "paper", "draws"]) == {200}
    relu = cells[(cells["activation"] == "relu") & (cells["sigma_b2"] == 0)]
    assert set(relu["sample"]) == {"paper", "exact"}


def test_a_kernel_of_one_layer_is_known(maps):
    """|x|^2 + 1 without chance."""
    first = maps["cells"].query("depth == 1")
    np.testing.assert_allclose(first["dispersion"], 1)
    np.testing.assert_allclose(first["log_mean"], np.log(12 + 1))


def test_cells_at_the_border_agree_with_exact_dispersions():
    """Without biases, where these are known; each within 4.5 standard errors."""
    settings = {
        "draws": 20000,
        "sigma_w2": 2.0,
        "sigma_b2": 0.0,
        "widths": [10, 20],
        "depths": [2, 4],
    }
    cells = measured(border.measure, {}, settings)["cells"]
    assert len(cells) == 4
    for row in cells.itertuples():
        init = constant_width(row.depth, row.width, sigma_w2=2.0)
        known = log_moments(init, input_norm2=float(row.width)).dispersion
        assert abs(row.dispersion - known) <= 4.5 * row.error


def test_curves_without_biases_are_exact_and_the_small_sample_scatters_about_them(curves):
    rows = curves["curves"]
    free = rows[rows["sigma_b2"] == 0]
    assert set(free["sample"]) == {"exact", "paper"}
    for row in free[free["sample"] == "exact"].itertuples():
        init = constant_width(row.depth, row.width, sigma_w2=2.0)
        assert row.dispersion == log_moments(init, input_norm2=row.width).dispersion
    merged = free[free["sample"] == "paper"].merge(
        free[free["sample"] == "exact"], on=["width", "depth"], suffixes=("", "_exact")
    )
    gap = (merged["dispersion"] - merged["dispersion_exact"]).abs()
    assert (gap <= 4.5 * merged["error"] + 1e-12).all()


def test_only_draws_of_the_size_of_the_paper_s_differ_from_depth_to_depth():
    """Over base seeds, means at successive depths are correlated only if they share numbers."""
    settings = DEPTH | {"draws": 50, "paper_draws": 50, "pairs": [[3, 1]], "widths": [10]}
    means = []
    for seed in range(40):
        with base_seed(seed):
            rows = measured(depth.measure, {}, settings)["curves"]
        means.append(rows.pivot(index="sample", columns="depth", values="log_mean"))
    for sample, low, high in (("paper", -0.6, 0.6), ("ours", 0.6, 1)):
        pairs = np.array([table.loc[sample, [4, 5]] for table in means])
        assert low < np.corrcoef(pairs.T)[0, 1] < high


def test_limits_are_those_of_large_inputs(curves):
    limits = curves["limits"]
    last = limits[limits["lambda"] == 0.5].set_index("form")["dispersion"]
    assert last["printed"] == pytest.approx(6.916, abs=1e-3)
    assert last["corrected"] == pytest.approx(7.760, abs=1e-3)
    wide = log_moments(constant_width(2000, 4000, sigma_w2=2.0), input_norm2=4000.0)
    assert wide.dispersion == pytest.approx(last["corrected"], rel=0.01)


def test_the_linearised_error_is_that_of_the_bootstrap():
    sample = np.random.default_rng(0).lognormal(sigma=0.5, size=3000)
    value, error = linearised_dispersion(sample)
    bootstrap = dispersion(sample)
    assert value == bootstrap.value
    assert error == pytest.approx(bootstrap.standard_error, rel=0.15)


def test_maps_show_one_sample_and_its_borders(maps, tmp_path):
    tables = {**maps, "reported": reported("trust")}
    rows, figure = redrawn(heat_figure, tables, {}, tmp_path)
    own = rows[rows["source"] == "ours"]
    cells = own[own["series"] == "cell"]
    assert len(cells) == 2 * 2 * 3 * 3  # no cell of the other sample
    assert (own["series"] == "border").sum() == 4
    assert titles(figure) == [
        f"{name}, $\\sigma_b^2 = {bias}$" for name in ("tanh", "ReLU") for bias in (0, 1)
    ]
    assert faults(figure) == []


def test_the_limit_of_the_paper_is_drawn_in_the_ordered_phase_only(tmp_path):
    with base_seed(0):
        curves = measured(depth.measure, {}, DEPTH | {"draws": 200, "pairs": [[1, 1], [3, 1]]})
    tables = {**curves, "reported": reported("trust")}
    rows, figure = redrawn(fig2, tables, {}, tmp_path)
    stated = rows.loc[rows["source"] == "paper", ["sigma_w2", "dispersion"]]
    assert stated.to_numpy().tolist() == [[1, 1]]
    found = []
    for axis in figure.axes:
        found.append([line.get_ydata()[0] for line in axis.lines if line.get_gid() == "paper"])
    assert found == [[1], []] * 3
    assert words(figure)[-1] == fig2.STATED


@pytest.mark.parametrize("show", ["kappa_2", "kappa_ratio"])
def test_mean_fields_are_drawn(field, tmp_path, show):
    tables = {**field, "reported": reported("trust")}
    rows, figure = redrawn(kappa, tables, {"artifact": "trust_fig5", "show": show}, tmp_path)
    ours = rows[rows["source"] == "ours"]
    assert len(field["kappa"]) - len(ours) == 5  # depth 1, covariance 0, five panels
    at = ours.query("activation == 'relu' and phase == 'border' and depth == 10")
    value = at.loc[at["covariance"] == 0.5, "value"].item()
    assert value == pytest.approx({"kappa_2": 3.79, "kappa_ratio": 2.64}[show], abs=0.01)
    shown = [axis for axis in figure.axes if axis.get_visible()]
    assert len(shown) == 5 + 1
    marks = []
    for axis in shown[:5]:
        marks.append([line.get_ydata()[0] for line in axis.lines if line.get_gid() == "paper"])
    assert marks == ([[1], [], [1], [], []] if show == "kappa_ratio" else [[]] * 5)
    assert len(words(figure)) == (show == "kappa_ratio")
    assert faults(figure) == []


def test_the_variance_of_constant_kernels_is_that_of_theorem_53():
    """Regression with constant entries is the theorem, exactly."""
    means = solutions.Means(kappa_1=2.0, kappa_2=0.8, q=1.3, q_sr=0.4)
    kappa = np.full((6, 6), 0.8) + np.eye(6) * (2.0 - 0.8)
    covariance = np.full((6, 6), 0.4) + np.eye(6) * (1.3 - 0.4)
    assert solutions.means_of(kappa, covariance) == pytest.approx(means)
    assert solutions.exact_variance(kappa, covariance) == pytest.approx(solutions.formula(means, 5))


def test_drawn_outputs_have_the_variance_that_is_computed():
    """One draw of 20,000: a standard error of 1 per cent, at most 4 of them."""
    means = solutions.Means(kappa_1=1.5, kappa_2=0.5, q=1.0, q_sr=0.3)
    drawn = solutions.drawn_variance(means, 4, 20_000, np.random.default_rng(5))
    assert drawn == pytest.approx(solutions.formula(means, 4), rel=0.04)


def test_a_dataset_of_one_sample_is_solved_by_hand():
    kappa = np.array([[2.0, 1.0], [1.0, 2.0]])
    covariance = np.array([[1.0, 0.2], [0.2, 1.0]])
    # f_0(x) - f_0(x_1) / 2
    assert solutions.exact_variance(kappa, covariance) == pytest.approx(1 + 0.25 - 0.2)
