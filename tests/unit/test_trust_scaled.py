"""The control of trust at rates of their own, at a small size, and its figure."""

from itertools import product

import numpy as np
import pytest
import torch
from tests.artwork import faults
from tests.redrawn import redrawn, titles
from tests.unit.test_trust_descent import PRINTED, RELU

from finitewidth.common.provenance import base_seed
from finitewidth.data.bundled import digits
from finitewidth.kernels.trained import full_kernel
from finitewidth.papers.trust.experiments import descent
from finitewidth.papers.trust.figures import scaled
from finitewidth.training.fully_connected import Draw, initial_stack

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
    full = full_kernel(stack, x.double())
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


@pytest.fixture(scope="module")
def control():
    """The tables of both activations at both rates, and the paper's values."""
    found = dict(PRINTED)
    for activation, (rule, rate) in product(("tanh", "relu"), (("common", 1e-3), ("scaled", 1.0))):
        tables = measured(activation=activation, rate_rule=rule, rate=rate)
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
    wanted = ratios.groupby([networks["sigma_w2"], networks["depth"]]).mean()
    np.testing.assert_allclose(own.set_index(["sigma_w2", "depth"])["value"].loc[wanted.index],
                               wanted)  # fmt: skip
    assert [title.partition(",")[0] for title in titles(figure)] == ["tanh"] * 2 + ["ReLU"] * 2
    assert len(figure.axes) == 8
    assert faults(figure) == []
