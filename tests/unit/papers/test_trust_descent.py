"""The descents of trust at a small size: their rows, their references, and their figures."""

from itertools import product

import numpy as np
import pytest
import torch
from tests.helpers import measuring
from tests.helpers.picture_faults import faults
from tests.helpers.project import ROOT
from tests.helpers.redrawn_figures import redrawn, reported, titles, words
from tests.helpers.small_settings import TRUST_DESCENT

from finitewidth.data.bundled import digits
from finitewidth.kernels.ntk_init.phases import CHAOTIC_FROM, ORDERED_UP_TO
from finitewidth.kernels.trained import full_kernel
from finitewidth.papers.trust import columns
from finitewidth.papers.trust.experiments import descent
from finitewidth.papers.trust.figures import change, scaled
from finitewidth.records.provenance import base_seed
from finitewidth.settings.yaml_files import read_yaml
from finitewidth.training.descent import DescentPlan, descend
from finitewidth.training.fully_connected import Draw, initial_stack

CONFIG = read_yaml(ROOT / "config/papers/trust.yaml")["trust"]
RELU = CONFIG["descent_relu"] | TRUST_DESCENT
PRINTED = {"reported": reported("trust")}
LOOK = {"artifact": "trust_fig4", "width": RELU["width"]}
CELL = ["sigma_b2", "sigma_w2", "depth", "width"]


def measured(**changes):
    with base_seed(0):
        return measuring.measured(descent.measure, {"data": digits()}, RELU | changes)


@pytest.fixture(scope="module")
def tables():
    return measured()


def test_every_network_is_there_at_every_time(tables):
    changes = tables["changes"]
    networks = tables["networks"]
    # both bias variances at the width shown, the first at the other, with its own number of seeds
    assert len(networks) == len(networks.drop_duplicates([*CELL, "seed"])) == 3 * 2 * (2 * 2 + 1)
    assert len(changes) == 3 * len(networks)
    assert set(changes["time"]) == {10, 30, 60}
    assert set(networks.loc[networks["width"] == 12, "seed"]) == {0}
    assert set(networks.loc[networks["sigma_b2"] == 0, "width"]) == {6}
    np.testing.assert_allclose(tables["borders"]["sigma_w2"], 2)


def test_the_phases_of_a_cell_are_described_with_the_margins_that_are_used():
    meaning = columns.CLEAR_PHASE.meaning
    assert meaning.startswith(f"ordered, up to {ORDERED_UP_TO:g} of the border's weight variance;")
    assert f"chaotic, from {CHAOTIC_FROM:g} of it on" in meaning


@pytest.mark.parametrize("changes", [{}, {"rate": 1000.0, "runs": 1}], ids=["ends", "diverges"])
def test_the_tables_have_their_columns_in_this_order(changes):
    found = measured(**changes)
    for name, table in descent.TABLES.items():
        assert list(found[name].columns) == table.names
        table.checked_all(found[name])


def test_a_network_is_that_of_a_descent_of_its_own(tables):
    """By the names of the random streams, without the rotation of the inputs."""
    x, y = descent.images(digits(), 20)
    with base_seed(0):
        stack = initial_stack(
            ("trust/descent", "relu"), [Draw(2, 1, 1)], [64, 6, 6, 6, 6, 10], "relu"
        )
    plan = DescentPlan(
        steps=60, rates=(0.001,), times=(10, 30), mode="steps", fall=1e-7, patience=100
    )
    rows = descend(stack, x, y, plan).snapshots
    found = tables["changes"].query(
        "sigma_b2 == 1 and sigma_w2 == 2 and depth == 5 and width == 6 and seed == 1"
    )
    np.testing.assert_allclose(found["change"], [row["change"] for row in rows[1:]], rtol=0.05)
    np.testing.assert_allclose(found["loss"], [row["loss"] for row in rows[1:]], rtol=0.02)


def test_the_loss_of_a_constant_is_the_least_of_all_constants():
    _, y = descent.images(digits(), 20)
    best = y.double().mean(dim=0)
    losses = [float((best + step - y).square().sum()) / 40 for step in (-1e-3, 0.0, 1e-3)]
    assert descent.constant_loss(y) == pytest.approx(losses[1], rel=1e-12)
    assert losses[1] < min(losses[0], losses[2])


def test_a_diverged_network_has_no_change_from_then_on():
    found = measured(rate=1000.0, runs=1, sigma_b2=[1], widths=[6])
    assert found["networks"]["diverged"].all()
    assert found["networks"]["exceeds"].all()
    assert (found["networks"]["steps_taken"] < 60).all()
    assert found["changes"].query("time == 60")["change"].isna().all()


def test_of_a_network_that_diverged_at_the_start_nothing_is_known():
    found = measured(runs=1, sigma_b2=[1], widths=[6], sigma_w2=[2, 1000], depths=[120])
    at_start = found["networks"]["steps_taken"] == 0
    assert found["networks"].loc[at_start, "sigma_w2"].tolist() == [1000]
    changes = found["changes"].query("sigma_w2 == 1000")
    assert (changes["reached"] == 0).all()
    assert changes[["change", "loss", "eta_lambda"]].isna().all(axis=None)


def test_a_stopped_network_keeps_its_last_change():
    found = measured(rate=1e-20, runs=1, sigma_b2=[1], widths=[6], steps=400, times=[10, 300])
    stopped = found["networks"]["steps_taken"]
    assert (stopped == 100).all()
    assert (found["networks"]["stop_window"] == stopped).all()
    late = found["changes"].query("time > 100")
    assert (late["reached"] == 100).all()


