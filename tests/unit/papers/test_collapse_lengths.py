"""NC3 at equal tau for several lengths of training, and what their tables say."""

import numpy as np
import pytest
import torch
from tests.helpers.made_up_lengths import made_up_lengths
from tests.helpers.measuring import measured

from finitewidth.data.bundled import digits
from finitewidth.figures import style
from finitewidth.networks.normalised.plain import build, initial_state
from finitewidth.networks.normalised.specs import Network
from finitewidth.networks.normalised.stacked import StackedNetwork
from finitewidth.papers.collapse.experiments import length_effects, lengths, sweep
from finitewidth.papers.collapse.experiments.images import chosen_images
from finitewidth.papers.collapse.figures import length as figure_of_length
from finitewidth.papers.collapse.settings.decay import Lengths
from finitewidth.records.provenance import base_seed
from finitewidth.settings.typed import section_from

LENGTHS = {
    "dataset": "mnist",
    "loss": "squared",
    "init": "torch",
    "runs": 2,
    "network": {"kind": "fully_connected", "dense": [16, 12]},
    "images": {"per_class": 12, "pool": 1, "size": None, "test": 50},
    "decays": [0.01, 0.04],
    "taus": [0.25, 1.0],
    "largest_rate": 1.0,
    "epochs": [6, 12],
    "batch_per_class": 6,
    "momentum": 0.9,
    "decay_rate_at": [0.5],
    "start_decay": None,
}


@pytest.fixture(scope="module")
def runs():
    with base_seed(0):
        return measured(lengths.measure, {"data": digits()}, LENGTHS)["runs"]


RULE = {"trained": 0.95, "small_tau": 2.0, "strong_decay": 0.005}


def outcomes(table="judged", **powers):
    tables = measured(length_effects.measure, {"runs": made_up_lengths(**powers)}, RULE)
    return dict(zip(tables[table].iloc[:, 0], tables[table]["outcome"], strict=True))


def test_every_length_has_the_same_taus_and_a_smaller_intrinsic_rate(runs):
    assert list(runs.columns) == lengths.TABLES["runs"].names
    cell = ["seed", "decay", "tau"]
    short = runs[runs["epochs"] == 6].set_index(cell)
    long = runs[runs["epochs"] == 12].set_index(cell)
    assert set(short.index) <= set(long.index)  # a shorter training needs larger rates
    both = long.loc[short.index]
    np.testing.assert_allclose(both["intrinsic_rate"], short["intrinsic_rate"] / 2)
    np.testing.assert_allclose(both["rates"], short["rates"])
    np.testing.assert_allclose(runs["intrinsic_rate"], runs["rate"] * runs["decay"] / (1 - 0.9))


def test_a_length_is_trained_as_alone(runs):
    settings = section_from(Lengths, LENGTHS)
    images = chosen_images(digits(), settings.images)
    with base_seed(0):
        alone = sweep.trained(images, settings, 12, "collapse/lengths/1")
    together = runs[(runs["epochs"] == 12) & (runs["seed"] == 1)]
    np.testing.assert_array_equal(together["nc3"], [row["nc3"] for row in alone])


def test_scaled_starts_make_the_exchange_of_rate_and_decay_exact_for_normalised_weights():
    """Scaled weights of a normalised layer give the same outputs; the last layer stays as it is."""
    network = Network(kind="vgg", convolutions=(4, "M"), dense=(6,))
    state = initial_state(build(network, (1, 8, 8), 10), "lecun", "a start")
    assert sweep.start_of(network, state, 0.02, None) == state
    scaled = sweep.start_of(network, state, 0.02, start_decay=0.005)
    for name in ("features.conv1.weight", "features.dense1.weight"):
        torch.testing.assert_close(scaled[name], state[name] / 2)
    for name in ("head.weight", "features.norm1.weight", "features.norm1.running_mean"):
        assert scaled[name] is state[name]
    images = torch.rand(5, 1, 8, 8, generator=torch.Generator().manual_seed(1))
    wide = []
    for each in (state, scaled):
        wide.append(
            {
                name: tensor.double() if tensor.is_floating_point() else tensor
                for name, tensor in each.items()
            }
        )
    stack = StackedNetwork(network, (1, 8, 8), 10, wide)
    outputs = stack.forward(images.double(), training=True)[1]
    # normalisation adds 1e-5 to variances, which are of the order of 0.1 here
    torch.testing.assert_close(outputs[1], outputs[0], rtol=0.01, atol=0.001)


