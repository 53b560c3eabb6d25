"""What a training keeps, records and refuses: labels, history, diverged replicas, choices."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.helpers.small_trainings import EPOCHS, IMAGES, described, make_images, replicas_of

from finitewidth.common.errors import ConfigError
from finitewidth.networks.architecture import Architecture
from finitewidth.training import gated
from finitewidth.training.gated import build_stack
from finitewidth.training.history import HISTORY
from finitewidth.training.run import DataChoice, Replica, TrainingRun
from finitewidth.training.selection import chosen_step_sizes, replica_number


def train_by_hand(run, images):
    """Every epoch's weights and accuracies, kept without the loop's own bookkeeping."""
    epochs = tuple(range(run.epochs + 1))
    result = gated.train(replace(run, snapshots=epochs, keep=(), best_so_far=()), images)
    weights = []
    for e in epochs:
        weights.append(
            {n.split("/", 1)[1]: a for n, a in result.weights.items() if n.startswith(f"epoch{e}/")}
        )
    return weights, result.history


def test_labels_mean_what_they_say():
    """The epoch of the best accuracy, the earliest among equals, for each replica on its own."""
    sizes = replicas_of(step_sizes=(0.1, 1e-4, 0.02))
    run = described(replicas=sizes, epochs=9, snapshots=(0, 4), best_so_far=(2, 5))
    by_epoch, history = train_by_hand(run, IMAGES)
    weights = gated.train(run, IMAGES).weights
    tied = 0
    for place, replica in enumerate(run.replicas):
        rows = [row for row in history if row["seed"] == replica.seed]

        def best(column, last=run.epochs, rows=rows):
            scores = [row[column] for row in rows[:last]]
            return scores.index(max(scores)) + 1

        scores = [row["test_accuracy"] for row in rows]
        tied += scores.count(max(scores)) > 1
        expected = {
            "best_test": best("test_accuracy"),
            "best_validation": best("test_accuracy_first"),
            "last": run.epochs,
            "epoch0": 0,
            "epoch4": 4,
            "best_so_far2": best("test_accuracy", 2),
            "best_so_far5": best("test_accuracy", 5),
        }
        assert {name.split("/")[0] for name in weights} == set(expected)
        for label, epoch in expected.items():
            for name, array in by_epoch[epoch].items():
                np.testing.assert_array_equal(
                    weights[f"{label}/{name}"][place], array[place], err_msg=f"{label} {name}"
                )
    assert tied, "the case should contain a tie"


def test_equal_accuracies_are_equal_numbers():
    """6 right among the odd images are as good as 1 among the even and 5 among the odd ones."""
    images = make_images(tested=100)
    training = gated._Training(described(), images, build_stack(described(), images))
    training.run = replace(training.run, replicas=replicas_of(step_sizes=(0.1, 0.1)))
    right = torch.zeros(2, 100, dtype=torch.bool)
    right[0, [1, 3, 5, 7, 9, 11]] = True
    right[1, [0, 1, 3, 5, 7, 9]] = True
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gated, "correct", lambda *_: right)
        patch.setattr(gated, "batch_losses", lambda *_: torch.zeros(2))
        patch.setattr(type(training.stack), "outputs", lambda *_: None)
        _, accuracy, first, second = training._scores()
    assert first.tolist() == [0.0, 0.02]
    assert second.tolist() == [0.12, 0.1]
    assert accuracy.tolist() == [0.06, 0.06]


def test_one_test_image_is_enough():
    result = gated.train(described(), make_images(tested=1))
    assert {row["test_accuracy"] for row in result.history} <= {0.0, 1.0}
    assert all(np.isnan(row["test_accuracy_second"]) for row in result.history)
    HISTORY.check_rows(result.history)


@pytest.mark.parametrize("optimiser", ["sgd", "adam"])
def test_a_diverged_replica_leaves_its_neighbours_alone(optimiser, caplog):
    """Bit for bit; it is marked, and its row goes on."""
    calm = replicas_of(step_sizes=(0.1, 0.1, 0.1))
    wild = (calm[0], replace(calm[1], step_size=1e30), calm[2])
    changes = {"architecture": Architecture(dense=(16, 16)), "optimiser": optimiser}
    images = make_images(shape=(16,))
    with caplog.at_level("WARNING", logger="finitewidth"):
        found = gated.train(described(replicas=wild, **changes), images)
    (told,) = caplog.messages
    assert "1 of 3 replicas have diverged, now" in told
    assert "seed 1 (step size 1e+30)" in told
    expected = gated.train(described(replicas=calm, **changes), images)
    diverged = [row["diverged"] for row in found.history if row["seed"] == 1]
    assert diverged[-1] == 1
    assert diverged == sorted(diverged)
    assert len(diverged) == EPOCHS
    HISTORY.check_rows(found.history)
    for seed in (0, 2):
        rows = [[row for row in each.history if row["seed"] == seed] for each in (found, expected)]
        assert rows[0] == rows[1]
        assert not any(row["diverged"] for row in rows[0])
        for name, array in expected.weights.items():
            np.testing.assert_array_equal(found.weights[name][seed], array[seed])


def test_pretrained_features_are_those_of_the_seed_and_its_best_step_size():
    earlier_run = described(
        replicas=tuple(
            Replica(name=f"{seed} at {size}", regime="relu", seed=seed, step_size=size)
            for size in (0.5, 1e-6)
            for seed in (0, 1)
        )
    )
    earlier = gated.train(earlier_run, IMAGES)
    run = described(
        "flnpf",
        replicas=replicas_of("flnpf", (0.1, 0.1), pretrained="best_test"),
        snapshots=(0,),
        keep=("last",),
        best_so_far=(),
    )
    weights = gated.train(run, IMAGES, earlier).weights
    chosen = chosen_step_sizes(earlier.history)["relu"]
    for seed in (0, 1):
        place = replica_number(earlier.history, seed)
        assert earlier_run.replicas[place].seed == seed
        assert earlier_run.replicas[place].step_size == chosen
        for layer in (0, 1):
            expected = earlier.weights[f"best_test/value/{layer}.weight"][place]
            for label in ("epoch0", "last"):  # fixed: not learnt
                found = weights[f"{label}/feature/{layer}.weight"][seed]
                np.testing.assert_array_equal(found, expected)
    assert "last/feature/2.weight" not in weights


def test_gates_of_weights_that_are_not_finite_count_as_diverged():
    """They are all closed: the loss of the network that uses them stays finite."""
    sizes = (0.1, 0.1, 0.1)
    earlier = gated.train(described(replicas=replicas_of(step_sizes=sizes)), IMAGES)
    earlier.weights["last/value/1.weight"][2] = np.nan
    children = replicas_of("flnpf", sizes, pretrained="last")
    run = described(replicas=children, keep=(), best_so_far=())
    history = gated.train(run, IMAGES, earlier).history
    assert np.isfinite([row["train_loss"] for row in history]).all()
    assert [row["diverged"] for row in history] == [0, 0, 1] * EPOCHS


def rows(*values, diverged=0):
    names = ("regime", "step_size", "seed", "epoch", "test_accuracy", "diverged")
    return [dict(zip(names, map(str, (*value, diverged)), strict=True)) for value in values]


def test_choice_of_step_sizes():
    """By the mean over seeds of the best epochs; the larger step on a tie. From text, as files."""
    history = rows(
        ("relu", 0.1, 0, 1, 0.5),
        ("relu", 0.1, 1, 1, 0.6),
        ("relu", 0.01, 0, 1, 0.9),
        ("relu", 0.01, 1, 1, 0.1),
        ("dlnpf", 0.1, 0, 1, 0.5),
        ("dlnpf", 0.01, 0, 1, 0.2),
        ("relu", 0.1, 0, 2, 0.4),
        ("relu", 0.1, 1, 2, 0.2),
        ("relu", 0.01, 0, 2, 0.2),
        ("relu", 0.01, 1, 2, 0.4),
        ("dlnpf", 0.1, 0, 2, 0.1),
        ("dlnpf", 0.01, 0, 2, 0.5),
    )
    assert chosen_step_sizes(history) == {"relu": 0.01, "dlnpf": 0.1}


def test_a_step_size_with_a_diverged_run_is_chosen_only_where_all_have_one():
    """However good its best epoch was; and wherever in its history it diverged."""
    good = (("relu", 0.1, 0, 1, 0.9), ("relu", 0.1, 1, 1, 0.9))
    other = rows(("relu", 0.01, 0, 1, 0.4), ("relu", 0.01, 1, 1, 0.4))
    lost = rows(("relu", 0.1, 1, 2, 0.1), diverged=1)
    assert chosen_step_sizes(rows(*good) + other) == {"relu": 0.1}
    assert chosen_step_sizes(rows(*good) + other + lost) == {"relu": 0.01}
    also = rows(("relu", 0.01, 1, 2, 0.1), diverged=1)
    assert chosen_step_sizes(rows(*good) + other + lost + also) == {"relu": 0.1}


def test_a_run_survives_json():
    run = described(
        "flnpf",
        replicas=replicas_of("flnpf", pretrained="best_test", stage=2),
        architecture=Architecture(channels=(2, 3), dense=(4,), global_average_pooling=True),
        data=DataChoice(classes=(4, 7), train=10),
        loss="squared",
    )
    for each in (run, described(), described("dlnpf")):
        text = json.dumps(each.to_mapping())
        assert TrainingRun.from_mapping(json.loads(text)) == each
        assert json.dumps(TrainingRun.from_mapping(json.loads(text)).to_mapping()) == text


@pytest.mark.parametrize(
    ("replicas", "message"),
    [
        ((), "at least one replica"),
        (replicas_of("flnpf"), "`pretrained` is None, but the feature network starts pretrained"),
        (replicas_of("relu", pretrained="last"), "`pretrained` is 'last', but .* starts None"),
        (replicas_of("reluu"), "regime 'reluu' is unknown"),
    ],
)
def test_impossible_runs_are_refused(replicas, message):
    with pytest.raises(ConfigError, match=message):
        described(replicas=replicas)