def test_the_figure_of_the_end_shows_means_and_ranges(tables, tmp_path):
    rows, figure = redrawn(change, tables | PRINTED, LOOK, tmp_path)
    cells = rows[rows["series"] == "cell"]
    assert len(cells) == 2 * 2 * 3 * 2
    ends = tables["changes"].query("time == 60 and width == 6 and sigma_b2 == 0")
    changes = cells.query("quantity == 'change' and sigma_b2 == 0")
    changes = changes.set_index(["sigma_w2", "depth"])
    expected = ends.groupby(["sigma_w2", "depth"])["change"].agg(["mean", "min", "max"])
    changes = changes.loc[expected.index]
    np.testing.assert_allclose(changes["value"], expected["mean"])
    np.testing.assert_allclose(changes["lowest"], expected["min"])
    np.testing.assert_allclose(changes["highest"], expected["max"])
    assert titles(figure) == [
        "ReLU, $\\sigma_b^2 = 1$: change of the NTK at the end",
        "ReLU, $\\sigma_b^2 = 1$: lowest loss",
        "ReLU, $\\sigma_b^2 = 0$: change of the NTK at the end",
        "ReLU, $\\sigma_b^2 = 0$: lowest loss",
    ]
    assert [len(axis.texts) for axis in figure.axes[:4]] == [6] * 4
    assert faults(figure) == []


@pytest.mark.parametrize("deepest", [5, 25])
def test_what_the_paper_states_is_marked(tables, tmp_path, deepest):
    """The bound on the scale of changes; the depth as a line, or above a map that ends before."""
    cells = tables["cells"]
    deep = {"cells": cells.assign(depth=cells["depth"].replace(5, deepest))}
    _, figure = redrawn(change, tables | deep | PRINTED, LOOK, tmp_path)
    of_the_paper = []
    for axis in figure.axes:
        of_the_paper.append([line for line in axis.lines if line.get_gid() == "paper"])
    assert [len(lines) for lines in of_the_paper] == [0, 1, 0, 1, 1, 0]
    (bound,) = of_the_paper[4]
    assert bound.get_xdata() == [1]
    (depth,) = of_the_paper[1]
    if deepest == 5:
        assert depth.get_marker() == "^"
        assert depth.get_ydata()[0] == 2
        assert depth.get_xdata()[-1] == 0.75
    else:
        assert depth.get_marker() == "None"
        assert depth.get_ydata()[0] == pytest.approx(0.5 + 18 / 23)
        assert depth.get_xdata()[-1] == 1.5  # the border
    assert sum(word.startswith("paper: ") for word in words(figure)) == 2
    assert faults(figure) == []


# ---- the control at rates of their own

SCALED = {
    "rate_rule": "scaled",
    "rate": 1.0,
    "mode": "steps",
    "widths": [6],
    "sigma_b2": [1],
    "depths": [2, 3],
}


def with_own_rates(**changes):
    return measured(**(SCALED | changes))


@pytest.fixture(scope="module")
def own():
    return with_own_rates()


def test_rates_are_those_of_the_largest_eigenvalue_of_the_full_kernel(own):
    x, _ = descent.images(digits(), 20)
    with base_seed(0):
        stack = initial_stack(("trust/descent", "relu"), [Draw(3, 1, 1)], [64, 6, 6, 10], "relu")
    stack = stack.copy(torch.float64)
    full = full_kernel(stack, x.double())
    expected = 20 / float(torch.linalg.eigvalsh(full.reshape(200, 200))[-1])
    found = own["networks"].query("sigma_w2 == 3 and depth == 3 and seed == 1")
    assert found["rate"].item() == pytest.approx(expected, rel=1e-3)
    assert own["networks"]["eta_lambda"].between(0.9, 1.001).all()
    half = with_own_rates(rate=0.5, sigma_w2=[3], depths=[3])["networks"]["rate"]
    np.testing.assert_allclose(
        half, own["networks"].query("sigma_w2 == 3 and depth == 3")["rate"] / 2, rtol=1e-6
    )


def test_both_rules_start_from_the_same_networks(own):
    common = with_own_rates(rate_rule="common", rate=1e-4)["networks"]
    np.testing.assert_array_equal(common["first_loss"], own["networks"]["first_loss"])
    assert (common["rate"] == 1e-4).all()
    assert own["networks"]["rate"].nunique() == len(own["networks"])


@pytest.fixture(scope="module")
def control():
    """The tables of both activations at both rates, and the paper's values."""
    found = dict(PRINTED)
    for activation, (rule, rate) in product(("tanh", "relu"), (("common", 1e-3), ("scaled", 1.0))):
        tables = with_own_rates(activation=activation, rate_rule=rule, rate=rate)
        found |= {f"{activation}_{rule}_{name}": table for name, table in tables.items()}
    return found


def test_the_figure_shows_what_both_rules_have(control, tmp_path):
    rows, figure = redrawn(scaled, control, {}, tmp_path)
    cells = rows[rows["series"] == "cell"]
    assert len(cells) == 2 * 2 * 2 * 3 * 2  # quantities, rules, activations, variances, depths
    own = cells.query("quantity == 'lowest_loss' and rate_rule == 'scaled'")
    own = own[own["activation"] == "tanh"]
    networks = control["tanh_scaled_networks"]
    ratios = networks["lowest_loss"] / networks["constant_loss"]
    expected = ratios.groupby([networks["sigma_w2"], networks["depth"]]).mean()
    np.testing.assert_allclose(
        own.set_index(["sigma_w2", "depth"])["value"].loc[expected.index], expected
    )
    assert [title.partition(",")[0] for title in titles(figure)] == ["tanh"] * 2 + ["ReLU"] * 2
    assert len(figure.axes) == 8
    assert faults(figure) == []
