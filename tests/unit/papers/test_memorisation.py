"""Memorisation, planar points and deep linear networks: laws of their kernels, tidy tables."""

import math

import numpy as np
import pandas as pd
import pytest
import torch
from tests.helpers.measuring import measured

from finitewidth.kernels.gated_moments import ideal_eigenvalues
from finitewidth.measures import dynamics
from finitewidth.measures.dynamics import mean_curves, means_of_first
from finitewidth.networks.random_gated import equal_variance_weights
from finitewidth.papers.dgn.experiments import deep_linear, planar, planar_spectra
from finitewidth.papers.dgn.settings import Planar
from finitewidth.papers.npf.experiments import depth_trend, memorisation, memorisation_ideal
from finitewidth.papers.npf.settings import Task
from finitewidth.settings.typed import section_from

TASK = {"samples": 10, "mu": 0.5, "depths": [2, 4]}
NETWORKS = section_from(Task, TASK)
MEMORISATION = {
    **TASK,
    "runs": 4,
    "widths": {"narrow": 5, "wide": 20},
    "shown": {"npf_fig7": 3, "dgn_fig1": 2, "dgn_fig2": 4, "dgn_fig3": 2},
    "descent": {
        "rate": 0.1,
        "rho": "kernel",
        "loss_half": True,
        "precision": "float64",
        "linear_steps": 30,
        "narrow": {"runs": 4, "steps": 20},
        "wide": {"runs": 2, "steps": 10},
    },
}
PLANAR = {
    "runs": 2,
    "samples": 6,
    "width": 8,
    "depths": [2, 4],
    "weights": "signed",
    "gain": 2,
    "rate": 0.1,
    "rho": "kernel",
    "loss_half": True,
    "steps": 10,
    "linear_steps": 20,
    "precision": "float32",
}
POINTS = section_from(Planar, PLANAR)
LINEAR = {
    "runs": 6,
    "shown": 3,
    "width": 20,
    "depths": [2, 4],
    "rate": 0.1,
    "loss_half": True,
    "steps": 25,
}


@pytest.fixture(scope="module")
def memorised():
    return measured(memorisation.measure, {}, MEMORISATION)


@pytest.fixture(scope="module")
def ideal():
    return measured(memorisation_ideal.measure, {}, TASK)["spectrum"]


@pytest.fixture(scope="module")
def points():
    return measured(planar.measure, {}, PLANAR)


@pytest.fixture(scope="module")
def linear():
    return measured(deep_linear.measure, {}, LINEAR)


@pytest.mark.parametrize(("samples", "depth", "mu"), [(7, 2, 0.5), (30, 5, 0.3), (4, 20, 0.9)])
def test_ideal_eigenvalues_are_those_of_the_ideal_kernel(samples, depth, mu):
    kernel = np.where(np.eye(samples, dtype=bool), 1.0, mu ** (depth - 1))
    expected = np.linalg.eigvalsh(kernel)
    np.testing.assert_allclose(ideal_eigenvalues(samples, depth, mu), expected, atol=1e-10)


def test_ideal_spectra_sum_to_the_number_of_samples(ideal):
    assert ideal.groupby("depth")["cumulative"].max().tolist() == pytest.approx([10, 10])
    shallow = ideal[ideal["depth"] == 2].set_index("index")["cumulative"]
    assert shallow[9] == pytest.approx(9 * (1 - 0.5))


def test_weights_and_gates_are_what_they_are_said_to_be():
    networks = memorisation.networks(20, 4, [0, 1], NETWORKS)
    for weight in networks.weights:
        np.testing.assert_allclose(weight.abs(), math.sqrt(2 / 20))
    share = torch.cat([gate.flatten() for gate in networks.gates]).mean()
    assert abs(share - 0.5) < 4.5 * 0.5 / math.sqrt(2 * 10 * 20 * 3)
    other = memorisation.networks(20, 2, [1], NETWORKS)
    assert torch.equal(networks.y[1:], other.y)  # a run has one task
    assert not torch.equal(networks.y[0], networks.y[1])


def test_runs_that_do_not_descend_follow_the_recursion_only(memorised):
    errors = memorised["errors"]
    counts = errors.groupby(["network", "depth", "dynamics"])["run"].nunique()
    assert counts["wide", 4, "gradient descent"] == 2
    assert counts["narrow", 2, "gradient descent"] == 4
    assert (counts.xs("linear recursion", level="dynamics") == 4).all()
    np.testing.assert_allclose(errors[errors["time"] == 0]["ratio"], 1, rtol=1e-12)
    growth = memorised["kernels"].set_index(["network", "depth", "run"])["growth"]
    assert growth["wide", 4].notna().tolist() == [True, True, False, False]


