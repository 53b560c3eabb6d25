"""The control of trust at rates of their own, at a small size, and its figure."""

import numpy as np
import pandas as pd
import pytest
import torch
from matplotlib.text import Text
from tests.captions.synthetic_training import control
from tests.unit.test_trust_descent import CELL, RELU

from finitewidth.captions.facts.scaled import control as facts
from finitewidth.common.provenance import base_seed
from finitewidth.data.bundled import digits
from finitewidth.experiments.trust import descent
from finitewidth.figures.trust import scaled
from finitewidth.kernels.trained import FullyConnected, full_kernel
from finitewidth.training.fully_connected import Draw, initial_stack

pytestmark = pytest.mark.usefixtures("one_thread")

SCALED = RELU | {"rate_rule": "scaled", "rate": 1.0, "mode": "steps", "widths": [6],
                 "sigma_b2": [1], "depths": [2, 3]}  # fmt: skip


def measured(**changes):
    with base_seed(0):
        return descent.measure({"data": digits()}, SCALED | changes)


@pytest.fixture(scope="module")
def own():
    return measured()


def test_rates_are_those_of_the_largest_eigenvalue_of_the_full_kernel(own):
    x, _ = descent.images(digits(), 20)
    with base_seed(0):
        stack = initial_stack(("trust/descent", "relu"), [Draw(3, 1, 1)], [64, 6, 6, 10], "relu")
    stack = stack.copy(torch.float64)
    full = full_kernel(FullyConnected(stack.weights, stack.biases, "relu"), x.double())
    wanted = 20 / float(torch.linalg.eigvalsh(full.reshape(200, 200))[-1])
    found = own["networks"].query("sigma_w2 == 3 and depth == 3 and seed == 1")
    assert found["rate"].item() == pytest.approx(wanted, rel=1e-3)
    assert own["networks"]["eta_lambda"].between(0.9, 1.001).all()
    half = measured(rate=0.5, sigma_w2=[3], depths=[3])["networks"]["rate"]
    np.testing.assert_allclose(half, own["networks"].query("sigma_w2 == 3 and depth == 3")["rate"]
                               / 2, rtol=1e-6)  # fmt: skip


def test_both_rules_start_from_the_same_networks(own):
    common = measured(rate_rule="common", rate=1e-4)["networks"]
    np.testing.assert_array_equal(common["first_loss"], own["networks"]["first_loss"])
    assert (common["rate"] == 1e-4).all()
    assert own["networks"]["rate"].nunique() == len(own["networks"])


@pytest.mark.parametrize("rule", ["common", "scaled"])
def test_removing_networks_changes_no_row_of_the_others(rule):
    """Widths, samples and outputs times samples are multiples of 16, so it holds bit for bit."""
    sizes = {"samples": 32, "width": 16, "widths": [16], "rate_rule": rule,
             "rate": 1.0 if rule == "scaled" else 1e-3}  # fmt: skip
    whole = measured(**sizes)
    for part in (measured(**sizes, runs=1), measured(**sizes, sigma_w2=[3])):
        for name in ("changes", "networks"):
            keys = [*CELL, "seed", *(["time"] if name == "changes" else [])]
            rows = part[name][keys].merge(whole[name], on=keys)[part[name].columns]
            assert len(rows) == len(part[name]) < len(whole[name])
            pd.testing.assert_frame_equal(rows, part[name], check_exact=True)


def test_the_figure_shows_what_both_rules_have():
    tables = control(True)
    rows = scaled.select(tables, {})
    cells = rows[rows["series"] == "cell"]
    assert len(cells) == 2 * 2 * 2 * 3 * 4  # panels, rules, activations, variances, depths
    own = cells.query("panel == 'loss' and rule == 'scaled' and activation == 'tanh'")
    networks = tables["tanh_scaled_networks"]
    ratios = networks["lowest_loss"] / networks["constant_loss"]
    wanted = ratios.groupby([networks["sigma_w2"], networks["depth"]]).mean()
    np.testing.assert_allclose(own.set_index(["x", "y"])["value"].loc[wanted.index], wanted)
    figure = scaled.draw(rows, {})
    titles = [axis.get_title() for axis in figure.axes if axis.get_title()]
    assert len(titles) == 4
    assert len(figure.axes) == 8
    sizes = [text.get_fontsize() for text in figure.findobj(match=Text) if text.get_text()]
    assert min(sizes) >= 6.5


def test_steep_diverged_and_high_points_are_marked():
    tables = control(True)
    networks = tables["relu_common_networks"]
    shown = networks["map"] == "shown"
    deep = shown & (networks["depth"] == 15) & (networks["sigma_w2"] == 1)
    networks.loc[deep & (networks["seed"] == 0), "diverged"] = 1
    networks.loc[shown & (networks["depth"] == 10), "lowest_loss"] = 1e5
    rows = scaled.select(tables, {})
    figure = scaled.draw(rows, {})
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    for label in scaled.LABELS.values():
        assert label in labels
    axis = next(a for a in figure.axes if a.get_title() == "ReLU, common rate")
    found = {line.get_marker(): line for line in axis.lines if line.get_linestyle() == "None"}
    assert found["x"].get_xdata().tolist() == [1]
    above = [line for line in axis.lines if line.get_marker() == "^"]
    assert above[0].get_xdata().tolist() == [1, 2, 3]
    assert set(above[0].get_ydata()) == {scaled.HIGHEST["loss"]}
    plain = scaled.draw(scaled.select(control(False), {}), {})
    labels = [text.get_text() for text in plain.legends[0].get_texts()]
    assert not set(scaled.LABELS.values()) & set(labels)


def test_facts_say_what_turns_only_if_it_does():
    found = facts(control(True))
    assert found["turned"] == ["tanh", "ReLU"]
    assert (found["lost"], found["trained"], found["mostly"]) == (8, 8, True)
    assert found["lines"].startswith("tanh, L = 15: 2.00 and 1.40 (common), 0.67 and 1.40 (scaled)")
    tables = control(True)
    one = tables["relu_scaled_networks"]
    worse = (one["seed"] == 0) & (one["sigma_w2"] == 1)
    one.loc[worse, "lowest_loss"] *= 9
    assert facts(tables)["turned"] == ["tanh"]
    assert facts(control(False))["turned"] == []
