"""NC3 against tau, rates and decay: networks at equal tau, and what their tables say."""

import numpy as np
import pytest
import torch
from tests.collapsed_networks import decay as made_up

from finitewidth.common.errors import ConfigError
from finitewidth.common.provenance import base_seed
from finitewidth.data.bundled import digits
from finitewidth.papers.collapse.experiments import decay, sweep

pytestmark = pytest.mark.usefixtures("one_thread")

RULE = {"trained": 0.95, "end": 6.0}
SWEEP = {
    "sweep": "fully_connected", "dataset": "mnist", "loss": "squared", "init": "torch", "seeds": 2,
    "network": {"kind": "fully_connected", "dense": [16, 12]},
    "images": {"per_class": 24, "pool": 1, "size": None, "test": 50},
    "decays": [0.01, 0.04], "taus": [0.25, 1.0], "largest_rate": 1.0, "control_rates": [0.1],
    "epochs": 60, "batch_per_class": 6, "momentum": 0.9, "decay_rate_at": [0.5],
}  # fmt: skip


def swept(**changes):
    with base_seed(0):
        return sweep.measure({"data": digits()}, SWEEP | changes)["runs"]


@pytest.fixture(scope="module")
def runs():
    return swept()


def test_every_decay_has_the_rate_that_gives_tau(runs):
    assert list(runs.columns) == list(sweep.COLUMNS)
    decayed = runs[runs["decay"] > 0]
    np.testing.assert_allclose(decayed["tau"], decayed["rates"] * decayed["decay"])
    total = (120 + 12) / (1 - 0.9)  # half of 240 steps at a tenth of the rate
    np.testing.assert_allclose(runs["rates"], runs["rate"] * total)
    assert set(runs.loc[runs["decay"] == 0, "tau"]) == {0.0}
    assert set(sweep.cases_of(SWEEP | {"largest_rate": 0.05}, 240)) < set(
        sweep.cases_of(SWEEP, 240)
    )
    with pytest.raises(ConfigError, match="largest_rate"):
        sweep.cases_of(SWEEP | {"largest_rate": 1e-6}, 240)


def test_without_normalisation_imbalance_falls_with_exp_of_minus_two_tau(runs):
    """Gradient flow conserves it but for weight decay; steps are small here."""
    decayed = runs[runs["decay"] > 0]
    np.testing.assert_allclose(decayed["imbalance"], np.exp(-2 * decayed["tau"]), rtol=0.15)
    np.testing.assert_allclose(runs.loc[runs["decay"] == 0, "imbalance"], 1, rtol=0.05)


def test_the_imbalance_of_a_unit():
    hidden, head = torch.tensor([[3.0, 4.0], [1.0, 0.0]]), torch.tensor([[1.0, 2.0], [0.0, 2.0]])
    assert sweep.imbalances(hidden, head).tolist() == [24.0, -7.0]


def test_a_power_of_tau_alone_is_found_and_judged():
    tables = decay.measure({"sweeps": made_up()}, RULE)
    powers = tables["powers"].set_index(["sweep", "exponent"])["value"]
    assert powers["vgg", "tau"] == pytest.approx(-0.6, abs=0.03)
    assert powers["vgg", "decay"] == pytest.approx(0, abs=0.02)
    ranks = tables["ranks"].set_index(["sweep", "against"])["rank_correlation"]
    assert ranks["vgg", "tau"] < -0.9 < ranks["vgg", "decay"]
    judged = tables["judged"].set_index(["sweep", "criterion"])["outcome"].sort_index()
    overlap, balance = list(decay.RULE)[-2:]
    assert judged["fully_connected", balance] == "holds"
    assert judged["vgg", overlap] == "fails"
    assert set(judged["with_normalisation"].drop(overlap)) == {"holds"}
    shuffled = made_up()
    shuffled["nc3"] = np.random.default_rng(0).permutation(shuffled["nc3"])
    judged = decay.measure({"sweeps": shuffled}, RULE)["judged"].set_index(["sweep", "criterion"])
    assert judged.loc[("vgg", "rank correlation with tau"), "outcome"] != "holds"


def test_networks_that_do_not_fit_count_nowhere():
    rows = made_up()
    rows.loc[rows["sweep"] == "resnet", "train_accuracy"] = 0.5
    tables = decay.measure({"sweeps": rows}, RULE)
    assert "resnet" not in set(tables["ranks"]["sweep"])
    assert set(tables["cells"].query("sweep == 'resnet'")["trained"]) == {0}


def test_a_power_and_an_exponential_are_told_apart():
    rows = made_up().query("sweep == 'vgg' and decay > 0")
    power, exponential = decay.misfits(rows)
    assert power < 0.03 < 0.1 < exponential
    power, exponential = decay.misfits(rows.assign(nc3=np.exp(-0.3 * rows["tau"])))
    assert exponential == pytest.approx(0, abs=1e-9)
    assert power > 0.1
