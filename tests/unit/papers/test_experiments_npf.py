"""Experiments of npf on inputs small enough to compute by hand or by definition."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
import torch
from tests.helpers import kernels_by_definition as reference
from tests.helpers.cntk_by_definition import cntk_by_definition
from tests.helpers.measuring import measured
from tests.helpers.small_histories import history_row
from tests.helpers.small_histories import kept_weights as kept
from tests.helpers.small_trainings import planned_trainings

from finitewidth.data.bundled import digits, digits_on_patches
from finitewidth.data.select import stratified_subset
from finitewidth.kernels.gated_ntk import Gating, feature_gates, relu_gates
from finitewidth.measures.nu_values import binary_examples, network_at
from finitewidth.networks.architecture import Architecture
from finitewidth.papers.npf.experiments import cntk, kvf, nu, regimes, stages, text
from finitewidth.settings.presets import preset_only

ROWS = ("fc_sgd", "fc_adam", "vconv_sgd", "vconv_adam", "gconv_sgd", "gconv_adam")
REGIMES = ("frnpf_ii", "frnpf_di", "dlnpf", "flnpf", "relu")


def history(accuracy=0.5, regime="relu", row="fc_sgd", **over):
    return history_row(**{"test_accuracy": accuracy, "regime": regime, "row": row} | over)


def printed(paper):
    rows = []
    for row in ROWS:
        for _ in REGIMES:
            rows.append(row)
    return pd.DataFrame(
        {
            "artifact": f"{paper}_table2",
            "row": rows,
            "column": REGIMES * len(ROWS),
            "value": 60.0,
            "spread": 2.0,
            "runs": 5,
        }
    )


def of_table2(rows, **settings):
    inputs = {
        "histories": pd.DataFrame(rows),
        "reported_npf": printed("npf"),
        "reported_npf0": printed("npf0"),
    }
    return measured(regimes.measure, inputs, {"select": "best_test", "trained": 0.95, **settings})


def everywhere(**over):
    rows = []
    for row in ROWS:
        for regime in REGIMES:
            for seed in range(2):
                rows.append(history(0.5 + 0.1 * seed, regime, row, seed=seed, **over))
    return rows


def test_table2_compares_with_both_versions():
    rows = of_table2(everywhere())["rows"]
    assert rows.groupby("paper").size().to_dict() == {"npf": 30, "npf0": 30}
    cell = rows.iloc[0]
    assert (cell["best_test_mean"], cell["best_test_spread"]) == (
        pytest.approx(55),
        pytest.approx(50**0.5),
    )
    # sample form sqrt(50)/sqrt(2), printed population form 2/sqrt(5-1): combined sqrt(26)
    assert cell["difference"] == pytest.approx(-5)
    assert cell["difference_se"] == pytest.approx(-5 / np.sqrt(26))


def test_table2_takes_the_step_size_with_the_best_mean():
    tables = of_table2(everywhere(step_size=0.1) + everywhere(step_size=0.01))
    assert set(tables["rows"]["step_size"]) == {0.1}  # equal means: the larger step
    better = [row | {"test_accuracy": row["test_accuracy"] + 0.2} for row in everywhere()]
    tables = of_table2(everywhere() + [row | {"step_size": 0.01} for row in better])
    assert set(tables["rows"]["step_size"]) == {0.01}
    assert tables["runs"]["chosen"].sum() == 60


def staged(diverged=(), fitted=()):
    """Stages of two runs; ``diverged``: pairs (stage, seed); ``fitted``: their train accuracy."""
    fitted = dict(fitted)
    frozen = []
    for stage in range(3):
        for seed in range(2):
            frozen.append(
                history(
                    0.4 + 0.1 * stage + 0.02 * seed,
                    "flnpf" if stage else "frnpf_ii",
                    "stages",
                    seed=seed,
                    stage=stage,
                    diverged=int((stage, seed) in diverged),
                    train_accuracy=fitted.get((stage, seed), 1.0),
                )
            )
    relu = []
    random = []
    for run in everywhere():
        if run["row"] != "gconv_adam":
            continue
        if run["regime"] == "relu":
            # of two step sizes the better one counts
            relu += [run, run | {"step_size": 0.5, "test_accuracy": 0.1}]
        if run["regime"] == "flnpf":
            random.append(run)
        if run["regime"] == "frnpf_ii":
            random.append(run | {"test_accuracy": run["test_accuracy"] - 0.3})
    histories = {"frozen": frozen, "relu": relu, "random": random}
    inputs = {name: pd.DataFrame(rows) for name, rows in histories.items()}
    settings = {"select": "best_test", "trained": 0.95}
    return measured(stages.measure, inputs, settings)


def test_stages_average_runs_and_draw_references():
    curves = staged()["curves"].set_index("series")
    assert curves.loc["FLNPF", "y"].tolist() == pytest.approx([0.41, 0.51, 0.61])
    assert curves.loc["FLNPF", "spread"].tolist() == pytest.approx([0.02 / 2**0.5] * 3)
    # the lines are cells of Table 2, not stage 0
    assert curves.loc["FRNPF", "y"] == pytest.approx(0.25)
    assert curves.loc["ReLU", "y"] == pytest.approx(0.55)
    assert curves.loc[["FRNPF", "ReLU"], "spread"].tolist() == pytest.approx([0.1 / 2**0.5] * 2)
    # a number for CIFAR-10 is no line across curves of other images
    assert set(curves.index) == {"FLNPF", "FRNPF", "ReLU"}


def test_stages_keep_diverged_runs_even_if_none_of_them_is_left():
    tables = staged(diverged=[(0, 0), (0, 1), (2, 1)])
    runs = tables["runs"]
    assert runs["stage"].tolist() == [0, 0, 1, 1, 2, 2]
    assert runs["diverged"].tolist() == [1, 1, 0, 0, 0, 1]
    flnpf = tables["curves"].set_index("series").loc["FLNPF"]
    assert flnpf["x"].tolist() == [0, 1, 2]
    assert flnpf["runs"].tolist() == [0, 2, 1]
    assert flnpf["failed"].tolist() == [2, 0, 1]
    assert flnpf["y"].tolist()[1:] == pytest.approx([0.51, 0.6])
    assert np.isnan(flnpf["y"].iloc[0])


def text_inputs(diverged=()):
    """Two seeds, accuracies in percent: every cell its own, ``diverged``: (row, regime, seed)."""
    stages = []
    networks = []
    for seed in range(2):
        networks.append(
            {"regime": "relu", "seed": seed, "diverged": 0, "cross_fitted": 0.5 + seed / 10}
        )
        for stage in range(3):
            stages.append(
                {"stage": stage, "seed": seed, "diverged": 0, "best_test": 0.4 + stage / 10}
            )
    return {
        "regimes": regime_runs(diverged),
        "stages": pd.DataFrame(stages),
        "cntk_runs": pd.DataFrame(networks),
        "cntk": pd.DataFrame({"kind": "kernel", "train": [20, 10], "accuracy": [45.0, 30.0]}),
        "reported_npf": pd.read_csv("config/reported/npf.csv"),
    }


def regime_runs(diverged):
    """Runs of all cells of Table 2."""
    levels = {"frnpf_ii": 40, "frnpf_di": 42, "dlnpf": 49, "flnpf": 55, "relu": 60}
    runs = []
    for row, (regime, level), seed in product(ROWS, levels.items(), range(2)):
        runs.append(
            {
                "row": row,
                "regime": regime,
                "seed": seed,
                "chosen": 1,
                "train_last": 0.99,
                "diverged": int((row, regime, seed) in diverged),
                "best_test": (level + 2 * seed + 4 * (row == "gconv_sgd")) / 100,
            }
        )
    return pd.DataFrame(runs)


def text_rows(inputs):
    rows = measured(text.measure, inputs, {"select": "best_test"})["rows"]
    return rows.set_index(["row", "column"])


def test_each_number_of_the_text_comes_from_its_own_runs():
    rows = text_rows(text_inputs())
    assert rows["mean"].dropna().to_dict() == {
        ("gconv_adam", "frnpf"): pytest.approx(41),
        ("stage1", "flnpf"): pytest.approx(50),
        ("cifar10", "frnpf"): pytest.approx(44),  # 40, 42, 44, 46 and 2 more in the second run
        ("npf_learning", "over_frnpf"): pytest.approx(9),  # DLNPF gains least
        ("finite_cnn_low", "over_cntk"): pytest.approx(10),
        ("finite_cnn_high", "over_cntk"): pytest.approx(10),
        ("all", "all"): pytest.approx(99),
    }
    assert rows.loc[("stage6", "flnpf"), "runs"] == 0  # no such stage was trained
    assert rows.loc[("cifar10", "frnpf"), "reported"] == 68
    assert rows.loc[("npf_learning", "over_frnpf"), "spread"] == pytest.approx(0)


def test_a_number_of_the_text_leaves_out_seeds_of_which_a_run_diverged():
    rows = text_rows(text_inputs(diverged=[("gconv_sgd", "frnpf_di", 1)]))
    row = rows.loc[("cifar10", "frnpf")]
    assert (row["mean"], row["runs"], row["diverged"]) == (pytest.approx(43), 1, 1)
    assert rows.loc[("gconv_adam", "frnpf"), "diverged"] == 0


TWO_DIGITS = {"classes": [4, 7], "per_class": 3}


def test_nu_is_that_of_the_kernel_by_definition():
    data = digits()
    arrays = kept(["value"], width=12)
    tables = measured(nu.measure, {"data": data, "weights": arrays}, TWO_DIGITS)
    runs = tables["runs"]
    assert runs[["epoch", "seed"]].to_numpy().tolist() == [[0, 0], [0, 1], [3, 0], [3, 1]]
    index = np.concatenate([np.flatnonzero(data.train_labels == c)[:3] for c in (4, 7)])
    x = torch.from_numpy(data.train_images[index].reshape(6, 64) / 255)
    y = np.array([-1, -1, -1, 1, 1, 1.0])
    weights = [w[1] for w in network_at(arrays, 3, "value")[0]]
    kernel = reference.npk_by_jacobian(x, relu_gates(weights, None, x)).numpy()
    expected = y @ np.linalg.solve(kernel / np.trace(kernel), y)
    assert runs["nu"].iloc[3] == pytest.approx(expected, rel=1e-5)  # pixels are float32
    assert (tables["curves"]["runs"] == 2).all()


def test_nu_of_a_run_that_diverged_is_recorded_and_left_out():
    arrays = kept(["value"], width=12)
    arrays["epoch3/value/1.weight"][0] = np.nan
    tables = measured(nu.measure, {"data": digits(), "weights": arrays}, TWO_DIGITS)
    dead = tables["runs"].iloc[2]
    assert np.isnan(dead["nu"])
    assert "network is dead" in dead["problem"]
    assert tables["curves"][["runs", "failed"]].to_numpy().tolist() == [[2, 0], [1, 1]]
    assert tables["curves"]["y"].notna().all()
    numbers = tables["runs"].groupby("epoch")["condition_number"].max()
    assert tables["curves"]["condition_number"].tolist() == numbers.tolist()


def test_energies_of_the_labels_are_those_by_projection():
    """Against the squared length of y's projection on the span of k singular vectors."""
    data = digits()
    arrays = kept(["value"], width=12)
    arrays["epoch3/value/1.weight"][0] = np.nan
    tables = measured(nu.measure, {"data": data, "weights": arrays}, TWO_DIGITS)
    energy = tables["energy"].set_index(["panel", "series", "x"])
    x, y = binary_examples(data, [4, 7], 3)
    weights = [w[1] for w in network_at(arrays, 3, "value")[0]]
    kernel = reference.npk_by_jacobian(x, relu_gates(weights, None, x)).numpy()
    vectors = np.linalg.svd(kernel)[0]
    for k in range(1, 7):
        span = vectors[:, :k]
        expected = np.linalg.norm(span @ span.T @ y.numpy()) ** 2 / 6
        found = energy.loc[("energy", "epoch 3", k)]
        assert found["y"] == pytest.approx(expected, abs=1e-9)
        assert (found["runs"], found["failed"]) == (1, 1)
        assert energy.loc[("energy", nu.CHANCE, k), "y"] == pytest.approx(k / 6)
    second = energy.loc[("top", "first 2", 3), "y"]
    assert second == energy.loc[("energy", "epoch 3", 2), "y"]
    whole = tables["runs"].groupby("epoch")["nu"].mean()
    for epoch in (0, 3):
        assert energy.loc[("nu", f"epoch {epoch}", 6), "y"] == pytest.approx(whole[epoch], rel=1e-6)
    assert set(energy.loc["top"].index.get_level_values(0)) == {"first 1", "first 2", "first 5"}


