"""A training that is interrupted, at any moment, ends with the bytes of one that was not."""

import csv
import hashlib
import json
import logging
import os
import pickle
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from finitewidth import records
from finitewidth.data.store import Dataset, write_dataset
from finitewidth.errors import ConfigError
from finitewidth.networks.architecture import Architecture, layers_of
from finitewidth.provenance import fingerprint
from finitewidth.training import loop
from finitewidth.training.checkpoints import CheckpointStore
from finitewidth.training.run import DataChoice, Replica, TrainingRun
from finitewidth.training.selection import best_by_replica, chosen_step_sizes, replica_number
from finitewidth.training.stack import Images, Trained, build_stack

EPOCHS, STEPS = 4, 3  # 40 images in batches of 16: the last is smaller
AGAIN = settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture(autouse=True)
def _one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def replicas_of(regime="relu", step_sizes=(0.1, 0.1, 0.02), **more):
    if regime in ("dlnpf", "soft_relu"):
        more = {"beta": 4.0, "eps": 0.1, **more}
    return tuple(
        Replica(name=f"run {seed}", regime=regime, seed=seed, step_size=size, **more)
        for seed, size in enumerate(step_sizes)
    )


def described(regime="relu", optimiser="sgd", **changes):
    usual = {
        "row": "row",
        "replicas": replicas_of(regime),
        "architecture": Architecture(dense=(6, 5)),
        "optimiser": optimiser,
        "batch_size": 16,
        "epochs": EPOCHS,
        "snapshots": (0, 2),
        "keep": ("best_test", "best_validation", "last"),
        "best_so_far": (1, 3),
    }
    return TrainingRun(**{**usual, **changes})


def make_images(count=40, tested=11, outputs=3, shape=(8,)):
    stream = torch.Generator().manual_seed(1)
    return Images(
        train_x=torch.rand(count, *shape, generator=stream),
        train_y=torch.randint(0, outputs, (count,), generator=stream),
        test_x=torch.rand(tested, *shape, generator=stream),
        test_y=torch.randint(0, outputs, (tested,), generator=stream),
        outputs=outputs,
    )


IMAGES = make_images()


class KilledError(Exception):
    """Stands for a kill."""


def interrupted(run, images, store, at, where="before"):
    """Train until step number ``at`` (from 0, of this process), and be killed there."""
    with pytest.MonkeyPatch.context() as patch:
        step, count = loop._Training._step, iter(range(10**6))

        def failing(self, batch):
            number = next(count)
            if number == at and where == "before":
                raise KilledError
            step(self, batch)
            if number == at:
                raise KilledError

        patch.setattr(loop._Training, "_step", failing)
        with pytest.raises(KilledError):
            loop.train(run, images, checkpoints=store, checkpoint_seconds=-1)


def assert_same(found, wanted):
    assert repr(found.history) == repr(wanted.history)
    assert list(found.weights) == list(wanted.weights)
    for name, array in wanted.weights.items():
        assert array.tobytes() == found.weights[name].tobytes(), name


@pytest.mark.parametrize("optimiser", ["sgd", "adam", "rmsprop"])
@pytest.mark.parametrize("where", ["before", "after"])
@pytest.mark.parametrize("at", range(1, EPOCHS * STEPS))
def test_interrupted_once_anywhere(tmp_path, at, where, optimiser):
    """Before a step, or after it and before its checkpoint; also at the ends of epochs."""
    run, store = described(optimiser=optimiser), CheckpointStore(tmp_path, "a")
    interrupted(run, IMAGES, store, at, where)
    assert store.latest()[0]["step"] > 0
    found = loop.train(run, IMAGES, checkpoints=store, checkpoint_seconds=-1)
    assert_same(found, loop.train(run, IMAGES))


@AGAIN
@given(
    pauses=st.lists(st.integers(0, 5), max_size=5),
    regime=st.sampled_from(["relu", "frnpf_ii", "frnpf_di", "dlnpf", "soft_relu"]),
    convolutional=st.booleans(),
)
def test_interrupted_again_and_again(tmp_path_factory, pauses, regime, convolutional):
    run, images = described(regime, "adam"), IMAGES
    if convolutional:
        run = replace(run, architecture=Architecture(channels=(2,), dense=(4,)))
        images = make_images(shape=(2, 4, 3))
    store = CheckpointStore(tmp_path_factory.mktemp("c"), "a")
    done = 0
    for pause in pauses:
        if done + pause < EPOCHS * STEPS:
            interrupted(run, images, store, pause)
            done += pause
    assert_same(
        loop.train(run, images, checkpoints=store, checkpoint_seconds=-1), loop.train(run, images)
    )


