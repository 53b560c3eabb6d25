"""Theory of npf and dgn at small sizes: rows that hold what the theorems say, and their figure."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.optimize import minimize_scalar
from tests.helpers.kernels_by_definition import limiting_dispersion
from tests.helpers.measuring import measured

from finitewidth.common.errors import ConfigError
from finitewidth.measures.kernels import correlation, relative_error, scale
from finitewidth.papers.dgn.experiments import theory as dgn
from finitewidth.papers.npf.experiments import kernel_means, kernel_variances
from finitewidth.papers.npf.experiments import theory as npf
from finitewidth.papers.npf.settings import Theory, Variance
from finitewidth.settings.typed import section_from

NPF = {
    "runs": 12,
    "inputs": 6,
    "n0": 10,
    "mean": {
        "enumerated": [[2, 2, 2, 1], [1, 2, 2, 2, 1]],
        "width": 16,
        "depths": [3, 4],
        "draws": 400,
    },
    "widths": {"widths": [16, 64, 256], "depths": [3, 5]},
    "padding": {"width": 16, "copies": [1, 4, 16], "depths": [3]},
    "variance": {
        "widths": [64, 512, 1024],
        "depths": [4, 8, 16, 32],
        "drawn": {"widths": [64], "depths": [4, 8], "draws": 3000},
    },
    "limits": {"width": 256, "depths": [3], "runs": 12},
}
DGN = {
    "runs": 4,
    "fit": {"networks": [{"hidden": 2, "width": 8}], "n0": 3, "steps": 400, "step_size": 0.02},
    "overlaps": {"width": 20, "mu": 0.5, "depths": [2, 5], "draws": 500},
    "linear": {"width": 30, "depths": [2, 5], "draws": 500},
}


@pytest.fixture(scope="module")
def tables():
    return measured(npf.measure, {}, NPF)


@pytest.fixture(scope="module")
def of_dgn():
    return measured(dgn.measure, {}, DGN)


def test_mean_over_all_networks_is_the_formula(tables):
    rows = tables["mean"][tables["mean"]["networks"] == "enumerated"]
    assert rows["draws"].tolist() == [2**10, 2**12]
    assert (rows[["mean_error", "variance_error"]] < 1e-12).all(axis=None)


def test_mean_over_drawn_networks_is_the_formula(tables):
    rows = tables["mean"][tables["mean"]["networks"] == "drawn"]
    assert len(rows) == 4
    assert (rows["max_z"] < 4.5).all()  # 21 entries each; error rate 1e-3 in all, seeds fixed
    assert (np.abs(rows["trace_ratio"] - 1) < 4.5 * rows["trace_ratio_se"]).all()
    assert (rows["variance_error"] < 0.5).all()


def test_errors_of_independent_gates_are_the_exact_ones_and_shrink(tables):
    curves = tables["curves"]
    free = curves[curves["gates"] == "independent"]
    wide = free.pivot_table(index=["grows", "depth", "x"], columns="curve", values=["y", "spread"])
    nets = wide.dropna(subset=[("y", "drawn")])
    gap = np.abs(nets[("y", "drawn")] - nets[("y", "exact")])
    assert (gap < 4.5 * nets[("spread", "drawn")]).all()
    for _, own in free[free["curve"] == "exact"].groupby(["grows", "depth"]):
        slope = np.polyfit(np.log(own["x"]), np.log(own["y"]), 1)[0]
        assert slope == pytest.approx(-0.5, abs=0.05)


def test_errors_of_a_networks_own_gates_come_to_their_limit(tables):
    curves = tables["curves"]
    own = curves[(curves["gates"] == "own") & (curves["x"] == 256)]
    nets = own[own["curve"] == "drawn"].set_index("depth")
    limit = own[own["curve"] == "limit"].set_index("depth")
    assert limit["y"].gt(0.4).all()  # of six points; more have more pairs that differ
    assert (np.abs(nets["y"] - limit["y"]) < 4.5 * nets["spread"] + 0.1).all()
    assert set(tables["runs"].query("gates == 'own'")["grows"]) == {"width"}


def test_half_of_the_gates_keep_the_size_of_the_kernel(tables):
    # npf section 5: sigma = sqrt(2 / w) makes sigma^{2(d-1)} Lambda(s, s) about 1
    runs = tables["runs"]
    assert runs[runs["width"] == 256]["self_overlap"].mean() == pytest.approx(1, abs=0.15)


def test_drawn_variances_are_the_exact_ones(tables):
    rows = tables["variance"]
    index = ["entry", "width", "depth"]
    drawn = rows[rows["form"] == "drawn"].set_index(index)
    exact = rows[rows["form"] == "exact"].set_index(index)
    assert len(drawn) == 6
    gap = np.abs(drawn["variance"] - exact.loc[drawn.index]["variance"])
    assert (gap < 4.5 * drawn["spread"]).all()


def test_variance_grows_like_depth_to_the_third_over_width(tables):
    rows = tables["variance"]
    wide = rows[(rows["entry"] == "open") & (rows["width"] == 1024)].set_index("depth")
    assert 1.0 < wide["per_d3"][32] / wide["per_d3"][16] < 1.5
    assert wide["per_d2"][32] / wide["per_d2"][4] > 20
    limit = (limiting_dispersion(32 / 1024) - 1) * 32**2
    assert wide["variance"][32] == pytest.approx(limit, rel=0.15)
    # half of 2w gates open or all of w: the same network
    half = rows[(rows["entry"] == "half") & (rows["width"] == 1024)].set_index("depth")
    open_ = rows[(rows["entry"] == "open") & (rows["width"] == 512)].set_index("depth")
    pd.testing.assert_series_equal(half["variance"], open_["variance"])


@pytest.mark.parametrize(("weights", "limit"), [("gaussian", "tangent"), ("signed", "signed")])
def test_relu_networks_have_the_limit_of_their_scale(tables, weights, limit):
    rows = tables["limits"][tables["limits"]["weights"] == weights]
    mean = rows.groupby(["output_variance", "limit"])[["scale", "correlation"]].mean()
    assert mean.loc[("2/w", limit), "scale"] == pytest.approx(1, abs=0.05)
    assert mean.loc[("2/w", limit), "correlation"] > 0.98
    assert mean.loc[("1/w", "halved"), "scale"] == pytest.approx(1, abs=0.05)
    assert mean.loc[("2/w", "halved"), "scale"] > 1.2
    assert mean.loc[("1/w", limit), "scale"] < 0.8


def test_floor_of_two_points_of_one_direction():
    least = minimize_scalar(lambda a: (a - dgn.LABELS[0]) ** 2 + (2 * a - dgn.LABELS[1]) ** 2)
    assert least.fun == pytest.approx(dgn.FLOOR)


def test_without_biases_no_training_gets_below_nine_fifths(of_dgn):
    fits = of_dgn["fits"]
    assert fits["floor"].eq(9 / 5).all()
    without = fits[fits["biases"] == 0]["lowest"]
    control = fits[fits["biases"] == 1]["lowest"]
    assert (without >= 9 / 5 - 1e-9).all()
    assert without.min() == pytest.approx(9 / 5, abs=1e-3)
    assert control.min() < 0.01


def test_overlaps_and_deep_linear_kernels_have_their_means(of_dgn):
    rows = of_dgn["identities"]
    assert rows["identity"].value_counts().to_dict() == {"D03": 4, "D10": 2}
    gap = np.abs(rows["value"] - rows["expected"])
    assert (gap <= 4.5 * rows["standard_error"] + 1e-12).all()  # error rate 1e-5 each


def test_errors_of_overlaps_follow_from_the_law_of_the_open_units(of_dgn):
    """They are binomial in each layer, and layers are independent."""
    found = of_dgn["identities"].set_index("case")["standard_error"]
    chosen = DGN["overlaps"]
    counts = np.arange(chosen["width"] + 1)
    for name, share in (("self", chosen["mu"]), ("cross", chosen["mu"] ** 2)):
        law = stats.binom.pmf(counts, chosen["width"], share)
        square = law @ (counts / (law @ counts)) ** 2
        for depth in chosen["depths"]:
            expected = ((square ** (depth - 1) - 1) / chosen["draws"]) ** 0.5
            case = f"{name} overlap / expectation, d={depth}"
            assert found[case] == pytest.approx(expected, rel=1e-9)


def test_no_network_is_drawn_twice(monkeypatch):
    """They are drawn in pieces that fit in memory, each from a stream of its own."""
    draw = kernel_means.draw_weights
    drawn = []

    def kept(*arguments, **options):
        weights = draw(*arguments, **options)
        drawn.extend(network.numpy().tobytes() for network in weights[1])
        return weights

    for module in (kernel_means, kernel_variances):
        monkeypatch.setattr(module, "draw_weights", kept)
        monkeypatch.setattr(module, "PIECE", 5000)
    mean = {"enumerated": [], "width": 16, "depths": [3], "draws": 60}
    kernel_means.mean_rows(section_from(Theory, NPF | {"mean": mean}))
    few = {"widths": [16], "depths": [4], "draws": 60}
    variance = {"widths": [64], "depths": [4], "drawn": few}
    kernel_variances.variance_rows(section_from(Variance, variance))
    assert len(set(drawn)) == len(drawn) >= 3 * 60


def test_measures_of_two_kernels():
    expected = np.array([[2.0, 1.0], [1.0, 3.0]])
    assert relative_error(expected, expected) == 0
    assert relative_error(3 * expected, expected) == pytest.approx(2)
    stack = np.stack([expected, 2 * expected, expected + 5])
    np.testing.assert_allclose(scale(stack[:2], expected), [1, 2])
    np.testing.assert_allclose(correlation(stack, expected), 1)
    assert correlation([[2.0, 1.0], [1.0, 0.0]], expected) == pytest.approx(-0.5)
    with pytest.raises(ConfigError, match="zero"):
        relative_error(expected, 0 * expected)
    with pytest.raises(ConfigError, match="all entries of a kernel are equal"):
        correlation(expected, np.ones((2, 2)))