def test_no_part_of_nu_comes_from_directions_a_kernel_lacks():
    y = torch.tensor([1.0, -1.0]).double()
    energy, parts = nu.split(y, lambda: torch.ones(2, 2).double() / 2)
    assert energy.tolist() == pytest.approx([0, 1])
    assert parts[0] == pytest.approx(0)
    assert np.isnan(parts[1])


def first_network(arrays, part):
    """Weights and biases of the first run at the start."""
    weights, biases = network_at(arrays, 0, part)
    return [weight[0] for weight in weights], [bias[0] for bias in biases]


def test_kernel_sizes_are_those_of_jacobians():
    data = digits()
    arrays = kept(["value", "feature"], bias=True, outputs=10)
    settings = {
        "per_class": 1,
        "gate": {"beta": 4, "eps": 0.1},
        "with_biases": False,
        "output": "logits_trace",
    }
    runs = measured(kvf.measure, {"data": data, "weights": arrays}, settings)["runs"]
    index = np.array([np.flatnonzero(data.train_labels == c)[0] for c in range(10)])
    x = torch.from_numpy(data.train_images[index].reshape(10, 64) / 255)
    value = first_network(arrays, "value")
    feature = first_network(arrays, "feature")
    gates = feature_gates(x, *feature, Gating(beta=4, eps=0.1))
    kv = reference.value_kernel_by_jacobian(x, *value, gates, with_biases=False)
    kf = reference.feature_kernel_by_jacobian(
        x, *feature, *value, beta=4, eps=0.1, with_biases=False
    )
    first = runs.iloc[0]
    for kernel, name in ((kv, "kv"), (kf, "kf")):
        assert first[f"trace_{name}"] == pytest.approx(float(kernel.trace()), rel=1e-5)
        assert first[f"frobenius_{name}"] == pytest.approx(float(kernel.norm()), rel=1e-5)