@pytest.mark.parametrize(
    ("method", "call"),
    [("_record", 1), ("_record", 3), ("_scores", 2), ("_keep_snapshots", 3), ("_keep_last", 1)],
)
def test_interrupted_between_epochs(tmp_path, monkeypatch, method, call):
    run, store = described(optimiser="adam"), CheckpointStore(tmp_path, "a")
    wanted = loop.train(run, IMAGES)
    original, calls = getattr(loop._Training, method), []

    def failing(self):
        calls.append(method)
        if len(calls) == call:
            raise KilledError
        return original(self)

    with monkeypatch.context() as patch:
        patch.setattr(loop._Training, method, failing)
        with pytest.raises(KilledError):
            loop.train(run, IMAGES, checkpoints=store, checkpoint_seconds=-1)
    assert_same(loop.train(run, IMAGES, checkpoints=store, checkpoint_seconds=-1), wanted)


def test_a_finished_training_resumes_to_its_result(tmp_path):
    run, store = described(), CheckpointStore(tmp_path, "a")
    wanted = loop.train(run, IMAGES, checkpoints=store, checkpoint_seconds=-1)
    assert_same(loop.train(run, IMAGES, checkpoints=store, checkpoint_seconds=-1), wanted)


def test_two_checkpoints_are_kept_and_cleared(tmp_path):
    run, store = described(), CheckpointStore(tmp_path, "a")
    interrupted(run, IMAGES, store, 7)
    assert sorted(path.name for path in store.folder.iterdir()) == [
        "000000000006.pt",
        "000000000007.pt",
    ]
    store.clear()
    assert not store.folder.exists()
    assert store.latest() == (None, [])
    store.clear()


def test_no_checkpoint_before_its_time(tmp_path):
    run, store = described(), CheckpointStore(tmp_path, "a")
    loop.train(run, IMAGES, checkpoints=store, checkpoint_seconds=3600)
    assert not store.folder.exists()