def test_powers_of_length_and_decay_are_found_at_equal_tau():
    networks = made_up_lengths(small_power=0.05, large_power=-0.3, length_power=0.04)
    large = networks[networks["tau"] > 2]
    small = networks[networks["tau"] < 2]
    assert length_effects.power(small, "decay", ["tau", "epochs"]) == pytest.approx(0.05, abs=0.01)
    assert length_effects.power(large, "decay", ["tau", "epochs"]) == pytest.approx(-0.3, abs=0.01)
    assert length_effects.power(large, "epochs", ["tau", "decay"]) == pytest.approx(0.04, abs=0.01)
    one_length = networks[networks["epochs"] == 10]
    assert np.isnan(length_effects.power(one_length, "epochs", ["tau", "decay"]))


def test_spreads_compare_the_least_and_the_largest_decay():
    networks = made_up_lengths(large_power=-0.3, seeds=5)
    spreads = length_effects.spreads(networks).set_index(["across", "tau", "at"])
    row = spreads.loc[("decay", 5.4, 40)]
    assert (row["least"], row["most"], row["seeds"]) == (0.00125, 0.02, 5)
    assert row["factor"] == pytest.approx(16**0.3, rel=0.03)
    assert row["low"] < 16**0.3 < row["high"]
    across_lengths = spreads.loc[("epochs", 5.4, 0.02)]
    assert across_lengths["factor"] == pytest.approx(4**-0.03, rel=0.03)


def test_each_criterion_holds_or_fails_with_the_networks():
    small_length, small_decay, large_length, large_decay, _, strong_decay, rank, ahead = (
        length_effects.RULE
    )
    found = outcomes(small_power=0.02, large_power=0.02)
    assert set(found.values()) == {"holds"}
    found = outcomes(small_power=0.02, large_power=-0.3)
    assert (found[small_decay], found[large_decay], found[strong_decay]) == (
        "holds",
        "fails",
        "fails",
    )
    assert outcomes(small_power=0.25)[small_decay] == "fails"
    found = outcomes(length_power=0.3)
    assert (found[small_length], found[large_length]) == ("fails", "fails")
    # NC3 that follows the intrinsic rate, tau over the length
    found = outcomes(small_power=0, large_power=0, length_power=0.7)
    assert found[ahead] == "fails"
    assert found[rank] != "holds"


def test_networks_that_do_not_fit_count_in_no_mean():
    runs = made_up_lengths()
    unfit = (runs["epochs"] == 10) & (runs["decay"] == 0.02) & (runs["seed"] == 0)
    runs.loc[unfit, ["train_accuracy", "nc3"]] = (0.5, 99.0)
    tables = measured(length_effects.measure, {"runs": runs}, RULE)
    cells = tables["cells"].set_index(["epochs", "decay", "tau"])
    assert set(cells.loc[(10, 0.02), "trained"]) == {2}
    assert cells["nc3"].max() < 2
    assert tables["spreads"]["factor"].max() < 3
    assert tables["judged"]["value"].abs().max() < 2


def test_statements_of_the_finding_are_refuted_by_networks_that_contradict_them():
    small, large = length_effects.STATEMENTS
    assert outcomes("statements", large_power=-0.27) == {small: "holds", large: "fails"}
    assert outcomes("statements", large_power=0.0)[large] == "holds"
    assert outcomes("statements", small_power=0.25)[small] == "fails"
    assert outcomes("statements", length_power=0.3)[small] == "fails"
    # networks whose NC3 is a function of the intrinsic rate, which is tau over the length
    of_rate = outcomes("statements", small_power=0, large_power=0, length_power=0.7)
    assert of_rate == {small: "fails", large: "fails"}


def test_the_figure_shows_every_cell_and_the_factors_at_the_largest_tau():
    runs = made_up_lengths()
    tables = measured(length_effects.measure, {"runs": runs}, RULE)
    cells = tables["cells"]
    spreads = tables["spreads"]
    rows = figure_of_length.select(tables, {})
    style.apply()
    figure = figure_of_length.draw(rows, {})
    over_tau, over_decay, _ = figure.axes
    assert len(over_tau.containers) == len(cells)
    assert len(over_decay.containers) == (cells["tau"] == 5.4).sum()
    words = over_decay.texts[-1].get_text()
    factor = spreads.query("across == 'decay' and tau == 5.4 and at == 40")["factor"].item()
    assert f"40 epochs, 0.00125–0.02: {factor:.2f} [" in words