def test_differentiating_the_sum_of_the_softmax_gives_rounding_noise_only():
    """The authors' published code plots this quantity, which is 0 (docs/disagreements.md)."""
    arrays = kept(["value", "feature"], bias=True, outputs=10)
    settings = {"per_class": 1, "gate": {"beta": 4, "eps": 0.1}, "with_biases": False}
    sizes = {
        output: measured(
            kvf.measure, {"data": digits(), "weights": arrays}, {**settings, "output": output}
        )
        for output in ("logits_trace", "softmax_sum", "true_class_logit")
    }
    real = sizes["logits_trace"]["runs"]
    noise = sizes["softmax_sum"]["runs"]
    assert (noise["trace_kv"] < 1e-25 * real["trace_kv"]).all()
    assert (sizes["true_class_logit"]["runs"]["trace_kv"] > 0).all()


PAPER = preset_only("paper", "config")["npf"]


def test_relu_runs_share_no_stream_with_the_networks_that_take_their_gates():
    planned = planned_trainings("npf", PAPER)
    for name, training in planned.items():
        if training.earlier:
            earlier = {replica.name for replica in planned[training.earlier].run.replicas}
            assert not earlier & {replica.name for replica in training.run.replicas}, name


def pooled(images):
    """Means over 8×8 pixels of images (N, 16, 16, 3), with channels first: (N, 3, 2, 2)."""
    blocks = images.reshape(-1, 2, 8, 2, 8, 3)
    return blocks.mean(axis=(2, 4)).transpose(0, 3, 1, 2) / 255


