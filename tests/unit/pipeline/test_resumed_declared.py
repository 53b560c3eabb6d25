"""What takes more than ten minutes at some preset continues after an interruption.

Every experiment that says so is killed at preset smoke and started again.
"""

import logging
import re
from importlib import import_module
from inspect import signature
from pathlib import Path

import pandas as pd
import pytest
from tests.helpers.killing import KilledError
from tests.helpers.project import ROOT

from finitewidth.data import bundled
from finitewidth.data.store import write_dataset
from finitewidth.declarations.papers import read_papers
from finitewidth.measures.job import run_experiment
from finitewidth.pipeline.costs import TABLE, read_costs
from finitewidth.pipeline.plan import Plan
from finitewidth.settings.presets import PRESETS, preset_only
from finitewidth.training.checkpoints import CheckpointStore

LONG = 600  # seconds
EXPERIMENTS = {
    e.name: e for paper in read_papers(ROOT / "workflow/papers") for e in paper.experiments
}
RESUMING = [name for name, declared in EXPERIMENTS.items() if declared.resumes]
# of these the first each, or all with --full
ALIKE = "trust_descent_", "trust_descent_scaled_", "collapse_training_"
SHORT = {next(name for name in RESUMING if name.startswith(each)) for each in ALIKE}


@pytest.mark.parametrize("preset", PRESETS)
def test_what_takes_more_than_ten_minutes_resumes(preset):
    rows = read_costs(ROOT / TABLE, preset)
    long = {name for name in EXPERIMENTS if name in rows and rows[name].seconds > LONG}
    assert long <= set(RESUMING), "declare them with resumes: true, see CONTRIBUTING.md"
    assert preset in ("smoke", "quick") or long


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_measure_takes_a_device_and_checkpoints_if_and_only_if_the_declaration_says_so(name):
    declared = EXPERIMENTS[name]
    taken = list(signature(import_module(declared.module).measure).parameters)
    further = ["device"] * declared.gpu + ["checkpoints"] * declared.resumes
    assert taken == ["inputs", "settings", *further]


class Saves:
    """Counts checkpoints as they are written, and raises after one of them."""

    def __init__(self, monkeypatch, kill_after=None):
        self.count = 0
        save = CheckpointStore.save

        def counted(store, state):
            save(store, state)
            self.count += 1
            if self.count == kill_after:
                raise KilledError

        monkeypatch.setattr(CheckpointStore, "save", counted)


@pytest.fixture(scope="module")
def smoke():
    return Plan(preset_only("smoke", ROOT / "config"), ROOT)


@pytest.fixture(scope="module")
def files(tmp_path_factory, smoke):
    """Name of an input -> file or files with the datasets, and made-up histories of trainings."""
    folder = tmp_path_factory.mktemp("inputs")
    makers = {
        "digits": bundled.digits,
        "warped_digits": bundled.warped_digits,
        "digits_on_patches": bundled.digits_on_patches,
    }

    def file_of(name):
        if name.startswith("config/"):
            return str(ROOT / name)
        path = folder / name
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            if "/training/" in name:
                write_history(path, *name.split("/")[-2].split("-"))
            else:
                write_dataset(path, makers[path.stem]())
        return str(path)

    def inputs_of(name):
        inputs = smoke.jobs[name].input_files
        return {
            key: file_of(value) if isinstance(value, str) else [file_of(v) for v in value]
            for key, value in inputs.items()
        }

    return inputs_of


def write_history(path, row, regime):
    scores = dict.fromkeys(("train_loss", "test_loss"), 1.0)
    scores |= {
        f"{which}_accuracy{half}": 0.5
        for which, half in (("train", ""), ("test", ""), ("test", "_first"), ("test", "_second"))
    }
    common = {
        "row": row,
        "regime": regime,
        "stage": "",
        "beta": "",
        "eps": "",
        "variant": "original",
        "step_size": 0.1,
        "epoch": 1,
        "diverged": 0,
    }
    pd.DataFrame([common | {"seed": seed} | scores for seed in (0, 1)]).to_csv(path, index=False)


def run(name, smoke, files, folder, checkpoints):
    outputs = {}
    for table, path in smoke.jobs.outputs(name).items():
        if table != "provenance":
            outputs[table] = str(folder / Path(path).name)
    run_experiment(
        EXPERIMENTS[name].module,
        files(name),
        outputs,
        smoke.evidence.params(name),
        "code",
        1,
        device="cpu" if smoke.jobs[name].on_device else None,
        checkpoints=str(checkpoints),
        checkpoint_seconds=-1.0,
    )
    return {table: Path(file).read_bytes() for table, file in outputs.items()}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name, marks=[pytest.mark.full] * (name.startswith(ALIKE) and name not in SHORT)
        )
        for name in RESUMING
    ],
)
def test_killed_between_two_checkpoints(name, smoke, files, tmp_path, monkeypatch, caplog):
    """It ends with the bytes of an undisturbed run, and what was stored is not computed again."""
    with monkeypatch.context() as patch:
        whole = Saves(patch)
        expected = run(name, smoke, files, tmp_path, tmp_path / "whole")
    assert whole.count > 1, "there is nothing between two checkpoints"
    saved = 0
    for kill in sorted({1, whole.count // 2}):
        with monkeypatch.context() as patch:
            saves = Saves(patch, kill_after=kill - saved)
            with pytest.raises(KilledError):
                run(name, smoke, files, tmp_path, tmp_path / "killed")
        saved += saves.count
    with monkeypatch.context() as patch, caplog.at_level(logging.INFO, "finitewidth"):
        saves = Saves(patch)
        assert run(name, smoke, files, tmp_path, tmp_path / "killed") == expected
    # a training saves the state that it continues from again
    assert whole.count <= saved + saves.count <= whole.count + 2
    assert re.search("continuing after|finished in an earlier run", caplog.text)