def test_every_figure_averages_its_own_first_runs(memorised):
    spectra = memorised["spectra"]
    kernels = memorised["kernels"]
    assert spectra.groupby("figure")["runs"].first().to_dict() == MEMORISATION["shown"]
    entries = memorised["entries"].set_index(["figure", "network", "depth"])
    for figure, count in MEMORISATION["shown"].items():
        own = kernels.query(f"network == 'wide' and depth == 4 and run < {count}")["diagonal"]
        assert entries.loc[(figure, "wide", 4), "diagonal"] == pytest.approx(own.mean())
        error = entries.loc[(figure, "wide", 4), "diagonal_error"]
        assert error == pytest.approx(own.std(ddof=1) / math.sqrt(count))
    curves = memorised["error_curves"].query("network == 'wide' and figure == 'npf_fig7'")
    assert curves.groupby("dynamics")["runs"].max().to_dict() == {
        "gradient descent": 2,
        "linear recursion": 3,
    }


def test_ideal_entries_are_those_of_the_ideal_kernel(memorised):
    entries = memorised["entries"]
    np.testing.assert_allclose(entries["off_diagonal_ideal"], 0.5 ** (entries["depth"] - 1))
    assert (entries["diagonal_ideal"] == 1).all()


def test_runs_do_not_depend_on_how_many_there_are_or_fit_in_memory(memorised, monkeypatch):
    monkeypatch.setattr(dynamics, "BATCH_ELEMENTS", 1)
    fewer = measured(memorisation.measure, {}, MEMORISATION | {"runs": 2})["errors"]
    both = memorised["errors"].merge(
        fewer, on=["network", "depth", "dynamics", "run", "time"], suffixes=("", "_fewer")
    )
    assert len(both) == len(fewer)
    np.testing.assert_allclose(both["ratio"], both["ratio_fewer"], rtol=1e-9)


def test_a_diverged_run_counts_as_such_on_its_whole_curve_and_nowhere_else():
    ratios = {0: [1.0, 0.5], 1: [1.0, 0.3], 2: [1.0, math.nan], 3: [math.inf, 0.1], 4: [1.0, 9.0]}
    rows = []
    for run, path in ratios.items():
        for time, ratio in enumerate(path):
            rows.append({"depth": 2, "run": run, "time": time, "ratio": ratio})
            rows.append({"depth": 4, "run": run, "time": time, "ratio": 1.0})
    rows = pd.DataFrame(rows).sort_values(["depth", "run", "time"], ignore_index=True)
    means = means_of_first(rows, ["depth"], ["ratio"], {"all": 4, "few": 2}, along="time")
    means = means.set_index(["figure", "depth", "time"])
    assert means.loc[("all", 2, 1), "ratio"] == pytest.approx(0.4)
    assert means.loc[("all", 2, 1), "ratio_spread"] == pytest.approx(0.02**0.5)
    assert means.loc["all", "runs"].tolist() == [2, 2, 4, 4]
    assert means.loc["all", "diverged"].tolist() == [2, 2, 0, 0]
    assert means.loc["few", "runs"].tolist() == [2, 2, 2, 2]
    assert means.loc["few", "diverged"].tolist() == [0, 0, 0, 0]


def test_narrow_networks_by_depth_are_others_than_those_of_the_figures(memorised):
    steps = MEMORISATION["descent"]["narrow"]["steps"]
    rate = {name: MEMORISATION["descent"][name] for name in ("rate", "rho", "loss_half")}
    widths = {"widths": MEMORISATION["widths"], "precision": "float64"}
    settings = TASK | widths | rate | {"trend": {"runs": 3, "steps": steps}}
    found = measured(depth_trend.measure, {}, settings)["errors"]
    assert found.groupby(["width", "depth"])["run"].unique().map(list).to_dict() == {
        (5, 2): [1000, 1001, 1002],
        (5, 4): [1000, 1001, 1002],
    }
    assert set(found["time"]) == {steps}  # the last; 100 and 1000 come later
    shown = memorised["errors"].query(f"network == 'narrow' and time == {steps}")
    assert not set(found["ratio"]) & set(shown["ratio"])
    # a run is the same network as one of that number that a figure would show
    first = memorisation.networks(5, 4, [1000], NETWORKS)
    descent = dynamics.Descent(
        rate=0.1,
        rho="kernel",
        loss_half=True,
        steps=steps,
        linear_steps=1,
        precision="float64",
    )
    own = dynamics.follow(first, descent, 1)
    ratio = found.query("depth == 4 and run == 1000")["ratio"].item()
    assert ratio == pytest.approx(own.ratios["gradient descent"][1][-1, 0], rel=1e-9)
    none = measured(depth_trend.measure, {}, settings | {"trend": {"runs": 0, "steps": 5}})[
        "errors"
    ]
    assert none.empty
    assert list(none) == list(found)


