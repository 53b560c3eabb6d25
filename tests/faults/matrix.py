"""The fault matrix: stages of the pipeline, and checkouts of a small project that has them all.

The project has the experiments and artifacts of thesis chapter 2, one dataset from a folder of
pictures, one training with an experiment on it, and claims, captions and a report. It takes part of
every rule, and it has 17 jobs instead of some 250.
"""

import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from PIL import Image
from tests.workflow.conftest import Checkout

KEPT = ("npf", "thesis")
SETTINGS = (
    "npf={kvf: {epochs: 150, every: 50}}",
    "checkpoint_seconds=0.02",
    "errata={networks: 200}",
    "data={imagefolder: {shapes: shapes}}",
)
RESULTS = "results/smoke"
PICTURE = "resources/shapes/train/class1/0.png"
PAUSE = Path(__file__).parent / "pause"


@dataclass(frozen=True)
class Stage:
    """A stage of the pipeline, as the job that a fault hits.

    Attributes:
        name: of the stage.
        targets: what is asked for; nothing for everything.
        job: name of the job that a run shows.
        script: of the rule.
        first: a file that the job writes, at which it can be stopped.
        count: at which of the writes.
        inputs: what the job reads, and the remedy if it is damaged: the files to delete, and the
            jobs that then run before this one.
        output: a result of the job, or of ``maker`` if that is given.
        reader: targets, and the jobs among them that read the output.
        earlier: targets that are made before the stage, beside those of earlier stages.
        begins: audit event and path before the job writes, if no temporary file is made of `first`.
    """

    name: str
    targets: tuple[str, ...]
    job: str
    script: str
    first: str
    inputs: tuple[str, tuple[str, ...]]
    output: str
    reader: tuple[tuple[str, ...], tuple[str, ...]]
    earlier: tuple[str, ...] = ()
    count: int = 1
    begins: tuple[str, str] = ("", "")
    maker: str = ""

    def point(self, written: bool) -> dict[str, Any]:
        """Where the job waits: after or before it writes its first file; see ``pause``."""
        event, path = ("os.rename", self.first) if written else self.begins
        return {"event": event or "tempfile.mkstemp", "path": path or self.first,
                "script": f".{self.script}", "count": self.count}  # fmt: skip


STAGES = (
    Stage(
        name="data",
        earlier=(f"{RESULTS}/thesis/experiments/concepts_network.csv",),
        targets=("results/data/shapes.npz",),
        job="dataset shapes",
        script="dataset.py",
        first=r"results/data/\.?shapes",
        inputs=(PICTURE, ()),
        output="results/data/digits.npz",
        maker="dataset digits",
        reader=((f"{RESULTS}/npf/training/kvf/history.csv",), ("npf/kvf",)),
    ),
    Stage(
        name="training",
        earlier=("results/data/digits.npz",),
        targets=(f"{RESULTS}/npf/training/kvf/history.csv",),
        job="npf/kvf",
        script="train.py",
        first=r"\.checkpoints/\w+/",
        count=4,
        inputs=("results/data/digits.npz", ("dataset digits",)),
        output=f"{RESULTS}/npf/training/kvf/weights.npz",
        reader=((f"{RESULTS}/npf/experiments/kvf_curves.csv",), ("npf_kvf",)),
    ),
    Stage(
        name="experiment",
        targets=(f"{RESULTS}/npf/experiments/kvf_curves.csv",),
        job="npf_kvf",
        script="declared.py",
        first=r"experiments/\.?kvf_",
        inputs=(f"{RESULTS}/npf/training/kvf/weights.npz", ("npf/kvf",)),
        output=f"{RESULTS}/npf/experiments/kvf_runs.csv",
        reader=((f"{RESULTS}/claims/npf_verdicts.csv",), ("claims npf",)),
    ),
    Stage(
        name="figure",
        earlier=(f"{RESULTS}/thesis/experiments/risk_curves.csv",),
        targets=("thesis_fig2_4",),
        job="thesis_fig2_4",
        script="declared.py",
        first=r"figures/\.?thesis_fig2_4",
        inputs=(f"{RESULTS}/thesis/experiments/risk_drawn.csv", ("thesis_risk",)),
        output=f"{RESULTS}/thesis/figures/thesis_fig2_4.csv",
        reader=(("datapackages",), ("datapackages",)),
    ),
    Stage(
        name="claims",
        earlier=("thesis",),
        targets=(f"{RESULTS}/claims/thesis_verdicts.csv",),
        job="claims thesis",
        script="claims.py",
        first=r"claims/\.?thesis_",
        inputs=(f"{RESULTS}/thesis/experiments/risk_descent.csv", ("thesis_risk",)),
        output=f"{RESULTS}/claims/thesis_verdicts.csv",
        reader=(("captions_thesis",), ("captions_thesis",)),
    ),
    Stage(
        name="report",
        earlier=("captions_thesis", "datapackages", "errata", f"{RESULTS}/claims/npf_verdicts.csv"),
        targets=(),  # everything: a file that is missing is made again only if it is asked for
        job="report",
        script="report.py",
        first=r"smoke/report$",
        begins=("os.mkdir", r"\.finitewidth-report-"),
        # Snakemake repeats what reads a file that is made again
        inputs=(f"{RESULTS}/thesis/figures/thesis_fig2_4.png", ("thesis_fig2_4", "datapackages")),
        output=f"{RESULTS}/report/index.html",
        reader=((), ()),
    ),
)  # fmt: skip
BY_NAME = {stage.name: stage for stage in STAGES}
FAULTS = (
    "SIGKILL to run and job",
    "SIGKILL to the job",
    "SIGINT",
    "SIGTERM",
    "SIGSTOP and SIGCONT",
    "Disk full",
    "No free inodes",
    "TMPDIR full",
    "Input damaged",
    "Output damaged",
)
# what runs without --full
SHORT = {
    ("SIGKILL to run and job", "training"),
    ("SIGINT", "data"),
    ("Disk full", "data"),
    ("Input damaged", "training"),
}


