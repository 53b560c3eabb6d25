"""Options of the test suite."""

import contextlib
import os
import signal
import sys

import pytest
from tests.helpers import shape_checks
from tests.workflow import fork_server as forks

shape_checks.install()

# Two workers share two cores. Torch on two threads in each takes twice the time, and rounds sums
# otherwise from one machine to the next.
os.environ.setdefault("OMP_NUM_THREADS", "1")


def pytest_addoption(parser):
    parser.addoption(
        "--full",
        action="store_true",
        help="also what takes minutes: five times as many random networks, no process a fork",
    )


def pytest_configure(config):
    # a shell lets jobs in its background ignore it, and so would all runs that the tests interrupt
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def full(request) -> bool:
    """Whether the long version of a test is wanted."""
    return request.config.getoption("full")


@pytest.fixture(scope="session")
def fork_server(full, tmp_path_factory):
    """Let runs of the workflow start Python as forks; with --full each process is new."""
    folder = tmp_path_factory.mktemp("fork server")
    new = full or sys.platform != "linux"
    with contextlib.nullcontext() if new else forks.started(folder):
        yield


# what looks at the whole run at preset smoke, which is made once
OF_THE_SMOKE_RUN = (
    "tests/workflow/test_smoke.py",
    "tests/workflow/test_report_browser.py",
    "tests/workflow/test_data_and_artwork.py",
    "tests/workflow/test_running_page.py",
)
# files that take long; they start first, or one worker ends alone with one of them
LONG = (
    *OF_THE_SMOKE_RUN,
    "tests/faults/test_faults.py",
    "tests/agreement/test_random_modules.py",
    "tests/workflow/test_kernel_tiles.py",
    "tests/workflow/test_cluster_dry.py",
    "tests/workflow/test_own_images.py",
    "tests/workflow/test_dry.py",
    "tests/unit/project/test_documentation.py",
    "tests/agreement/test_devices.py",
    "tests/agreement/test_descent_modes.py",
    "tests/agreement/test_held_out.py",
    "tests/claims/test_null.py",
)
PLACE = {file: place for place, file in enumerate(LONG)}


def pytest_collection_modifyitems(config, items):
    if not config.getoption("full"):
        long = [item for item in items if item.get_closest_marker("full")]
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if not item.get_closest_marker("full")]
    items.sort(key=lambda item: PLACE.get(item.nodeid.split("::", 1)[0], len(LONG)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """A worker takes whole files, and the files that share the smoke run together."""
    from xdist.scheduler import LoadFileScheduling

    class ByFile(LoadFileScheduling):
        def _split_scope(self, nodeid):
            file = nodeid.split("::", 1)[0]
            return "smoke" if file in OF_THE_SMOKE_RUN else file

    return ByFile(config, log)
