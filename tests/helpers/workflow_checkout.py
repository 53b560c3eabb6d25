"""A copy of the project in which tests run Snakemake."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.helpers.project import ROOT
from tests.workflow import fork_server

PARTS = ("Snakefile", "CITATION.cff", "workflow", "config", "profiles", "src", "requirements.lock")


class Checkout:
    """A copy of the project in which tests may change code, run, kill and compare."""

    def __init__(self, path: Path, of: Path | None = None):
        """Copy the project, or ``of``, another checkout with its results, into ``path``."""
        self.path = path
        if of is not None:
            shutil.copytree(of, path, symlinks=True)
            return
        path.mkdir(parents=True)
        for part in PARTS:
            source = ROOT / part
            if source.is_dir():
                ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
                shutil.copytree(source, path / part, ignore=ignored)
            else:
                shutil.copy2(source, path / part)

    def command(self, *arguments: str, preset: str = "smoke", cores: int = 2) -> list[str]:
        """Snakemake on this checkout; ``key=value`` arguments become settings."""
        values = [a for a in arguments if re.match(r"^[a-z0-9_]+=", a)]
        others = [a for a in arguments if a not in values]
        values = [f"preset={preset}", *values] if preset else values
        program = [sys.executable, "-m", "snakemake", "--cores", str(cores)]
        return [*program, *others, "--config", *values]

    @property
    def _options(self) -> dict[str, Any]:
        return {
            "cwd": self.path,
            "env": self.environment(),
            "text": True,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.STDOUT,
        }

    def environment(self) -> dict[str, str]:
        # the copy's package, not the installed one; and all that Snakemake says
        folders = f"{fork_server.FOLDER}{os.pathsep}{self.path / 'src'}"
        return os.environ | {"PYTHONPATH": folders, "FINITEWIDTH_TERMINAL": "snakemake"}

    def start(self, *arguments: str, **options) -> subprocess.Popen:
        """Start Snakemake in a process group of its own."""
        command = self.command(*arguments, **options)
        return subprocess.Popen(command, start_new_session=True, **self._options)

    def run(self, *arguments: str, **options) -> subprocess.CompletedProcess:
        """Run Snakemake to its end; output and errors together in ``stdout``."""
        command = self.command(*arguments, **options)
        return subprocess.run(command, timeout=3600, check=False, **self._options)

    def planned(self, *arguments: str, **options) -> dict[str, int]:
        """How many jobs of each rule a dry run announces; empty: nothing to be done."""
        answer = self.run("--dry-run", *arguments, **options)
        assert answer.returncode == 0, answer.stdout
        return counted(answer.stdout)

    def edit(self, file: str, old: str, new: str) -> None:
        """Replace a text that must be there."""
        path = self.path / file
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    def contents(self, *suffixes: str, preset: str = "smoke") -> dict[str, bytes]:
        """The bytes of all files with these suffixes below a preset's results."""
        folder = self.path / "results" / preset
        return {
            str(file.relative_to(folder)): file.read_bytes()
            for file in sorted(folder.rglob("*"))
            if file.suffix in suffixes
        }


def counted(said: str) -> dict[str, int]:
    """The table of jobs that Snakemake announces: how many of each rule."""
    table = re.search(r"^job +count\n-+ +-+\n(.*?)^total", said, re.M | re.S)
    if table is None:
        assert "Nothing to be done" in said, said
        return {}
    rows = [line.split() for line in table.group(1).splitlines() if line.strip()]
    return {rule: int(count) for rule, count in rows}