def cntk_entries(images, others, architecture):
    """The CNTK of all pairs of images, each by its definition."""
    rows = []
    for one in images:
        rows.append([cntk_by_definition(one, two, architecture=architecture) for two in others])
    return np.array(rows)


def test_the_cntk_scores_as_ridge_regression_on_its_definition_does():
    data = digits_on_patches()
    network = {
        "kind": "convolutional",
        "channels": [2, 2],
        "padding": "same",
        "stride": 1,
        "global_average_pooling": True,
        "dense": [4],
    }
    histories = []
    for regime in REGIMES:
        for seed in range(3):
            histories.append(history(0.4 + 0.1 * seed, regime, "cntk", seed=seed))
    reported = pd.DataFrame({"artifact": ["npf_fig3"], "column": ["cntk"], "value": [77.43]})
    settings = {
        "train": 24,
        "test": 10,
        "pool": 8,
        "network": network,
        "sizes": [20],
        "ridges": [0.01],
        "comparable": {"cifar10": False},
        "trained": 0.95,
    }
    histories[-1] |= {"diverged": 1}
    inputs = {"data": data, "histories": pd.DataFrame(histories), "reported_npf": reported}
    rows = measured(cntk.measure, inputs, settings)["rows"]
    assert rows["kind"].tolist() == ["kernel"] * 2 + ["network"] * 5 + ["printed"]
    assert (rows["comparable"] == 0).all()
    assert rows["rounding"].max() < 1e-5

    subset = stratified_subset(data, 24, 10, ("subset", data.name))
    architecture = Architecture.from_mapping(network)
    train = pooled(subset.train_images)
    kernel = cntk_entries(train, train, architecture)  # (24, 24)
    across = cntk_entries(pooled(subset.test_images), train, architecture)  # (10, 24)
    onehot = np.eye(10)[subset.train_labels]
    mean = onehot.mean(axis=0)
    ridged = kernel + 0.01 * np.trace(kernel) / 24 * np.eye(24)
    scores = across @ np.linalg.solve(ridged, onehot - mean) + mean
    accuracy = (scores.argmax(axis=1) == subset.test_labels).mean()
    last = rows.iloc[1]
    assert (last["train"], last["accuracy"]) == (24, pytest.approx(100 * accuracy))
    assert last["condition_number"] == pytest.approx(np.linalg.cond(ridged), rel=1e-3)
    assert rows["trained"].iloc[2:7].tolist() == [1, 1, 1, 1, 0]  # a run of the last diverged
    flnpf = rows[rows["regime"] == "flnpf"].iloc[0]
    # runs at 40, 50 and 60 %: 10²/3 between runs, 50²/10 from ten test images
    assert flnpf["accuracy"] == pytest.approx(50)
    assert flnpf["standard_error"] == pytest.approx((100 / 3 + 250) ** 0.5)
    assert flnpf["dof"] == pytest.approx(2 * (1 + 250 / (100 / 3)) ** 2)
