"""A checkout with one finished training, and the results of an undisturbed run."""

import os
import re
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
from tests.workflow.conftest import Checkout

from .matrix import STAGES, Chain, Held, Small, Stage, jobs_of
from .reliability import said

SETTINGS = ("npf={kvf: {epochs: 150, every: 50}}", "checkpoint_seconds=0.02")
FINISHED = ("results/data/digits.npz", "results/smoke/npf/training/nu/history.csv")
TARGET = "results/smoke/npf/training/kvf/history.csv"
LOG = "results/smoke/logs/npf/training/kvf.log"


class Faulty(Checkout):
    """A checkout in which a fault occurs."""

    def __init__(self, path: Path, of: Checkout | None = None):
        super().__init__(path, of and of.path)

    def begin(self, *settings: str):
        """Start the training without waiting for it."""
        return self.start(TARGET, *(settings or SETTINGS), cores=1)

    def finish(self, target: str = TARGET):
        """Run until the end, with or without success."""
        return self.run(target, *SETTINGS, cores=1)

    @property
    def log(self) -> str:
        """The log of the training."""
        file = self.path / LOG
        return file.read_text(encoding="utf-8") if file.is_file() else ""

    def job(self) -> psutil.Process | None:
        """The process that trains."""
        for process in psutil.process_iter(["cwd", "cmdline"]):
            line = " ".join(process.info["cmdline"] or ())
            if process.info["cwd"] == str(self.path) and re.search(r"python\S* \S+train\.py", line):
                return process
        return None

    def wait(self, process, checkpoints: int) -> psutil.Process:
        """Wait until the job has written this many checkpoints; returns its process."""
        end = time.monotonic() + 180
        while self.log.count("checkpoint after") < checkpoints or not self.job():
            assert process.poll() is None, process.communicate()[0]
            assert time.monotonic() < end, "the training did not get so far"
            time.sleep(0.01)
        return self.job()

    def checkpoints(self) -> list[Path]:
        """The training's checkpoints, the newest last."""
        folder = self.path / "results/smoke/.checkpoints"
        return sorted(file for file in folder.glob("*/*.pt") if not file.name.startswith("."))

    def results(self) -> dict[str, bytes]:
        """Bytes of all tables, arrays and datasets."""
        folder = self.path / "results"
        return {
            str(file.relative_to(folder)): file.read_bytes()
            for file in sorted(folder.rglob("*"))
            if file.suffix in (".csv", ".npz") and not {"benchmarks"} & set(file.parts)
        }

    def finished(self) -> dict[str, int]:
        """Modification times of the files that were finished before the fault."""
        return {name: (self.path / name).stat().st_mtime_ns for name in FINISHED}


@pytest.fixture(scope="session")
def base(tmp_path_factory) -> Faulty:
    """A checkout with a finished dataset and training, and a training not yet started."""
    checkout = Faulty(tmp_path_factory.mktemp("faults") / "base")
    done = checkout.run(*FINISHED, *SETTINGS, cores=1)
    assert done.returncode == 0, done.stdout
    return checkout


@pytest.fixture(scope="session")
def undisturbed(base) -> dict[str, bytes]:
    """The results of a run without a fault."""
    checkout = Faulty(base.path.parent / "undisturbed", base)
    done = checkout.finish()
    assert done.returncode == 0, done.stdout
    return checkout.results()


def pytest_itemcollected(item):
    """Add the case to the reports, also for tests that fail before they publish anything."""
    if marker := item.get_closest_marker("case"):
        item.user_properties.append(("case", marker.args[0]))
    if marker := item.get_closest_marker("cell"):
        item.user_properties.append(("cell", list(marker.args)))


@dataclass
class Case:
    """One repetition of one fault: its checkout, and the function that publishes the outcome."""

    checkout: Faulty
    undisturbed: dict[str, bytes]
    before: dict[str, int]
    publish: Callable[[str, str], None]

    def survives(self, message: str = "", lost: str = "nothing", log: str = "") -> None:
        """Check that a second start gives the same bytes and does not repeat finished work.

        Args:
            message: to publish.
            lost: work that is repeated, to publish.
            log: a pattern; its match in the log of the second start replaces ``message``.
        """
        done = self.checkout.finish()
        assert done.returncode == 0, done.stdout
        assert self.checkout.results() == self.undisturbed
        assert self.checkout.finished() == self.before
        self.publish(said(log, self.checkout.log) if log else message, lost)