def test_further_spectra_are_those_of_galu_networks_that_are_not_trained(points):
    settings = PLANAR | {"draws": 3}
    found = measured(planar_spectra.measure, {}, settings)["kernels"]
    assert found.groupby("depth")["run"].unique().map(list).to_dict() == {
        2: [1000, 1001, 1002],
        4: [1000, 1001, 1002],
    }
    kernel = planar.networks("galu", 4, [1001], POINTS).kernel()[0].numpy()
    ratio = np.trace(kernel) / np.linalg.eigvalsh(kernel)[-1]
    row = found.query("depth == 4 and run == 1001")
    assert row["trace_over_rho_max"].item() == pytest.approx(ratio)
    assert not set(found["trace_over_rho_max"]) & set(points["kernels"]["trace_over_rho_max"])


def test_a_step_too_large_diverges_without_a_complaint():
    wild = PLANAR | {"rate": 1e6, "depths": [4], "steps": 30}
    curves = measured(planar.measure, {}, wild)["error_curves"]
    assert not (curves["dynamics"] == "gradient descent").any()
    assert np.isfinite(curves["ratio"]).all()


def test_galu_and_relu_share_points_targets_and_weights():
    galu = planar.networks("galu", 4, [0, 1], POINTS)
    relu = planar.networks("relu", 4, [0, 1], POINTS)
    assert torch.equal(galu.x, relu.x)
    assert torch.equal(galu.y, relu.y)
    assert all(map(torch.equal, galu.weights, relu.weights))
    assert not torch.equal(galu.x[0], galu.x[1])
    assert float(galu.x.abs().max()) <= 1
    shallow = planar.networks("relu", 2, [0, 1], POINTS)
    assert torch.equal(shallow.x, relu.x)


def test_one_example_in_closed_form(linear):
    """d = 2: e_{t+1} = e_t (1 - a K_t + a^2 e_t y_t)."""
    first = linear["runs"].query("depth == 2")
    np.testing.assert_allclose(first["kernel"], 2.0)
    output = np.array([_output(run) for run in first["run"]])
    error = output - 1
    step = 0.1 / 2
    expected = (1 - 2 * step + step**2 * error * output) ** 2
    np.testing.assert_allclose(first["first_ratio"], expected, rtol=1e-10)


def _output(run):
    weights = equal_variance_weights(
        [1, 20, 1], math.sqrt(1 / 20), [("dgn/deep_linear", 2, run, "weights")]
    )
    return float(weights[0][0] @ weights[1][0])


def test_steps_to_a_level_lie_between_steps():
    halving = 0.5 ** np.arange(10)
    assert deep_linear.steps_to(halving, 0.01) == pytest.approx(math.log2(100))
    assert math.isnan(deep_linear.steps_to(halving, 1e-9))
    assert deep_linear.steps_to(np.array([1.0, 0.0]), 0.01) == 1


def test_geometric_means_are_those_of_the_runs_and_resist_one_outlier(memorised):
    curves = memorised["error_curves"]
    errors = memorised["errors"]
    assert (curves["geometric"] <= curves["ratio"] * (1 + 1e-12)).all()
    one = {"network": "narrow", "depth": 4, "dynamics": "gradient descent", "time": 20}
    runs = errors[(errors[list(one)] == list(one.values())).all(axis=1)].query("run < 3")["ratio"]
    point = curves[(curves[list(one)] == list(one.values())).all(axis=1)]
    point = point[point["figure"] == "npf_fig7"].iloc[0]
    logs = np.log10(runs)
    assert np.log10(point["geometric"]) == pytest.approx(logs.mean())
    half = 2 * logs.std(ddof=1) / math.sqrt(3)
    assert np.log10(point["geometric_high"]) == pytest.approx(logs.mean() + half)
    assert np.log10(point["geometric_low"]) == pytest.approx(logs.mean() - half)


def test_an_error_that_underflows_is_no_divergence(memorised):
    tables = {
        "spectra": memorised["spectra"].assign(run=0),
        "errors": memorised["errors"].assign(ratio=0.0),
    }
    place = ["network", "width", "depth"]
    assert (mean_curves(tables, place, {"any": 2})["error_curves"]["diverged"] == 0).all()