def cells(fault: str):
    """Parametrise a test with the stages, of which few run without ``--full``."""
    assert fault in FAULTS
    marks = [[] if (fault, stage.name) in SHORT else [pytest.mark.full] for stage in STAGES]
    return pytest.mark.parametrize("stage", [
        pytest.param(stage, marks=[*mark, pytest.mark.cell(fault, stage.name)], id=stage.name)
        for stage, mark in zip(STAGES, marks, strict=True)
    ])  # fmt: skip


def lost_by(stage: Stage) -> str:
    """What is made again if the job of a stage is interrupted."""
    return "steps since the checkpoint" if stage.name == "training" else "the job"


def cut(path: Path) -> None:
    """Reduce a copy of the project to one training with its experiment, and thesis chapter 2."""
    definitions = {}
    for file in (path / "workflow/papers").glob("*.yaml"):
        if file.stem in KEPT:
            continue
        schema = path / f"workflow/schemas/{file.stem}.schema.yaml"
        if schema.exists():
            definitions |= yaml.safe_load(schema.read_text()).get("$defs", {})
        for each in (file, schema, path / f"config/papers/{file.stem}.yaml"):
            each.unlink(missing_ok=True)
        for preset in (path / "config/preset").glob("*.yaml"):
            _change(preset, lambda values, name=file.stem: values.pop(name, None))
    _change(path / "workflow/schemas/npf.schema.yaml",
            lambda schema: schema.update({"$defs": definitions | schema["$defs"]}))  # fmt: skip
    _change(path / "workflow/papers/npf.yaml", _only_kvf)
    _change(path / "workflow/papers/thesis.yaml", lambda paper: _plan(paper, ["thesis_fig2_5"]))
    _change(path / "src/finitewidth/papers/npf/claims.yaml", _claims_of_kvf)
    (path / "config/reported/npf.csv").unlink()


def _claims_of_kvf(texts: dict) -> None:
    del texts["numbers"]
    texts["claims"] = {name: claim for name, claim in texts["claims"].items()
                       if claim["reads"] == {"kernels": "npf_kvf.runs"}}  # fmt: skip


def _change(file: Path, change) -> None:
    values = yaml.safe_load(file.read_text(encoding="utf-8")) or {}
    change(values)
    file.write_text(yaml.safe_dump(values, sort_keys=False, allow_unicode=True), encoding="utf-8")


def _plan(paper: dict, names: list[str]) -> None:
    """Let artifacts be planned ones, which have only a title."""
    for name in names:
        paper["artifacts"][name] = {"title": paper["artifacts"][name]["title"]}


def _only_kvf(paper: dict) -> None:
    paper["trainings"] = {"kvf": ["kvf"]}
    paper["experiments"] = {"npf_kvf": paper["experiments"]["npf_kvf"]}
    paper["artifacts"] = {
        name: artifact for name, artifact in paper["artifacts"].items() if "_extra_" not in name
    }
    _plan(paper, list(paper["artifacts"]))


