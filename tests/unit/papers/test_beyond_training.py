"""Kernels during training: the experiment against autograd, figures, and what is left open."""

import numpy as np
import pandas as pd
import pytest
import torch
from tests.claims.synthetic.beyond import blocks
from tests.helpers.measuring import measured
from tests.helpers.redrawn_figures import redrawn, reported, words
from tests.helpers.small_settings import BEYOND_TRAINING as SETTINGS
from torch import nn

from finitewidth.claims.verdicts import (
    CONTRADICTED,
    INCONCLUSIVE,
    SUPPORTED,
    CannotDecideError,
    decide,
)
from finitewidth.data.bundled import digits
from finitewidth.data.select import first_per_class
from finitewidth.kernels.trained import traced_kernel
from finitewidth.papers.beyond.experiments import training
from finitewidth.papers.beyond.figures import fig4
from finitewidth.papers.beyond.judges import training as judges
from finitewidth.training.fully_connected import Draw, Passes, initial_stack

CURVES = ["sigma_w2", "seed", "step"]


@pytest.fixture(scope="module")
def images():
    return digits()


@pytest.fixture(scope="module")
def tables(images):
    return measured(training.measure, {"data": images}, SETTINGS)


def by_autograd(images, variance, seed):
    """The loss at the end, and the kernel, of a network that torch trains by itself."""
    stack = initial_stack(
        (training.NAME,), [Draw(variance, 0.0, seed)], [64, 16, 16, 16, 10], "relu"
    )
    layers = []
    for weight, bias in zip(stack.weights, stack.biases, strict=True):
        layer = nn.Linear(*weight.shape[1:])
        layer.weight.data = weight[0].mT.clone()
        layer.bias.data = bias[0].clone()
        layers += [layer, nn.ReLU()]
    network = nn.Sequential(*layers[:-1])
    optimiser = torch.optim.Adam(network.parameters(), lr=SETTINGS["rate"])
    chosen = training.stratified_subset(images, 60, 30, (training.NAME,))
    x = torch.from_numpy(chosen.train_images / np.float32(255)).flatten(1).float()
    y = nn.functional.one_hot(torch.from_numpy(chosen.train_labels).long(), 10).float()

    def loss():
        return (network(x) - y).square().sum(dim=1).mean() / 2

    for _ in range(12):
        optimiser.zero_grad()
        loss().backward()
        optimiser.step()
    index = first_per_class(chosen.train_labels, range(10), 2)
    return float(loss().detach()), traced_kernel(network, x[index]).numpy()


@pytest.mark.parametrize("variance", SETTINGS["sigma_w2"])
def test_training_is_that_of_torch(images, tables, variance):
    loss, kernel = by_autograd(images, variance, 0)
    rows = tables["rows"].set_index(CURVES)
    assert rows.loc[variance, 0, 12]["train_loss"] == pytest.approx(loss, rel=1e-3)
    found = tables["kernels"].query(f"sigma_w2 == {variance} and step == 12")
    np.testing.assert_allclose(
        found["value"], kernel[found["row"], found["column"]], rtol=0.02, atol=1e-3 * kernel.max()
    )


def test_a_loss_in_pieces_is_the_loss(monkeypatch):
    stack = initial_stack(("test",), [Draw(2.0, 0.1, 0)], [5, 7, 3], "relu")
    x = torch.randn(11, 5)
    y = torch.randn(11, 3)
    direct = float((Passes(stack, x, y).forward()[0]).square().sum() / 22)
    for size in (4, 11, 100):
        monkeypatch.setattr(training, "CHUNK", size)
        assert training.loss(stack, x, y) == pytest.approx(direct, rel=1e-5)


def test_no_network_depends_on_the_others(images, tables):
    alone = measured(training.measure, {"data": images}, SETTINGS | {"runs": 1, "sigma_w2": [2.0]})
    whole = tables["rows"].query("sigma_w2 == 2 and seed == 0").reset_index(drop=True)
    pd.testing.assert_frame_equal(alone["rows"], whole)
    kernels = tables["kernels"].query("sigma_w2 == 2").reset_index(drop=True)
    pd.testing.assert_frame_equal(alone["kernels"], kernels)


