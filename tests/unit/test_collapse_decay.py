"""NC3 against tau, rates and decay: networks at equal tau, and what their tables say."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from finitewidth.common.errors import ConfigError
from finitewidth.common.provenance import base_seed
from finitewidth.data.bundled import digits
from finitewidth.papers.collapse.experiments import decay, sweep

RULE = {"trained": 0.95, "end": 6.0}
SWEEP = {
    "sweep": "fully_connected", "dataset": "mnist", "loss": "squared", "init": "torch", "runs": 2,
    "network": {"kind": "fully_connected", "dense": [16, 12]},
    "images": {"per_class": 24, "pool": 1, "size": None, "test": 50},
    "decays": [0.01, 0.04], "taus": [0.25, 1.0], "largest_rate": 1.0, "control_rates": [0.1],
    "epochs": 60, "batch_per_class": 6, "momentum": 0.9, "decay_rate_at": [0.5],
}  # fmt: skip


def made_up():
    """Runs of all sweeps, of networks whose NC3 is a power of tau."""
    sizes = {"vgg": (0.001, 0.004, 0.016), "resnet": (0.005, 0.08), "patches": (0.001, 0.02),
             "fully_connected": (0.0001, 0.0016)}  # fmt: skip
    rows = []
    for (name, decays), seed in product(sizes.items(), range(3)):
        noise = np.random.default_rng([len(name), seed]).normal(0, 0.02, 99)
        cases = [*product(decays, (0.6, 1.8, 5.4)), *[(0.0, 0.0)] * (name == "vgg")]
        for (strength, tau), shift in zip(cases, noise, strict=False):
            rates = tau / strength if strength else 300.0
            nc3 = 0.6 * tau**-0.6 * np.exp(shift) if tau else 0.97
            rows.append({
                "sweep": name, "data": "cifar10" if name == "patches" else "mnist",
                "network": name, "normalised": int(name != "fully_connected"), "seed": seed,
                "decay": strength, "rate": rates / 1000, "rates": rates, "tau": tau, "nc3": nc3,
                "overlap": np.exp(-tau) + 0.05 * (tau > 0),
                "imbalance": np.exp(-2 * tau) if name == "fully_connected" else np.nan,
                "train_accuracy": 0.99,
            })  # fmt: skip
    return pd.DataFrame(rows)


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
    few, cases = (sweep.cases_of(SWEEP | {"largest_rate": rate}, 240) for rate in (0.05, 1.0))
    assert len(few) < len(cases)
    assert all(case in cases for case in few)
    with pytest.raises(ConfigError, match="largest_rate"):
        sweep.cases_of(SWEEP | {"largest_rate": 1e-6}, 240)


def test_without_normalisation_imbalance_falls_with_exp_of_minus_two_tau(runs):
    """Gradient flow conserves it but for weight decay; steps are small here."""
    decayed = runs[runs["decay"] > 0]
    np.testing.assert_allclose(decayed["imbalance"], np.exp(-2 * decayed["tau"]), rtol=0.15)
    np.testing.assert_allclose(runs.loc[runs["decay"] == 0, "imbalance"], 1, rtol=0.05)


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


def test_a_value_on_the_threshold_is_undecided():
    rows = made_up().query("sweep == 'vgg' and decay > 0")
    rows = rows.assign(decay=rows["tau"])  # they have the same ranks
    judged = decay.measure({"sweeps": rows}, RULE)["judged"].set_index(["sweep", "criterion"])
    row = judged.loc["vgg", "rank correlation with tau minus that with decay"]
    assert (row["low"], row["high"], row["outcome"]) == (0, 0, "undecided")


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


def test_intervals_over_seeds_are_those_of_a_table_of_students_t():
    """For 97.5 %, t is 12.706 with 1 degree of freedom and 4.303 with 2."""
    for values, quantile in (([1.0, 3.0], 12.706), ([1.0, 2.0, 6.0], 4.303)):
        rows = pd.DataFrame({"seed": range(len(values)), "nc3": values})
        found = decay.over_seeds(rows, lambda networks: networks["nc3"].item())
        half = quantile * np.std(values, ddof=1) / len(values) ** 0.5
        assert found["value"] == np.mean(values)
        assert found["high"] - found["low"] == pytest.approx(2 * half, rel=1e-4)
