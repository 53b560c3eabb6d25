"""A training that is interrupted, at any moment, ends with the bytes of one that was not."""

import hashlib
import io
import logging
import pickle
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.helpers.killing import KilledError, killing
from tests.helpers.pickle_trap import Trap
from tests.helpers.small_trainings import EPOCHS, IMAGES, STEPS, described, make_images

from finitewidth.data.bundled import digits
from finitewidth.data.store import write_dataset
from finitewidth.networks.architecture import Architecture
from finitewidth.training import gated, job
from finitewidth.training.checkpoints import CheckpointStore
from finitewidth.training.run import DataChoice

AGAIN = settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def interrupted(run, images, store, at, where="before"):
    """Train until step number ``at`` (from 0, of this process), and be killed there."""
    with pytest.MonkeyPatch.context() as patch:
        step = killing(gated._Training._step, at, after=where == "after")
        patch.setattr(gated._Training, "_step", step)
        with pytest.raises(KilledError):
            gated.train(run, images, checkpoints=store)


def assert_same(found, wanted):
    assert repr(found.history) == repr(wanted.history)
    assert list(found.weights) == list(wanted.weights)
    for name, array in wanted.weights.items():
        assert array.tobytes() == found.weights[name].tobytes(), name


@pytest.mark.parametrize("where", ["before", "after"])
@pytest.mark.parametrize("at", range(1, EPOCHS * STEPS))
def test_interrupted_once_anywhere(tmp_path, at, where):
    """Before a step, or after it and before its checkpoint; also at the ends of epochs."""
    run = described(optimiser="adam")
    store = CheckpointStore(tmp_path, "a", -1.0)
    interrupted(run, IMAGES, store, at, where)
    assert store.latest()["done"] > 0
    found = gated.train(run, IMAGES, checkpoints=store)
    assert_same(found, gated.train(run, IMAGES))


@AGAIN
@given(
    pauses=st.lists(st.integers(0, 5), max_size=5),
    regime=st.sampled_from(["relu", "frnpf_ii", "frnpf_di", "dlnpf", "soft_relu"]),
    convolutional=st.booleans(),
)
def test_interrupted_again_and_again(tmp_path_factory, pauses, regime, convolutional):
    run = described(regime, "adam")
    images = IMAGES
    if convolutional:
        run = replace(run, architecture=Architecture(channels=(2,), dense=(4,)))
        images = make_images(shape=(2, 4, 3))
    store = CheckpointStore(tmp_path_factory.mktemp("c"), "a", -1.0)
    done = 0
    for pause in pauses:
        if done + pause < EPOCHS * STEPS:
            interrupted(run, images, store, pause)
            done += pause
    assert_same(gated.train(run, images, checkpoints=store), gated.train(run, images))


@pytest.mark.parametrize(
    ("method", "call"),
    [("_record", 1), ("_record", 3), ("_scores", 2), ("_keep_snapshots", 3), ("keep_last", 1)],
)
def test_interrupted_between_epochs(tmp_path, monkeypatch, method, call):
    run = described(optimiser="adam")
    store = CheckpointStore(tmp_path, "a", -1.0)
    expected = gated.train(run, IMAGES)
    with monkeypatch.context() as patch:
        original = getattr(gated._Training, method)
        patch.setattr(gated._Training, method, killing(original, call - 1))
        with pytest.raises(KilledError):
            gated.train(run, IMAGES, checkpoints=store)
    assert_same(gated.train(run, IMAGES, checkpoints=store), expected)


def test_two_checkpoints_are_kept_and_at_the_end_one(tmp_path):
    run = described()
    store = CheckpointStore(tmp_path, "a", -1.0)
    interrupted(run, IMAGES, store, 7)
    assert sorted(path.name for path in store.folder.iterdir()) == [
        "000000000006.pt",
        "000000000007.pt",
    ]
    for _ in range(2):
        store.keep_newest()
        assert [path.name for path in store.folder.iterdir()] == ["000000000007.pt"]


def sealed(content):
    """The content of a checkpoint file with a right checksum, whatever it holds."""
    return content + hashlib.sha256(content + b"a").digest()