class Trap:
    """Makes a file when it is unpickled."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return (open, (self.path, "w"))


def sealed(path, content):
    """A checkpoint file with a right checksum, whatever it holds."""
    path.write_bytes(content + hashlib.sha256(content).digest())


def damage(path, how, mark):
    content = path.read_bytes()
    if how == "truncated":
        path.write_bytes(content[: len(content) // 2])
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "changed bit":
        place = content.index(b"PK", len(content) // 3) - 40
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
    elif how == "pickle":
        path.write_bytes(pickle.dumps(Trap(mark)))
    elif how == "sealed pickle":
        sealed(path, pickle.dumps(Trap(mark)))
    elif how == "sealed torch pickle":
        torch.save({"epoch": 1, "trap": Trap(mark)}, path)
        sealed(path, path.read_bytes())
    elif how == "no file":
        path.unlink()
        path.mkdir()


DAMAGES = [
    "truncated",
    "empty",
    "changed bit",
    "pickle",
    "sealed pickle",
    "sealed torch pickle",
    "no file",
]


@pytest.mark.parametrize("both", [False, True], ids=["newest", "both"])
@pytest.mark.parametrize("how", DAMAGES)
def test_damaged_checkpoints_are_left_out_and_never_executed(tmp_path, caplog, how, both):
    run, store, mark = (
        described(optimiser="adam"),
        CheckpointStore(tmp_path, "a"),
        tmp_path / "mark",
    )
    interrupted(run, IMAGES, store, 7)
    for path in sorted(store.folder.iterdir())[0 if both else 1 :]:
        damage(path, how, mark)
    state, complaints = store.latest()
    assert (state is None) == both
    assert len(complaints) == 1 + both
    assert all("is damaged and left out" in complaint for complaint in complaints)
    assert "000000000007.pt" in complaints[0]
    with caplog.at_level(logging.INFO, "finitewidth"):
        # so late that no checkpoint is written over the damaged ones
        found = loop.train(run, IMAGES, checkpoints=store, checkpoint_seconds=3600)
    assert sum("damaged" in line for line in caplog.messages) == 1 + both
    assert ("continuing after epoch 1, step 3" in caplog.text) is not both
    assert_same(found, loop.train(run, IMAGES))
    assert not mark.exists()


def test_a_half_written_checkpoint_is_not_met(tmp_path):
    run, store = described(), CheckpointStore(tmp_path, "a")
    interrupted(run, IMAGES, store, 4)
    (store.folder / ".000000000009-x.pt").write_bytes(b"half")
    state, complaints = store.latest()
    assert (state["epoch"], state["step"], complaints) == (1, 1, [])


def test_checkpoints_of_other_fingerprints_are_not_met(tmp_path):
    run = described()
    interrupted(run, IMAGES, CheckpointStore(tmp_path, "a"), 4)
    assert CheckpointStore(tmp_path, "b").latest() == (None, [])
    other = described(optimiser="adam")
    identities = {fingerprint(each.to_mapping()) for each in (run, other)}
    assert len(identities) == 2


def train_by_hand(run, images):
    """Every epoch's weights and accuracies, kept without the loop's own bookkeeping."""
    epochs = tuple(range(run.epochs + 1))
    result = loop.train(replace(run, snapshots=epochs, keep=(), best_so_far=()), images)
    weights = [
        {n.split("/", 1)[1]: a for n, a in result.weights.items() if n.startswith(f"epoch{e}/")}
        for e in epochs
    ]
    return weights, result.history


def test_labels_mean_what_they_say():
    """The epoch of the best accuracy, the earliest among equals, for each replica on its own."""
    sizes = replicas_of(step_sizes=(0.1, 1e-4, 0.02))
    run = described(replicas=sizes, epochs=9, snapshots=(0, 4), best_so_far=(2, 5))
    by_epoch, history = train_by_hand(run, IMAGES)
    weights = loop.train(run, IMAGES).weights
    tied = 0
    for place, replica in enumerate(run.replicas):
        rows = [row for row in history if row["seed"] == replica.seed]

        def best(column, last=run.epochs, rows=rows):
            scores = [row[column] for row in rows[:last]]
            return scores.index(max(scores)) + 1

        scores = [row["test_accuracy"] for row in rows]
        tied += scores.count(max(scores)) > 1
        wanted = {
            "best_test": best("test_accuracy"),
            "best_validation": best("test_accuracy_first"),
            "last": run.epochs,
            "epoch0": 0,
            "epoch4": 4,
            "best_so_far2": best("test_accuracy", 2),
            "best_so_far5": best("test_accuracy", 5),
        }
        assert {name.split("/")[0] for name in weights} == set(wanted)
        for label, epoch in wanted.items():
            for name, array in by_epoch[epoch].items():
                np.testing.assert_array_equal(
                    weights[f"{label}/{name}"][place], array[place], err_msg=f"{label} {name}"
                )
    assert tied, "the case should contain a tie"


def test_equal_accuracies_are_equal_numbers():
    """6 right among the odd images are as good as 1 among the even and 5 among the odd ones."""
    training = loop._Training(described(), make_images(tested=100), _stack(100), None, 1e9)
    training.run = replace(training.run, replicas=replicas_of(step_sizes=(0.1, 0.1)))
    right = torch.zeros(2, 100, dtype=torch.bool)
    right[0, [1, 3, 5, 7, 9, 11]] = True
    right[1, [0, 1, 3, 5, 7, 9]] = True
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "correct", lambda *_: right)
        patch.setattr(loop, "batch_losses", lambda *_: torch.zeros(2))
        patch.setattr(type(training.stack), "outputs", lambda *_: None)
        _, accuracy, first, second = training._scores()
    assert first.tolist() == [0.0, 0.02]
    assert second.tolist() == [0.12, 0.1]
    assert accuracy.tolist() == [0.06, 0.06]


def _stack(tested):
    images = make_images(tested=tested)
    run = described()
    return build_stack(run, layers_of(run.architecture, images.shape, 3), None, "cpu")


def test_one_test_image_is_enough():
    result = loop.train(described(), make_images(tested=1))
    assert {row["test_accuracy"] for row in result.history} <= {0.0, 1.0}
    assert all(np.isnan(row["test_accuracy_second"]) for row in result.history)


@pytest.mark.parametrize("optimiser", ["sgd", "adam"])
def test_a_diverged_replica_leaves_its_neighbours_alone(optimiser):
    """Bit for bit; it is marked, and its row goes on."""
    calm = replicas_of(step_sizes=(0.1, 0.1, 0.1))
    wild = (calm[0], replace(calm[1], step_size=1e30), calm[2])
    changes = {"architecture": Architecture(dense=(16, 16)), "optimiser": optimiser}
    images = make_images(shape=(16,))
    found = loop.train(described(replicas=wild, **changes), images)
    wanted = loop.train(described(replicas=calm, **changes), images)
    diverged = [row["diverged"] for row in found.history if row["seed"] == 1]
    assert diverged[-1] == 1
    assert diverged == sorted(diverged)
    assert len(diverged) == EPOCHS
    for seed in (0, 2):
        rows = [[row for row in each.history if row["seed"] == seed] for each in (found, wanted)]
        assert rows[0] == rows[1]
        assert not any(row["diverged"] for row in rows[0])
        for name, array in wanted.weights.items():
            np.testing.assert_array_equal(found.weights[name][seed], array[seed])


def test_history_is_tidy():
    history = loop.train(described(), IMAGES).history
    assert [(row["epoch"], row["seed"]) for row in history] == [
        (epoch, seed) for epoch in range(1, EPOCHS + 1) for seed in range(3)
    ]
    assert {tuple(row) for row in history} == {tuple(history[0])}


def test_pretrained_features_are_those_of_the_seed_and_its_best_step_size():
    earlier_run = described(
        replicas=tuple(
            Replica(name=f"{seed} at {size}", regime="relu", seed=seed, step_size=size)
            for size in (0.5, 1e-6)
            for seed in (0, 1)
        )
    )
    earlier = loop.train(earlier_run, IMAGES)
    run = described(
        "flnpf",
        replicas=replicas_of("flnpf", (0.1, 0.1), pretrained="best_test"),
        snapshots=(0,),
        keep=("last",),
        best_so_far=(),
    )
    weights = loop.train(run, IMAGES, earlier).weights
    chosen = chosen_step_sizes(earlier.history)["relu"]
    for seed in (0, 1):
        place = replica_number(earlier.history, seed)
        assert earlier_run.replicas[place].seed == seed
        assert earlier_run.replicas[place].step_size == chosen
        for layer in (0, 1):
            wanted = earlier.weights[f"best_test/value/{layer}.weight"][place]
            for label in ("epoch0", "last"):  # fixed: not learnt
                found = weights[f"{label}/feature/{layer}.weight"][seed]
                np.testing.assert_array_equal(found, wanted)
    assert "last/feature/2.weight" not in weights
    with pytest.raises(ConfigError, match=r"starts from weights 'best_test', .* kept nothing"):
        loop.train(run, IMAGES)
    other = Trained(earlier.history, {"last/value/0.weight": np.zeros(1)})
    with pytest.raises(ConfigError, match=r"kept \['last'\]"):
        loop.train(run, IMAGES, other)


def rows(*values):
    names = ("regime", "step_size", "seed", "epoch", "test_accuracy")
    return [dict(zip(names, map(str, value), strict=True)) for value in values]


def test_choice_of_step_sizes():
    """By the mean over seeds of the best epochs; the larger step on a tie. From text, as files."""
    history = rows(
        ("relu", 0.1, 0, 1, 0.5), ("relu", 0.1, 1, 1, 0.6),
        ("relu", 0.01, 0, 1, 0.9), ("relu", 0.01, 1, 1, 0.1),
        ("dlnpf", 0.1, 0, 1, 0.5), ("dlnpf", 0.01, 0, 1, 0.2),
        ("relu", 0.1, 0, 2, 0.4), ("relu", 0.1, 1, 2, 0.2),
        ("relu", 0.01, 0, 2, 0.2), ("relu", 0.01, 1, 2, 0.4),
        ("dlnpf", 0.1, 0, 2, 0.1), ("dlnpf", 0.01, 0, 2, 0.5),
    )  # fmt: skip
    assert best_by_replica(history)["relu", 0.01, 0] == 0.9
    assert chosen_step_sizes(history) == {"relu": 0.01, "dlnpf": 0.1}


def test_place_of_a_replica():
    history = rows(
        ("relu", 0.1, 0, 1, 0.5), ("relu", 0.01, 0, 1, 0.6),
        ("relu", 0.1, 3, 1, 0.5), ("relu", 0.01, 3, 1, 0.6),
    )  # fmt: skip
    assert [replica_number(history, seed) for seed in (0, 3)] == [1, 3]
    with pytest.raises(ConfigError, match="no run of seed 7"):
        replica_number(history, 7)


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
        ((*replicas_of("relu"), *replicas_of("dlnpf")), "dlnpf and relu cannot train in one stack"),
        (replicas_of("flnpf"), "`pretrained` is None, but the feature network starts pretrained"),
        (replicas_of("relu", pretrained="last"), "`pretrained` is 'last', but .* starts None"),
        (replicas_of("reluu"), "regime 'reluu' is unknown"),
    ],
)
def test_impossible_runs_are_refused(replicas, message):
    with pytest.raises(ConfigError, match=message):
        described(replicas=replicas)


# real kills: the job as a process of its own

JOB = """
import json, sys, time
from finitewidth.training import job, loop
step = loop._Training._step
def slow(self, batch):
    time.sleep(0.01)  # long enough to be killed within
    step(self, batch)
