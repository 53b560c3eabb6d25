"""Checkouts in which a fault occurs: one figure, or one training that takes checkpoints."""

import pytest
from tests.helpers.faulty_checkout import FIGURE, TRAINING, Faulty


@pytest.fixture(scope="session")
def base(tmp_path_factory, fork_server) -> Faulty:
    """A checkout with a finished figure and dataset, and a training not yet started."""
    checkout = Faulty(tmp_path_factory.mktemp("faults") / "base")
    done = checkout.make(FIGURE, "results/data/digits.npz")
    assert done.returncode == 0, done.stdout
    return checkout


@pytest.fixture(scope="session")
def undisturbed(base) -> dict[str, bytes]:
    """The results of the training and the figure without a fault."""
    checkout = Faulty(base.path.parent / "undisturbed", base.path)
    done = checkout.make(TRAINING)
    assert done.returncode == 0, done.stdout
    return checkout.results()


@pytest.fixture
def checkout(base, tmp_path) -> Faulty:
    """A new copy of the base for one fault."""
    return Faulty(tmp_path / "checkout", base.path)
