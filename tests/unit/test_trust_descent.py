"""The descents of trust at a small size: their rows, their references, and their figures."""

from pathlib import Path

import numpy as np
import pytest
from tests.artwork import faults
from tests.redrawn import redrawn, reported, titles, words
from tests.small_settings import TRUST_DESCENT

from finitewidth.common.provenance import base_seed
from finitewidth.common.settings import read_yaml
from finitewidth.data.bundled import digits
from finitewidth.papers.trust.experiments import descent
from finitewidth.papers.trust.figures import change
from finitewidth.training.descent import descend
from finitewidth.training.descent_run import DescentPlan
from finitewidth.training.fully_connected import Draw, initial_stack

CONFIG = read_yaml(Path(__file__).resolve().parents[2] / "config/papers/trust.yaml")["trust"]
RELU = CONFIG["descent_relu"] | TRUST_DESCENT
PRINTED = {"reported": reported("trust")}
CELL = ["sigma_b2", "sigma_w2", "depth", "width"]


def measured(**changes):
    with base_seed(0):
        return descent.measure({"data": digits()}, RELU | changes)


@pytest.fixture(scope="module")
def tables():
    return measured()


def test_every_network_is_there_at_every_time(tables):
    changes, networks = tables["changes"], tables["networks"]
    # both bias variances at the width shown, the first at the other, with its own number of seeds
    assert len(networks) == len(networks.drop_duplicates([*CELL, "seed"])) == 3 * 2 * (2 * 2 + 1)
    assert len(changes) == 3 * len(networks)
    assert set(changes["time"]) == {10, 30, 60}
    assert set(networks.loc[networks["width"] == 12, "seed"]) == {0}
    assert set(networks.loc[networks["sigma_b2"] == 0, "width"]) == {6}
    np.testing.assert_allclose(tables["borders"]["sigma_w2"], 2)


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


def test_a_stopped_network_keeps_its_last_change():
    found = measured(rate=1e-20, runs=1, sigma_b2=[1], widths=[6], steps=400, times=[10, 300])
    stopped = found["networks"]["steps_taken"]
    assert (stopped == 100).all()
    assert (found["networks"]["stop_window"] == stopped).all()
    late = found["changes"].query("time > 100")
    assert (late["reached"] == 100).all()


def test_the_figure_of_the_end_shows_means_and_ranges(tables, tmp_path):
    rows, figure = redrawn(change, tables | PRINTED, RELU, tmp_path)
    cells = rows[rows["series"] == "cell"]
    assert len(cells) == 2 * 2 * 3 * 2
    ends = tables["changes"].query("time == 60 and width == 6 and sigma_b2 == 0")
    own = cells.query("quantity == 'change' and sigma_b2 == 0").set_index(["sigma_w2", "depth"])
    wanted = ends.groupby(["sigma_w2", "depth"])["change"]
    for name, values in (("value", wanted.mean()), ("lowest", wanted.min()),
                         ("highest", wanted.max())):  # fmt: skip
        np.testing.assert_allclose(own[name].loc[values.index], values)
    assert titles(figure) == [
        f"ReLU, $\\sigma_b^2 = {bias}$: {what}" for bias in (1, 0)
        for what in ("change of the NTK at the end", "lowest loss")
    ]  # fmt: skip
    assert [len(axis.texts) for axis in figure.axes[:4]] == [6] * 4
    assert faults(figure) == []


@pytest.mark.parametrize("deepest", [5, 20, 25])
def test_what_the_paper_states_is_marked(tables, tmp_path, deepest):
    """The bound on the scale of changes; the depth as a line, or above a map that ends before."""
    deep = {name: tables[name].assign(depth=tables[name]["depth"].replace(5, deepest))
            for name in ("changes", "networks")}  # fmt: skip
    _, figure = redrawn(change, tables | deep | PRINTED, RELU, tmp_path)
    theirs = [[line for line in axis.lines if line.get_gid() == "paper"] for axis in figure.axes]
    assert [len(lines) for lines in theirs] == [0, 1, 0, 1, 1, 0]
    assert theirs[4][0].get_xdata() == [1]
    height = {5: 2, 20: 1.5, 25: 0.5 + 18 / 23}[deepest]
    assert theirs[1][0].get_ydata()[0] == pytest.approx(height)
    assert theirs[1][0].get_marker() == ("^" if deepest == 5 else "None")
    assert theirs[1][0].get_xdata()[-1] == {5: 0.75}.get(deepest, 1.5)  # the border is at 1.5
    assert sum("paper (MNIST)" in word for word in words(figure)) == 2
    assert faults(figure) == []
