"""Options of the test suite."""

import pytest


def pytest_addoption(parser):
    parser.addoption(
        "--full",
        action="store_true",
        help="also what takes minutes: every fault, 500 mutated configurations",
    )


@pytest.fixture(scope="session")
def full(request) -> bool:
    """Whether the long version of a test is wanted."""
    return request.config.getoption("full")


@pytest.fixture
def one_thread():
    """Torch on one thread: small products are slower, and sums rounded otherwise, on several."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def pytest_collection_modifyitems(config, items):
    if config.getoption("full"):
        return
    long = [item for item in items if item.get_closest_marker("full")]
    config.hook.pytest_deselected(items=long)
    items[:] = [item for item in items if item not in long]
