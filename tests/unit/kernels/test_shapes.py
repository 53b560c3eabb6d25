"""Calls of kernels have the shapes of their arrays checked while tests run, and only then."""

import subprocess
import sys

import jaxtyping
import pytest
import torch

from finitewidth.kernels.ntk_init.draws import NtkDraws
from finitewidth.kernels.paths import enumerate_paths, path_features

PATHS = enumerate_paths((2, 3, 1))
GATES = [torch.ones(4, 3)]
CALL = """
import sys, torch
from finitewidth.kernels.paths import enumerate_paths, path_features
print(len(path_features(torch.ones(1, 2), [torch.ones(4, 3)], enumerate_paths((2, 3, 1)))))
print("jaxtyping" in sys.modules, "beartype" in sys.modules)
"""


def test_right_shapes_pass():
    assert path_features(torch.ones(4, 2), GATES, PATHS).shape == (4, 6)


def test_arguments_that_do_not_fit_together_are_refused():
    # the one input would be broadcast to all gates
    with pytest.raises(jaxtyping.TypeCheckError, match="'gates'"):
        path_features(torch.ones(1, 2), GATES, PATHS)


def test_every_member_of_a_list_is_checked():
    paths = enumerate_paths((2, *[3] * 9, 1))[:5]
    with pytest.raises(jaxtyping.TypeCheckError, match="'gates'"):
        path_features(torch.ones(4, 2), [*GATES * 8, torch.ones(1, 3)], paths)


def test_another_type_of_numbers_is_refused():
    with pytest.raises(jaxtyping.TypeCheckError, match="'paths'"):
        path_features(torch.ones(4, 2), GATES, PATHS.double())


def test_a_dataclass_of_arrays_that_do_not_fit_together_is_refused():
    part, output = torch.ones(5).numpy(), torch.ones(4).numpy()
    NtkDraws(part, part, part, log_growth=0.0, depth=1)
    with pytest.raises(jaxtyping.TypeCheckError, match="scaled_output"):
        NtkDraws(part, part, output, log_growth=0.0, depth=1)


def test_nothing_is_checked_outside_the_tests():
    called = subprocess.run([sys.executable, "-c", CALL], capture_output=True, text=True)
    assert called.stdout.splitlines() == ["4", "False False"]