def changed_bit(content, trap):
    place = content.index(b"PK", len(content) // 3) - 40
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


def torch_pickle(content, trap):
    stream = io.BytesIO()
    torch.save({"epoch": 1, "trap": trap}, stream)
    return sealed(stream.getvalue())


DAMAGES = {
    "truncated": lambda content, trap: content[: len(content) // 2],
    "empty": lambda content, trap: b"",
    "changed bit": changed_bit,
    "pickle": lambda content, trap: pickle.dumps(trap),
    "sealed pickle": lambda content, trap: sealed(pickle.dumps(trap)),
    "sealed torch pickle": torch_pickle,
}


def damage(path, how, mark):
    content = path.read_bytes()
    path.unlink()
    if how == "no file":
        path.mkdir()
    else:
        path.write_bytes(DAMAGES[how](content, Trap(mark)))


@pytest.mark.parametrize("both", [False, True], ids=["newest", "both"])
@pytest.mark.parametrize("how", [*DAMAGES, "no file"])
def test_damaged_checkpoints_are_left_out_and_never_executed(tmp_path, caplog, how, both):
    run = described(optimiser="adam")
    store = CheckpointStore(tmp_path, "a", -1.0)
    mark = tmp_path / "mark"
    interrupted(run, IMAGES, store, 7)
    for path in sorted(store.folder.iterdir())[0 if both else 1 :]:
        damage(path, how, mark)
    assert (store.latest() is None) == both
    damaged = [message for message in caplog.messages if "is damaged and is ignored" in message]
    assert len(damaged) == 1 + both
    assert "000000000007.pt" in damaged[0]
    caplog.clear()
    with caplog.at_level(logging.INFO, "finitewidth"):
        # so late that no checkpoint is written over the damaged ones
        found = gated.train(run, IMAGES, checkpoints=CheckpointStore(tmp_path, "a", 3600.0))
    assert sum("damaged" in line for line in caplog.messages) == 1 + both
    assert ("continuing after 6 of 12 steps" in caplog.text) is not both
    assert_same(found, gated.train(run, IMAGES))
    assert not mark.exists()


def test_a_training_with_another_base_seed_starts_anew(tmp_path, caplog):
    """It differs from the start, and checkpoints of the first, in the same folder, are not met."""
    write_dataset(tmp_path / "digits.npz", digits())
    settings = described(optimiser="adam", data=DataChoice(train=70, test=20)).to_mapping()
    outputs = {"history": str(tmp_path / "h.csv"), "weights": str(tmp_path / "w.npz")}
    runtime = {
        "threads": 1,
        "device": "cpu",
        "checkpoints": str(tmp_path / "checkpoints"),
        "checkpoint_seconds": 0.001,
    }
    found = []
    for seed in (0, 1, 0):
        assert "continuing after" not in caplog.text
        with caplog.at_level(logging.INFO, "finitewidth"):
            job.run_training(
                {"data": str(tmp_path / "digits.npz")}, outputs, settings, "c", runtime, seed
            )
        found.append(Path(outputs["history"]).read_bytes())
    assert found[0] == found[2] != found[1]
    assert len(list((tmp_path / "checkpoints").glob("*"))) == 2


def test_a_checkpoint_of_another_torch_is_not_continued(tmp_path, caplog, monkeypatch):
    write_dataset(tmp_path / "digits.npz", digits())
    settings = described(optimiser="adam", data=DataChoice(train=70, test=20)).to_mapping()
    outputs = {"history": str(tmp_path / "h.csv"), "weights": str(tmp_path / "w.npz")}
    checkpoints = tmp_path / "checkpoints"
    runtime = {
        "threads": 1,
        "device": "cpu",
        "checkpoints": str(checkpoints),
        "checkpoint_seconds": 0.001,
    }
    for version in ("2.9.1", "2.10.0"):
        monkeypatch.setattr(job, "versions_of", lambda packages, v=version: {"torch": v})
        with caplog.at_level(logging.INFO, "finitewidth"):
            job.run_training(
                {"data": str(tmp_path / "digits.npz")}, outputs, settings, "c", runtime
            )
    assert "continuing after" not in caplog.text
    assert len(list(checkpoints.glob("*"))) == 2
