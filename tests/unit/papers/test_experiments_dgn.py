"""Experiments of dgn on inputs small enough to compute by hand or by definition."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
import torch
from tests.helpers.measuring import measured
from tests.helpers.small_histories import history_row, kept_weights
from tests.helpers.small_trainings import planned_trainings

from finitewidth.data.bundled import digits
from finitewidth.kernels import gated_ntk
from finitewidth.measures.nu_values import RIDGE, binary_examples
from finitewidth.papers.dgn.experiments import binary, mnist, nu, sweep, text
from finitewidth.papers.dgn.experiments.trainings import FROZEN
from finitewidth.settings.presets import preset_only

MNIST = {"pixels": "random_pixels", "trained": 0.85}
TWO_DIGITS = {"trained": 0.85}
SETTINGS = preset_only("paper", "config")["dgn"]


def row(regime="relu", epoch=1, seed=0, accuracy=0.5, **over):
    return history_row(
        regime=regime,
        epoch=epoch,
        seed=seed,
        train_accuracy=accuracy,
        test_accuracy=accuracy / 2,
        **over,
    )


def mnist_history(**over):
    variants = ("original", "random_labels", "random_pixels")
    rows = []
    for regime in ("relu", "galu"):
        for variant in variants:
            for epoch in (1, 2):
                for seed in range(2):
                    rows.append(
                        row(regime, epoch, seed, 0.4 * epoch + 0.1 * seed, variant=variant, **over)
                    )
    return pd.DataFrame(rows)


def test_fig5_means_and_spreads_of_every_panel():
    tables = measured(mnist.measure, {"histories": mnist_history()}, MNIST)
    curves = tables["curves"]
    assert curves.groupby(["panel", "series"]).size().to_dict() == {
        (panel, series): 2
        for panel in ("mnist", "labels", "pixels", "test")
        for series in ("ReLU", "GaLU")
    }
    last = curves[(curves["panel"] == "mnist") & (curves["x"] == 2)].iloc[0]
    assert (last["y"], last["spread"]) == (pytest.approx(0.85), pytest.approx(0.1 / 2**0.5))
    assert len(tables["runs"]) == 12
    assert set(tables["runs"]["train_images"]) == {10}  # accuracies are 0.4, 0.5, 0.8 and 0.9


@pytest.mark.parametrize(
    ("accuracies", "epochs"),
    [([0.5, 0.98, 1.0], 2.5), ([0.99], 1.0), ([1.0], 0.99), ([0.5, 0.9], np.nan)],
)
def test_epochs_to_an_accuracy_are_interpolated(accuracies, epochs):
    history = pd.DataFrame({"epoch": range(1, len(accuracies) + 1), "train_accuracy": accuracies})
    assert mnist.epochs_to(0.99, history) == pytest.approx(epochs, nan_ok=True)


@pytest.mark.parametrize("images", [359, 800, 50_000])
def test_the_number_of_images_is_told_from_accuracies(images):
    """Accuracies of single precision, as trainings keep them; one is missing."""
    counts = np.random.default_rng(images).integers(0, images, 200)
    accuracies = pd.Series([*(counts / images).astype(np.float32), np.nan])
    assert mnist.images_of(accuracies) == images
    # fewer if all are alike, so that a step is never taken for smaller than it is
    assert mnist.images_of(pd.Series([1.0, 1.0])) == 1


BINARY = ("relu", "soft_relu", "soft_galu", *FROZEN)


def binary_history(regimes=BINARY):
    rows = []
    for number, regime in enumerate(regimes):
        for epoch in (1, 2):
            for seed in range(2):
                rows.append(row(regime, epoch, seed, 0.9, test_loss=0.1 * number + 0.02 * seed))
    return pd.DataFrame(rows)


@pytest.mark.parametrize("soft_galu", ["soft_galu", "dlnpf"])
def test_fig7_puts_every_network_where_it_belongs(soft_galu):
    regimes = tuple(soft_galu if r == "soft_galu" else r for r in BINARY)
    inputs = {"histories": binary_history(regimes), "data": digits()}
    tables = measured(binary.measure, inputs, TWO_DIGITS | {"classes": [4, 7], "test": None})
    curves = tables["curves"].set_index(["panel", "series", "split", "x"])["y"]
    assert curves["test", "soft-GaLU", "test", 2] == pytest.approx(0.21)
    assert curves["adaptable", "frozen ReLU", "test", 2] == pytest.approx(0.31)
    assert curves["gates", "unlearnt gates", "test", 2] == pytest.approx(0.41)
    assert curves["gates", "learnt gates", "test", 2] == pytest.approx(0.51)
    assert curves["train", "ReLU", "train", 1] == pytest.approx(0.4)
    assert len(curves) == 2 * (4 + 4 + 4 + 4)
    assert len(tables["runs"]) == 12
    assert tables["runs"].set_index(["regime", "seed"]).loc[("relu", 1), "test_loss"] == 0.02


def test_test_images_are_counted_as_a_training_chooses_them():
    data = digits()
    labels = data.test_labels
    assert binary.count_test_images(data, None, [4, 7]) == int(
        ((labels == 4) | (labels == 7)).sum()
    )
    few = binary.count_test_images(data, 50, [4, 7])
    assert 8 <= few <= 12  # of ten classes two, exact to one image per class


def test_without_a_run_that_converged_there_are_no_curves_but_their_columns():
    history = mnist_history().assign(diverged=1)
    tables = measured(mnist.measure, {"histories": history}, MNIST)
    assert mnist.TABLES["curves"].checked_all(tables["curves"]).empty
    inputs = {"histories": binary_history().assign(diverged=1), "data": digits()}
    tables = measured(binary.measure, inputs, TWO_DIGITS | {"classes": [4, 7], "test": None})
    assert binary.TABLES["curves"].checked_all(tables["curves"]).empty


NU = {
    "classes": [4, 7],
    "per_class": 2,
    "gate": {"beta": 4.0, "eps": 0.1},
    "feature_hidden": "soft",
    "runs": 2,
    "trained": 0.85,
}


def nu_inputs():
    return {
        "data": digits(),
        "relu": kept_weights(["value"], width=40),
        "soft_relu": kept_weights(["value"], width=40, seed=4),
        "frozen": kept_weights(["value", "feature"], 6, width=40, seed=2),
        "soft_galu": kept_weights(["value", "feature"], width=40, seed=3),
        "histories": binary_history(),
    }


def test_fig8_takes_each_kernel_from_its_own_network():
    """Against the definition, yᵀ K⁻¹ y by a general solver, K from one network at a time."""
    inputs = nu_inputs()
    runs = measured(nu.measure, inputs, NU)["runs"].set_index(["panel", "series", "epoch", "seed"])
    x, y = binary_examples(inputs["data"], [4, 7], 2)

    def weights(name, part, replica):
        kept = inputs[name]
        layers = range(2 if part == "feature" else 3)
        return [torch.from_numpy(kept[f"epoch3/{part}/{n}.weight"][replica]) for n in layers]

    def solved(kernel):
        return float(y @ torch.linalg.solve(kernel, y))

    def agrees(panel, series, kernel):
        """Whether run 1 after epoch 3 has the nu of a kernel, normalised by its trace."""
        expected = solved(kernel / kernel.trace())
        return runs.loc[(panel, series, 3, 1), "nu"] == pytest.approx(expected, rel=1e-6)

    for series, name, gate in (
        ("ReLU", "relu", {"beta": None}),
        ("soft-ReLU", "soft_relu", NU["gate"]),
    ):
        values = weights(name, "value", 1)
        kernel = gated_ntk.soft_relu_ntk(x, values, None, **gate, with_biases=False)
        assert agrees("adaptable", series, kernel)
    lines = {
        "frnpf_di": ("adaptable", "frozen ReLU"),
        "galu": ("gates", "unlearnt gates"),
        "flnpf": ("gates", "learnt gates"),
    }
    for number, regime in enumerate(FROZEN):
        replica = 2 * number + 1
        gates = nu.feature_gates(x, weights("frozen", "feature", replica), None)
        values = weights("frozen", "value", replica)
        kernel = gated_ntk.value_kernel(x, values, None, gates, with_biases=False)
        assert agrees(*lines[regime], kernel)
    ka = gated_ntk.feature_kernel(
        x,
        (weights("soft_galu", "feature", 0), None),
        (weights("soft_galu", "value", 0), None),
        gated_ntk.Gating(beta=4.0, eps=0.1, hidden="soft"),
        with_biases=False,
    )
    assert runs.loc[("ka", "soft-GaLU", 3, 0), "nu"] == pytest.approx(solved(ka), rel=1e-6)
    normalised = runs.loc[("ka_hat", "soft-GaLU", 3, 0), "nu"]
    assert normalised == pytest.approx(solved(ka / ka.trace()), rel=1e-6)


def test_fig8_a_singular_kernel_gets_a_ridge_and_says_so():
    """Twice the same example with unlike labels: only a ridge lets that be inverted."""
    kernel = torch.ones(2, 2, dtype=torch.float64)
    (row,) = nu._nu(torch.tensor([1.0, -1.0]).double(), kernel, "gates")
    assert row["ridge"] == RIDGE
    assert "cannot be inverted" in row["problem"]
    # eigenvalue 0 + RIDGE/n, over a vector of squared length 2
    assert row["nu"] == pytest.approx(2 * 2 / RIDGE, rel=1e-4)


@pytest.mark.parametrize("kernel", [torch.zeros(2, 2), torch.full((2, 2), np.nan)])
def test_fig8_a_kernel_beyond_help_is_recorded_and_left_out(kernel):
    rows = list(nu._nu(torch.tensor([1.0, -1.0]).double(), kernel.double(), "ka"))
    assert [row["nu"] for row in rows] == [None, None]
    assert all(row["problem"] for row in rows)
    lines = []
    for panel, names in nu.LINES.items():
        for series in names:
            lines += [
                {"panel": panel, "series": series, "seed": 0, "nu": 2.0},
                {"panel": panel, "series": series, "seed": 1, "nu": None},
            ]
    runs = pd.DataFrame(lines).assign(epoch=0, ridge=0.0)
    runs["condition_number"] = runs["nu"]
    point = next(nu._curves(runs, {series: {} for series in nu.REGIMES}))
    assert (point["y"], point["runs"], point["failed"]) == (2.0, 1, 1)


def sweep_history():
    gates = [("linear", None, None), ("relu", None, None), ("soft_relu", 8.0, 0.1)]
    rows = []
    for (regime, beta, eps), epoch, seed in product(gates, (1, 2), range(2)):
        rows.append(row(regime, epoch, seed, 0.3 * epoch + 0.1 * seed, beta=beta, eps=eps))
    return pd.DataFrame(rows)


PRINTED = pd.DataFrame(
    [
        ("dgn_table4", "accuracy", "dln", "train", 0.7, "Table 4"),
        ("dgn_table4", "accuracy", "dln", "test", 0.7, "Table 4"),
        ("dgn_table4", "accuracy", "relu", "train", 0.7, "Table 4"),
        ("dgn_table4", "accuracy", "relu", "test", 0.7, "Table 4"),
        ("dgn_table4", "accuracy", "soft_relu_eps0.1_beta8", "train", 0.7, "Table 4"),
        ("dgn_table4", "accuracy", "soft_relu_eps0.1_beta8", "test", 0.7, "Table 4"),
        ("dgn_text", "test_accuracy", "cifar10", "gates_only", 60.0, "section 3"),
        ("dgn_text", "test_accuracy", "cifar10", "soft_relu", 60.0, "section 3"),
        ("dgn_text", "test_accuracy", "mnist", "galu", 60.0, "section 3"),
        ("dgn_text", "test_accuracy", "mnist", "relu", 60.0, "section 3"),
        ("dgn_text", "train_accuracy", "mnist", "all", 100.0, "section 3"),
    ],
    columns=["artifact", "quantity", "row", "column", "value", "place"],
)


def swept():
    inputs = {"histories": sweep_history(), "reported": PRINTED}
    return measured(sweep.measure, inputs, {"select": "best_test", "trained": 0.75})


def test_table4_names_its_rows_as_the_printed_ones():
    rows = swept()["rows"].set_index("network")
    assert list(rows.index) == ["dln", "relu", "soft_relu_eps0.1_beta8"]
    assert rows.loc["relu", "best_train_mean"] == pytest.approx(0.65)
    assert rows.loc["relu", "best_test_mean"] == pytest.approx(0.325)
    assert rows.loc["relu", "best_test_spread"] == pytest.approx(0.05 / 2**0.5)
    assert set(rows["reported_test"]) == {0.7}
    assert set(rows["train_accuracy_lowest"]) == {0.6}
    assert set(rows["trained"]) == {0}
    assert swept()["runs"]["trained"].tolist() == [0, 0, 0, 0, 0, 0]
    assert swept()["runs"]["train_images"].tolist() == [10] * 6


def test_the_text_table_takes_each_number_from_its_own_run():
    gates_only = [row("gates_only", 1, seed, 0.5, beta=8.0, eps=0.1) for seed in range(2)]
    inputs = {
        "gates_only": pd.DataFrame(gates_only),
        "mnist": measured(mnist.measure, {"histories": mnist_history()}, MNIST)["runs"],
        "sweep": swept()["runs"],
        "reported": PRINTED,
    }
    select = {"mnist": "best_test", "sweep": "best_test", "gates_only": "last"}
    settings = {"in_text": {"beta": 8, "eps": 0.1}, "select": select, "trained": 0.5}
    rows = measured(text.measure, inputs, settings)["rows"].set_index(["quantity", "row", "column"])
    means = rows.loc["test_accuracy", "mean"]
    assert means["cifar10", "gates_only"] == pytest.approx(25)
    assert means["cifar10", "soft_relu"] == pytest.approx(32.5)
    assert means["mnist", "galu"] == pytest.approx(42.5)
    # both networks on the images, as the paper says; not on random labels and random pixels
    assert rows.loc[("train_accuracy", "mnist", "all"), "runs"] == 4
    fitted = rows[["train_accuracy", "train_accuracy_lowest", "trained"]]
    assert fitted.loc[("test_accuracy", "cifar10", "gates_only")].tolist() == [50, 50, 1]
    assert fitted.loc[("train_accuracy", "mnist", "all")].tolist() == pytest.approx([85, 80, 0])


def test_pairs_that_are_compared_share_their_streams_and_learnt_gates_come_from_elsewhere():
    planned = planned_trainings("dgn", SETTINGS)
    names = {r.regime: r.name for r in planned["binary-frozen"].run.replicas if r.seed == 3}
    relu = planned["binary-relu"].run.replicas[3].name
    assert names["frnpf_di"] == relu
    assert names["galu"] == names["flnpf"] != relu
