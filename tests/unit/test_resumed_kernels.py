"""`trust_descent_*` and `beyond_training` continue from checkpoints, with the same tables."""

import itertools

import pandas as pd
import pytest
from tests.unit.test_beyond_training import SETTINGS
from tests.unit.test_trust_descent import RELU

from finitewidth.common.declarations import read_papers
from finitewidth.common.provenance import base_seed
from finitewidth.data.bundled import digits
from finitewidth.papers.beyond.experiments import training
from finitewidth.papers.trust.experiments import descent
from finitewidth.training.checkpoints import Checkpoints, CheckpointStore
from finitewidth.training.fully_connected import Passes

pytestmark = pytest.mark.usefixtures("one_thread")

DESCENT = RELU | {"steps": 20, "times": [10], "sigma_w2": [1, 3], "depths": [2, 4]}
CASES = {
    "common": (descent, DESCENT),
    "scaled": (descent, DESCENT | {"rate_rule": "scaled", "rate": 1.0, "mode": "steps"}),
    "flow": (descent, DESCENT | {"activation": "tanh", "mode": "flow", "steps": 200,
                                 "sigma_b2": [1], "widths": [6], "depths": [2, 3]}),
    "adam": (training, SETTINGS | {"runs": 1}),
}  # fmt: skip


class KilledError(Exception):
    """Stands for a kill."""


def run(case, checkpoints=None):
    module, settings = CASES[case]
    with base_seed(0):
        return module.measure({"data": digits()}, settings, checkpoints)


def same(found, wanted):
    assert found.keys() == wanted.keys()
    for name, table in wanted.items():
        pd.testing.assert_frame_equal(found[name], table, check_exact=True)


def counted(method, allowed, after=False):
    """A replacement of a method that raises at the call after ``allowed`` ones, and their list."""
    calls = []

    def replacement(self, *args, **words):
        if len(calls) == allowed and not after:
            raise KilledError
        calls.append(1)
        found = method(self, *args, **words)
        if len(calls) > allowed:
            raise KilledError
        return found

    return replacement, calls


@pytest.fixture(scope="module", params=CASES)
def undisturbed(request):
    return request.param, run(request.param)


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_killed_in_saving_again_and_again(tmp_path, undisturbed, after):
    """Inside stacks and between them: a checkpoint follows every gradient, a result every stack."""
    case, wanted = undisturbed
    checkpoints, kills = Checkpoints(tmp_path, "a", -1.0), 0
    for allowed in itertools.cycle((0, 7, 41, 90)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(CheckpointStore, "save", counted(CheckpointStore.save, allowed, after)[0])
            try:
                found = run(case, checkpoints)
                break
            except KilledError:
                kills += 1
    assert kills > 1
    same(found, wanted)


def test_what_has_ended_is_not_computed_again(tmp_path, undisturbed, monkeypatch):
    """With rare checkpoints, only results are stored: one per stack or network."""
    case, wanted = undisturbed
    checkpoints = Checkpoints(tmp_path, "a", 1e6)
    with monkeypatch.context() as patch:
        patch.setattr(CheckpointStore, "save", counted(CheckpointStore.save, 1)[0])
        with pytest.raises(KilledError):
            run(case, checkpoints)
    numbers = []
    for _ in range(3):
        replacement, calls = counted(Passes.gradient, 10**9)
        with monkeypatch.context() as patch:
            patch.setattr(Passes, "gradient", replacement)
            same(run(case, checkpoints), wanted)
        numbers.append(len(calls))
    assert numbers[0] > 0
    assert numbers[1:] == [0, 0]
    whole, calls = counted(Passes.gradient, 10**9)
    with monkeypatch.context() as patch:
        patch.setattr(Passes, "gradient", whole)
        run(case)
    assert 0 < numbers[0] < len(calls), "the first stack was computed again"


def test_parts_have_checkpoints_of_their_own(tmp_path):
    run("common", Checkpoints(tmp_path, "a", 1e6))
    assert len(list(tmp_path.rglob("*.pt"))) == 3 * 2  # maps, depths
    run("adam", Checkpoints(tmp_path, "b", 1e6))
    assert len(list(tmp_path.rglob("b/**/*.pt"))) == 2 * 1  # weight variances, runs


def test_the_declarations_say_so(request):
    papers = read_papers(request.config.rootpath / "workflow/papers")
    found = {e.name for paper in papers for e in paper.experiments if e.resumes}
    rules = {"trust_descent_tanh", "trust_descent_relu", "trust_descent_scaled_tanh",
             "trust_descent_scaled_relu", "beyond_training"}  # fmt: skip
    assert rules <= found