def test_kernels_are_those_of_the_first_run_and_have_its_blocks(tables):
    rows = tables["rows"].set_index(CURVES)
    for (variance, step), kernel in tables["kernels"].groupby(["sigma_w2", "step"]):
        assert len(kernel) == 20 * 21 // 2
        own = rows.loc[variance, 0, step]
        off = kernel[kernel["row"] != kernel["column"]]
        diagonal = kernel.query("row == column").set_index("row")["value"]
        smaller = np.minimum(off["row"].map(diagonal), off["column"].map(diagonal))
        shares = (off["value"] / smaller).mean()
        assert own["over_smaller_diagonal"] == pytest.approx(shares, rel=1e-4)
        alike = off["class_row"] == off["class_column"]
        assert kernel.query("row == column")["share"].mean() == pytest.approx(1, rel=1e-4)
        for name, entries in (("same_class", off[alike]), ("other_class", off[~alike])):
            assert entries["value"].mean() == pytest.approx(own[name], rel=1e-4)
            share = own[name] / own["diagonal"]
            assert entries["share"].mean() == pytest.approx(share, rel=1e-4)


def test_curves_are_medians_of_losses_means_of_blocks_and_ranges_of_the_runs(tables):
    rows = tables["rows"]
    curves = tables["curves"].set_index(["quantity", "sigma_w2", "step"])
    assert len(curves) == len(training.QUANTITIES) * 2 * 4
    end = rows.query("sigma_w2 == 2 and step == 12")
    ratio = end["other_class"] / end["diagonal"]
    found = curves.loc["other_class", 2.0, 12]
    assert found["y"] == pytest.approx(ratio.mean())
    assert [found["low"], found["high"]] == [ratio.min(), ratio.max()]
    assert found["spread"] == pytest.approx((end["spread_other"] / end["diagonal"]).mean())
    assert curves.loc["test_loss", 2.0, 12]["y"] == end["test_loss"].median()
    apart = curves.loc["same_class", 2.0, 12]["y"] - found["y"]
    assert apart == pytest.approx(end["gap"].mean())


def drawn_figure(tables, data, folder):
    """Rows of Figure 4, and the figure as it is drawn from its data file."""
    tables = {**tables, "reported": reported("beyond")}
    return redrawn(fig4, tables, {"datasets": {"mnist": data}}, folder)


def test_values_of_the_paper_stand_at_its_last_step_and_are_never_joined_with_ours(
    tables, tmp_path
):
    rows, figure = drawn_figure(tables, "digits 8×8 (stand-in for MNIST)", tmp_path)
    printed = rows[rows["source"] == "paper"]
    assert set(printed["step"]) == {3000}
    assert set(printed["sigma_w2"]) == {1.0, 2.0}  # 2.2 was not trained here
    assert len(printed) == 8
    hollow = []
    for axis in figure.axes:
        for container in axis.containers:
            if container.lines[0].get_markerfacecolor() == "white":
                hollow.append(container.lines[0])
    drawn = sorted(float(y) for line in hollow for y in line.get_ydata())
    assert drawn == sorted(printed["value"])
    for line in (line for axis in figure.axes for line in axis.get_lines()):
        assert line.get_linestyle() == "None" or 3000 not in line.get_xdata()[-1:]
    assert "paper (MNIST)" in words(figure)
    assert "paper" in words(drawn_figure(tables, "MNIST", tmp_path)[1])


def test_an_order_of_gaps_that_is_not_clear_decides_nothing():
    tables = blocks()
    assert decide(judges.b21(tables)).verdict == SUPPORTED
    assert decide(judges.b21(blocks(order=-1.0))).verdict == CONTRADICTED
    rows = tables["rows"]
    gaps = rows["gap"].where(rows["sigma_w2"] != 2.2, 0.45 + 0.2 * (rows["seed"] - 1))
    tied = {"rows": rows.assign(gap=gaps)}
    parts = list(judges.b21(tied))
    assert decide(parts).verdict == INCONCLUSIVE
    assert parts[0].value > 0


def test_an_early_stage_that_was_not_observed_cannot_be_judged():
    rows = blocks()["rows"]
    with pytest.raises(CannotDecideError, match="step 500"):
        decide(judges.b20({"rows": rows[rows["step"] != 500]}))
    with pytest.raises(CannotDecideError, match="no network"):
        decide(judges.b19({"rows": rows[:0]}))


def test_printed_ratios_count_the_diagonal_as_the_script_does():
    rows = blocks()["rows"]
    found = {(one.row, one.column): one for one in judges.kernel_ratio({"rows": rows})}
    end = rows.query("sigma_w2 == 2.2 and step == 3000")
    one = found["sigma_w2_2.2_step3000", "same_class_over_diagonal"]
    expected = (end["same_class_with_diagonal"] / end["diagonal"]).mean()
    assert (one.value, one.runs) == (pytest.approx(expected), 3)
    assert len(found) == 6
