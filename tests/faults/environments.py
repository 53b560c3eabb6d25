"""One small figure, made in environments of all kinds."""

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.workflow.conftest import Checkout

TARGET = "thesis_fig2_4"
UNSHARED = (".records", "logs", "benchmarks", "provenance", "report")
# root without the right to do everything with the files of others
WITHOUT_POWER = ("setpriv", "--inh-caps", "-all", "--bounding-set",
                 "-dac_override,-dac_read_search,-fowner,-chown")  # fmt: skip
NOBODY = 65534


class Figure(Checkout):
    """A checkout in which one figure is made."""

    def make(
        self, *arguments: str, wrapper: Sequence[str] = (), shell: str = "",
        settings: Sequence[str] = (), **environment: str | None,
    ) -> subprocess.CompletedProcess:  # fmt: skip
        """Make the figure.

        Args:
            *arguments: further options of Snakemake.
            wrapper: a program, such as ``unshare -n``, and its options, that starts it.
            shell: what a shell does before, such as ``umask 077``.
            settings: overrides, ``key=value``.
            **environment: variables to set; None to unset.
        """
        return finished(self.begin(*arguments, wrapper=wrapper, shell=shell, settings=settings,
                                   **environment))  # fmt: skip

    def begin(
        self, *arguments: str, wrapper: Sequence[str] = (), shell: str = "",
        settings: Sequence[str] = (), **environment: str | None,
    ) -> subprocess.Popen:  # fmt: skip
        """Start what `make` does, without waiting for its end."""
        words = self.command(TARGET, *arguments, *settings, cores=1)
        return self._started([*wrapper, *words], shell, environment)

    def call(self, *words: str, **environment: str | None) -> subprocess.CompletedProcess:
        """Carry out the command ``finitewidth`` at preset smoke."""
        return finished(self.call_soon(*words, **environment))

    def call_soon(self, *words: str, **environment: str | None) -> subprocess.Popen:
        """Start the command ``finitewidth`` at preset smoke."""
        program = [sys.executable, "-m", "finitewidth", *words, "--preset", "smoke"]
        return self._started(program, "", environment)

    def _started(
        self, words: Sequence[str], shell: str, environment: Mapping[str, str | None]
    ) -> subprocess.Popen:
        # what a user sees, not what Snakemake says
        given = {**self.environment(), "FINITEWIDTH_TERMINAL": "finitewidth", **environment}
        if shell:
            words = ["sh", "-c", f"{shell}; exec {shlex.join(words)}"]
        return subprocess.Popen(
            words, cwd=self.path, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env={name: value for name, value in given.items() if value is not None},
            encoding="utf-8", start_new_session=True,
        )  # fmt: skip

    def made(self, results: str = "results/smoke") -> dict[str, bytes]:
        """All results, without logs, benchmarks, the report, and what tells dates."""
        folder = self.path / results
        return {
            str(file.relative_to(folder)): file.read_bytes()
            for file in sorted(folder.rglob("*"))
            if file.is_file() and not set(UNSHARED) & set(file.relative_to(folder).parts)
            and "provenance" not in file.name and file.name != "report.sha256"
        }  # fmt: skip


def finished(process: subprocess.Popen) -> subprocess.CompletedProcess:
    """The end of a process, with what it said in ``stdout``."""
    said, _ = process.communicate(timeout=600)
    return subprocess.CompletedProcess(process.args, process.returncode, said)


def can(*words: str) -> bool:
    """Whether this machine and this user can carry out a command."""
    try:
        return not subprocess.run(words, capture_output=True, check=False).returncode
    except OSError:
        return False


def give_away(folder: Path) -> tuple[str, ...]:
    """Let a folder, with all in it, belong to another user, or be read-only.

    Returns:
        What starts a program that has no power over files of others.
    """
    mine = os.geteuid() == 0 and can(*WITHOUT_POWER, "true")
    for file in [folder, *folder.rglob("*")]:
        if mine:
            os.chown(file, NOBODY, NOBODY, follow_symlinks=False)
        elif not file.is_symlink():
            file.chmod(file.stat().st_mode & ~0o222)
    return WITHOUT_POWER if mine else ()