@pytest.fixture
def case(base, undisturbed, tmp_path, request) -> Case:
    """A new copy of the base for one fault."""
    checkout = Faulty(tmp_path / "checkout", base)

    def publish(message: str, lost: str) -> None:
        request.node.user_properties.append(("reliability", [message, lost]))

    return Case(checkout, undisturbed, checkout.finished(), publish)


@pytest.fixture(scope="session")
def chain(tmp_path_factory) -> Chain:
    """The states of an undisturbed run, shared by all processes of pytest-xdist."""
    base = tmp_path_factory.getbasetemp()
    return Chain((base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "chain")


OF_REPORT = re.compile(r"smoke/(report/|\.sums/report|provenance/report)")


@dataclass
class Cell:
    """One fault at one stage."""

    chain: Chain
    stage: Stage
    checkout: Small
    aside: Path
    publish: Callable[[str, str], None]
    held: list[Held]
    times_differ: bool = False  # a job that the report shows took another time than undisturbed

    def __post_init__(self) -> None:
        self.before = self.checkout.times()

    def expect_again(self, *jobs: str) -> None:
        """Let the files of these jobs be made again."""
        again = self.checkout.made_by(*jobs)
        self.before = {name: time for name, time in self.before.items() if name not in again}

    def hold(self, written: bool = True, **environment: str) -> Held:
        """Start the stage and wait for its job to come to its point; see `Small.hold`."""
        self.held.append(self.checkout.hold(self.stage, written, self.aside, **environment))
        return self.held[-1]

    def told(self, output: str) -> None:
        """Check that a run told what happened, and nothing raw."""
        assert "Traceback" not in output, output
        assert "Logging error" not in output, output

    def survives(self, message: str, lost: str, again: tuple[str, ...] | None = None) -> None:
        """Check what a second start makes of the fault, and publish the outcome.

        It must run these jobs and no others, leave all files of other jobs alone, and end with the
        files of an undisturbed run.

        Args:
            message: that the user saw.
            lost: what is made again.
            again: all jobs of the second start; that of the stage if None.
        """
        self._repeated(self.stage.targets, (self.stage.job,) if again is None else again)
        found, expected = self.checkout.files(), self.chain.finished(self.stage)
        assert sorted(found) == sorted(expected)
        self._finish(found, expected, message, lost)

    def survives_reading(
        self, targets: tuple[str, ...], message: str, again: tuple[str, ...]
    ) -> None:
        """As `survives`, of an output that was removed, and targets that read it."""
        self._repeated(targets, again)
        found, expected = self.checkout.files(), self.chain.finished(STAGES[-1])
        assert set(found) <= set(expected)
        self._finish(found, expected, message, "the file")

    def _repeated(self, targets: tuple[str, ...], again: tuple[str, ...]) -> None:
        done = self.checkout.make(*targets)
        assert done.returncode == 0, done.stdout
        self.told(done.stdout)
        assert jobs_of(done.stdout) == list(again)

    def _finish(self, found: dict, expected: dict, message: str, lost: str) -> None:
        differ = [name for name in found if found[name] != expected[name]]
        assert [name for name in differ if not (self.times_differ and OF_REPORT.match(name))] == []
        after = self.checkout.times()
        assert [name for name, time in self.before.items() if after[name] != time] == []
        self.publish(message, lost)


@pytest.fixture
def cell_at(chain, stage, tmp_path, request):
    """A function that copies the project before a stage, or in another state, to a place."""
    cells = []

    def publish(message: str, lost: str) -> None:
        request.node.user_properties.append(("reliability", [message, lost]))

    def cell_at(place: Path, of: Stage = stage, state: str = "before") -> Cell:
        checkout = chain.copy(of, state, place)
        cells.append(Cell(chain, stage, checkout, tmp_path / "aside", publish, []))
        return cells[-1]

    yield cell_at
    for cell in cells:
        for held in cell.held:
            held.kill()
        shutil.rmtree(cell.checkout.path, ignore_errors=True)


@pytest.fixture
def cell(cell_at, tmp_path) -> Cell:
    """A new copy of the project before a stage."""
    return cell_at(tmp_path / "project")