class Small(Checkout):
    """A checkout of the small project, as one state of a run."""

    def __init__(self, path: Path, of: Path | None = None):
        super().__init__(path, of)
        if of is None:
            cut(path)
            paint(path / "resources/shapes")

    def environment(self) -> dict[str, str]:
        # what users see of a run; bytes of pictures must not depend on the number of threads
        changes = {"PYTHONPATH": f"{PAUSE}:{self.path / 'src'}"}
        return {k: v for k, v in os.environ.items() if k != "FINITEWIDTH_TERMINAL"} | changes

    def make(self, *targets: str, **environment: str) -> subprocess.CompletedProcess:
        """Run Snakemake to its end; output and errors together in ``stdout``."""
        return subprocess.run(
            self.command(*targets, *SETTINGS, cores=1), cwd=self.path,
            env=self.environment() | environment, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, timeout=300, check=False,
        )  # fmt: skip

    def finitewidth(self, *words: str) -> subprocess.CompletedProcess:
        """Run the command ``finitewidth``; output and errors together in ``stdout``."""
        return subprocess.run(
            [sys.executable, "-m", "finitewidth", *words], cwd=self.path, env=self.environment(),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, check=False,
        )  # fmt: skip

    def hold(self, stage: Stage, written: bool, aside: Path, **environment: str) -> "Held":
        """Start a stage and wait until its job writes its first file.

        Args:
            stage: what is asked for.
            written: whether the job waits after or before the file is written.
            aside: a folder outside the checkout.
            **environment: further variables.
        """
        aside.mkdir(exist_ok=True)
        point = {**stage.point(written), "folder": str(aside)}
        with (aside / "output").open("w") as stream:
            process = subprocess.Popen(
                self.command(*stage.targets, *SETTINGS, cores=1), cwd=self.path,
                env=self.environment() | {"FAULT_POINT": json.dumps(point)} | environment,
                stdout=stream, stderr=subprocess.STDOUT, start_new_session=True,
                preexec_fn=hear_sigint,
            )  # fmt: skip
        held = Held(process, aside)
        end = time.monotonic() + 180
        while not (aside / "reached").exists() or not (aside / "reached").read_text():
            assert process.poll() is None, held.output
            assert time.monotonic() < end, f"the job never came to its point: {held.output}"
            time.sleep(0.01)
        return held

    def files(self) -> dict[str, bytes]:
        """Bytes of all results, without times.

        Left out are logs, benchmarks, Snakemake's records, remembered digests with their paths,
        and in a provenance what the same job may say differently each time.
        """
        folder = self.path / "results"
        return {
            str(file.relative_to(folder)): contents(file)
            for file in sorted(folder.rglob("*"))
            if file.is_file() and not LEFT_OUT & set(file.parts)
        }

    def made_by(self, *jobs: str) -> set[str]:
        """The files of some jobs, with seals and provenance, as `files` names them."""
        folder, found = self.path / "results", set()
        for file in folder.rglob("*.json"):
            if "provenance" not in str(file) or ".records" in file.parts:
                continue
            stamp = json.loads(file.read_text(encoding="utf-8"))
            if stamp.get("job") in jobs:
                made = [self.path / each for each in stamp["digests"]["outputs"]] + [file]
                made += [each for top in made if top.is_dir() for each in top.rglob("*")]
                made += [each.parent / ".sums" / f"{each.name}.sha256" for each in made]
                found |= {str(each.relative_to(folder)) for each in made}
        return found

    def times(self) -> dict[str, int]:
        """Modification times of all results that `files` looks at."""
        folder = self.path / "results"
        return {name: (folder / name).stat().st_mtime_ns for name in self.files()}


def hear_sigint() -> None:
    """Do not ignore SIGINT, as a test suite in the background does."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@dataclass
class Held:
    """A run whose job waits at its point."""

    process: subprocess.Popen
    aside: Path

    @property
    def output(self) -> str:
        """What the run has written to the terminal."""
        return (self.aside / "output").read_text(encoding="utf-8", errors="replace")

    @property
    def job(self) -> int:
        """The process of the job."""
        return int((self.aside / "reached").read_text())

    def signal(self, number: int, everybody: bool = True) -> None:
        """Send a signal to the run and its jobs, or to the job alone."""
        if everybody:
            os.killpg(self.process.pid, number)
        else:
            os.kill(self.job, number)

    def go_on(self) -> None:
        """Let the job go on."""
        (self.aside / "go").touch()

    def end(self) -> int:
        """Wait for the end; returns the exit status."""
        status = self.process.wait(120)
        time.sleep(0.1)  # a job that was killed with its run
        return status

    def kill(self) -> None:
        """End whatever is left."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return
        self.process.wait()


