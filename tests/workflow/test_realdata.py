"""A few minutes of preset laptop on real MNIST, where FINITEWIDTH_DATA says it is."""

import os

import pandas as pd
import pytest

pytestmark = [pytest.mark.workflow, pytest.mark.realdata]
SHORT = (
    "npf={regimes: {runs: 2, rows: {fc_sgd: {epochs: 3}}}, nu: {runs: 2, epochs: 10}, "
    "kvf: {runs: 1, epochs: 3}}"
)


@pytest.fixture(scope="module")
def real(make_checkout):
    """A checkout in which part of the preset ran on real MNIST."""
    if not os.environ.get("FINITEWIDTH_DATA"):
        pytest.skip("FINITEWIDTH_DATA is not set: real MNIST is not tested")
    checkout = make_checkout("real")
    trainings = [f"fc_sgd-{stack}" for stack in ("relu", "frozen")]
    targets = [f"results/laptop/npf/training/{name}/history.csv" for name in trainings]
    finished = checkout.run(*targets, "npf_nu", SHORT, preset="laptop")
    assert finished.returncode == 0, finished.stdout
    return checkout.path / "results/laptop/npf"


def test_three_epochs_of_relu_on_mnist(real):
    history = pd.read_csv(real / "training/fc_sgd-relu/history.csv")
    accuracy = history[history["epoch"] == 3]["test_accuracy"]
    assert len(accuracy) == 2
    assert accuracy.min() > 0.9


def test_learnt_gates_beat_random_ones_on_mnist(real):
    history = pd.read_csv(real / "training/fc_sgd-frozen/history.csv")
    best = history.groupby(["regime", "seed"])["test_accuracy"].max().groupby("regime").mean()
    assert best["flnpf"] > max(best["frnpf_ii"], best["frnpf_di"])


def test_nu_falls_on_mnist(real):
    curve = pd.read_csv(real / "experiments/nu.csv").sort_values("x")["y"]
    assert curve.iloc[-1] < curve.iloc[0]
