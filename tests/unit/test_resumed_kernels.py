"""`trust_descent_*` and `beyond_training` continue from checkpoints, with the same tables."""

import pandas as pd
import pytest
from tests.unit.test_beyond_training import SETTINGS
from tests.unit.test_trust_descent import RELU

from finitewidth.common.provenance import base_seed
from finitewidth.data.bundled import digits
from finitewidth.papers.beyond.experiments import training
from finitewidth.papers.trust.experiments import descent
from finitewidth.training.checkpoints import Checkpoints, CheckpointStore
from finitewidth.training.fully_connected import Passes

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