class SmallDisk:
    """A file system of its own, in memory, whose size can be changed.

    Args:
        place: an empty folder, on which it is mounted.
    """

    def __init__(self, place: Path):
        self.place = place
        place.mkdir(parents=True, exist_ok=True)
        self._mount("size=1g,nr_inodes=100k", "tmpfs")

    def _mount(self, options: str, *what: str) -> None:
        words = ["mount", "-t", "tmpfs", "-o", options, *what, str(self.place)]
        answer = subprocess.run(words, capture_output=True, text=True, check=False)
        if answer.returncode:
            raise OSError(answer.stderr)

    def fill(self, kind: str) -> None:
        """Leave no free space, or no free ``inodes``."""
        there = os.statvfs(self.place)
        if kind == "inodes":
            self._mount(f"remount,nr_inodes={there.f_files - there.f_ffree}")
        else:
            used = max(1, there.f_blocks - there.f_bfree)  # a size of 0 would be no limit
            self._mount(f"remount,size={used * there.f_frsize}")

    def free(self) -> None:
        """Make room again."""
        self._mount("remount,size=1g,nr_inodes=100k")

    def unmount(self) -> None:
        subprocess.run(["umount", "--lazy", str(self.place)], check=True)


LEFT_OUT = {"logs", "benchmarks", ".records", ".contents.json"}
VOLATILE = ("wall_seconds", "cpu_seconds", "seconds", "git", "started", "ended", "memory_mb")


def contents(file: Path) -> bytes:
    """The bytes of a file; of a provenance, its values but for times."""
    if file.suffix != ".json" or "provenance" not in str(file):
        return file.read_bytes()
    values = json.loads(file.read_text(encoding="utf-8"))
    return json.dumps({k: v for k, v in values.items() if k not in VOLATILE}).encode()


def jobs_of(output: str) -> list[str]:
    """The jobs that a run finished, as it shows them; fails if some have no line of their own."""
    found = re.findall(r"^\[ *(\d+)/(\d+)\] (.*?)  +\S+ m?i?n?s?", output, re.M)
    if not found:
        assert "Nothing to be done" in output, output
        return []
    assert [int(number) for number, _, _ in found] == list(range(1, len(found) + 1)), output
    assert {int(total) for _, total, _ in found} == {len(found)}, output
    return [name for _, _, name in found]


def paint(folder: Path) -> None:
    """Three classes of small grey pictures: a bright column at another place for each class."""
    stream = np.random.default_rng(0)
    for split, count in (("train", 12), ("test", 4)):
        for label in range(3):
            place = folder / split / f"class{label}"
            place.mkdir(parents=True)
            for number in range(count):
                pixels = stream.integers(0, 100, (8, 8), np.uint8)
                pixels[:, 2 * label] = 200
                Image.fromarray(pixels).save(place / f"{number}.png")


class Chain:
    """The states of one run of the small project, stage after stage; made as far as needed.

    All processes of pytest-xdist share them.

    Args:
        folder: where the states lie.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        folder.mkdir(exist_ok=True)

    def _made(self, stage: Stage, state: str) -> Path:
        with (self.folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            return self._make(stage, state)

    def _make(self, stage: Stage, state: str) -> Path:
        path = self.folder / f"{stage.name}-{state}"
        done = path.with_suffix(".done")
        if done.exists():
            return path
        shutil.rmtree(path, ignore_errors=True)
        place = STAGES.index(stage)
        if state == "after":
            checkout, targets = Small(path, self._make(stage, "before")), stage.targets
        elif place == 0:
            checkout, targets = Small(path), stage.earlier
        else:
            checkout = Small(path, self._make(STAGES[place - 1], "after"))
            targets = stage.earlier
        if targets or state == "after":
            made = checkout.make(*targets)
            assert made.returncode == 0, made.stdout
        done.touch()
        return path

    def copy(self, stage: Stage, state: str, path: Path) -> Small:
        """A copy of the project ``before`` or ``after`` a stage."""
        return Small(path, self._made(stage, state))

    def finished(self, stage: Stage) -> dict[str, bytes]:
        """All results after a stage, of the undisturbed run."""
        path = self._made(stage, "after")
        undisturbed = Small.__new__(Small)
        undisturbed.path = path
        return undisturbed.files()
