"""A checkout in which a job waits at a point, so that a fault can occur there."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.helpers.project import ROOT
from tests.helpers.workflow_checkout import Checkout

PAUSE = ROOT / "tests/faults/pause"
FIGURE = "thesis_fig2_4"
TRAINING = "results/smoke/npf/training/kvf/history.csv"
SETTINGS = ("npf={kvf: {epochs: 150, every: 50}}", "checkpoint_seconds=0.02")
LOG = "results/smoke/logs/npf/training/kvf.log"
LONGEST = 600  # seconds to wait for a point of a job


class Faulty(Checkout):
    """A checkout in which a fault occurs."""

    def make(self, *targets: str, **options) -> subprocess.CompletedProcess:
        """Run Snakemake on one core to its end; output and errors together in ``stdout``."""
        return self.run(*targets, *SETTINGS, cores=1, **options)

    def finitewidth(self, *words: str) -> subprocess.CompletedProcess:
        """Run the command ``finitewidth`` at preset smoke."""
        program = [sys.executable, "-m", "finitewidth", *words, "--preset", "smoke"]
        return subprocess.run(
            program,
            cwd=self.path,
            env=self.environment(),
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )

    def hold(
        self, *targets: str, path: str, script: str, count: int = 1, by_finitewidth: bool = False
    ) -> "Held":
        """Start a run, and wait until a job replaces a file whose path matches ``path``.

        Args:
            *targets: what is asked for.
            path: regular expression.
            script: of the job.
            count: which of such events is meant.
            by_finitewidth: whether ``finitewidth run`` starts it, and not Snakemake itself.
        """
        aside = self.path / "aside"
        aside.mkdir(exist_ok=True)
        for file in aside.iterdir():
            file.unlink()
        point = {
            "event": "os.rename",
            "path": path,
            "script": script,
            "count": count,
            "folder": str(aside),
        }
        environment = self.environment() | {
            "FAULT_POINT": json.dumps(point),
            "FORK_SERVER": "",
            "PYTHONPATH": f"{PAUSE}:{self.path / 'src'}",
        }
        words = self.command(*targets, *SETTINGS, cores=1)
        if by_finitewidth:
            words = [
                sys.executable,
                "-m",
                "finitewidth",
                "run",
                *targets,
                "--preset",
                "smoke",
                "--cores",
                "1",
                "--config",
                *SETTINGS,
            ]
        process = subprocess.Popen(
            words,
            cwd=self.path,
            text=True,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        end = time.monotonic() + LONGEST
        while not (aside / "reached").exists():
            assert process.poll() is None, process.communicate()[0]
            assert time.monotonic() < end, "the job never came to its point"
            time.sleep(0.05)
        return Held(process, aside)

    def results(self) -> dict[str, bytes]:
        """Bytes of all tables, arrays, pictures and datasets."""
        folder = self.path / "results"
        return {
            str(file.relative_to(folder)): file.read_bytes()
            for file in sorted(folder.rglob("*"))
            if file.suffix in (".csv", ".npz", ".png") and not {"benchmarks"} & set(file.parts)
        }

    @property
    def log(self) -> str:
        """The log of the training."""
        return (self.path / LOG).read_text(encoding="utf-8")


class Held:
    """A run whose job waits at its point."""

    def __init__(self, process: subprocess.Popen, aside: Path):
        self.process = process
        self.aside = aside

    def signal(self, number: int) -> str:
        """Send a signal to the run and its job, and return what the run said until its end."""
        os.killpg(self.process.pid, number)
        return self.end()

    def go_on(self) -> str:
        """Let the job go on, and return what the run said until its end."""
        (self.aside / "go").touch()
        return self.end()

    def end(self) -> str:
        output, _ = self.process.communicate(timeout=LONGEST)
        return output


def jobs_of(output: str) -> list[str]:
    """The rules of the jobs that Snakemake started, in their order."""
    return re.findall(r"^(?:local)?rule (\w+):", output, re.M)
