"""Checkouts for tests that run Snakemake, and one finished smoke run."""

import fcntl
import os
import shutil

import pytest
from tests.helpers.workflow_checkout import Checkout


@pytest.fixture(scope="session")
def make_checkout(tmp_path_factory):
    """A function that makes a fresh checkout."""
    return lambda name: Checkout(tmp_path_factory.mktemp("checkouts") / name)


@pytest.fixture(scope="session")
def smoke(tmp_path_factory, fork_server):
    """A checkout with the whole DAG run at preset smoke. Leave it as you find it.

    The run is made once for all processes of pytest-xdist; each gets a copy.
    """
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with (shared / "smoke.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (shared / "smoke.done").exists():
            shutil.rmtree(shared / "smoke", ignore_errors=True)
            finished = Checkout(shared / "smoke").run()
            assert finished.returncode == 0, finished.stdout
            (shared / "smoke.done").touch()
    return Checkout(tmp_path_factory.mktemp("checkouts") / "smoke", of=shared / "smoke")


@pytest.fixture
def restore(smoke):
    """The finished checkout; what a test edits of its code is put back afterwards."""
    before = {file: file.read_bytes() for file in (smoke.path / "src").rglob("*.py")}
    yield smoke
    for file, content in before.items():
        if file.read_bytes() != content:
            file.write_bytes(content)