loop._Training._step = slow
print("ready", flush=True)
job.run_training(**json.loads(sys.argv[1]))
"""


def job_words(folder, data):
    outputs = {"history": "h.csv", "weights": "w.npz", "provenance": "p.json"}
    runtime = {"threads": 1, "device": "cpu", "checkpoints": str(folder / "checkpoints")}
    return {
        "inputs": {"data": str(data)},
        "outputs": {key: str(folder / name) for key, name in outputs.items()},
        "settings": described(optimiser="adam", epochs=8).to_mapping(),
        "code": "c",
        "runtime": {**runtime, "checkpoint_seconds": 0.001},
    }


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    generator = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("data") / "tiny.npz"
    write_dataset(path, Dataset(
        name="tiny", title="tiny", origin="made",
        train_images=generator.integers(0, 256, (70, 3, 3, 1), dtype=np.uint8),
        train_labels=np.arange(70) % 3,
        test_images=generator.integers(0, 256, (20, 3, 3, 1), dtype=np.uint8),
        test_labels=np.arange(20) % 3,
        class_names=("a", "b", "c"),
    ))  # fmt: skip
    return path


def start(words):
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", JOB, json.dumps(words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)


def test_a_killed_job_ends_with_the_bytes_of_one_left_in_peace(tmp_path, data):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    undisturbed = start(job_words(whole, data))
    words = job_words(killed, data)
    resumed = False
    for seconds in (0.0, 0.03, 0.15):
        process = start(words)
        process.stdout.readline()
        waiting = time.monotonic() + 60
        while seconds and not list((killed / "checkpoints").glob("*/[0-9]*.pt")):
            assert time.monotonic() < waiting
            time.sleep(0.005)
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL, "too fast to be killed"
        assert not Path(words["outputs"]["history"]).exists()
        resumed = resumed or bool(list((killed / "checkpoints").glob("*/*.pt")))
    assert resumed
    for process in (undisturbed, start(words)):
        process.communicate(timeout=60)
        assert process.returncode == 0
    for name in ("h.csv", "w.npz"):
        one, other = (folder / name for folder in (whole, killed))
        if name == "h.csv":
            assert one.read_bytes() == other.read_bytes()
        else:
            arrays = records.read_arrays(one), records.read_arrays(other)
            assert list(arrays[0]) == list(arrays[1])
            for key, array in arrays[0].items():
                assert array.tobytes() == arrays[1][key].tobytes()
    assert not list((killed / "checkpoints").glob("*/*"))
    stamps = [records.read_json(folder / "p.json") for folder in (whole, killed)]
    assert stamps[0]["fingerprint"] == stamps[1]["fingerprint"]
    with (whole / "h.csv").open(newline="") as stream:
        assert len(list(csv.DictReader(stream))) == 8 * 3
