"""Signals: one line and the exit status of a shell, whatever is at work."""

import os
import signal
import subprocess
import sys

import pytest
import snakemake.cli

from finitewidth.cli import main as commands
from finitewidth.cli import running

STOP = "import os, signal, time; os.kill(os.getpid(), signal.SIGINT); time.sleep(20)"


@pytest.fixture(autouse=True)
def handlers():
    """The handlers that Python starts with, during a test."""
    usual = {
        signal.SIGINT: signal.default_int_handler,
        signal.SIGTERM: signal.SIG_DFL,
        signal.SIGHUP: signal.SIG_DFL,
    }
    before = {number: signal.signal(number, handler) for number, handler in usual.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("library", ["cyclopts", "snakemake"])
def test_ctrl_c_while_modules_are_loaded(library, tmp_path):
    (tmp_path / f"{library}.py").write_text(f"try:\n    exec({STOP!r})\nexcept: pass\n")
    done = subprocess.run(
        [sys.executable, "-m", "finitewidth", "run", "npf_fig3", "--dry-run"],
        env=os.environ | {"PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        capture_output=True,
        text=True,
        check=False,
        timeout=15,
    )
    assert (done.returncode, done.stderr) == (130, "finitewidth: interrupted\n")


def test_an_ignored_signal_stays_ignored(tmp_path):
    words = "with ending_at_once(): os.kill(os.getpid(), signal.SIGINT); print('goes on')"
    code = f"import os, signal; from finitewidth.common.interrupts import ending_at_once\n{words}"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )
    assert (done.returncode, done.stdout) == (0, "goes on\n")


def test_ctrl_c_in_a_command(monkeypatch, capsys):
    def interrupted():
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(commands, "read_papers", interrupted)
    assert commands.main(["list"]) == 130
    assert capsys.readouterr().err == "finitewidth: interrupted\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize(("caught", "words"), [(False, []), (True, []), (True, ["--quiet", "all"])])
def test_snakemake_gets_every_signal(number, caught, words, monkeypatch, capsys):
    def main(words):
        try:
            os.kill(os.getpid(), number)
        except KeyboardInterrupt:
            if not caught:
                raise
        sys.exit(1)  # as Snakemake does once it has stopped its jobs

    monkeypatch.setattr(snakemake.cli, "main", main)
    before = signal.getsignal(number)
    assert running.snakemake(["npf_fig3", *words]) == 128 + number
    assert signal.getsignal(number) is before
    assert capsys.readouterr().err == ("" if caught and not words else "finitewidth: interrupted\n")


@pytest.mark.parametrize("status", [0, 1, None])
def test_the_status_is_that_of_snakemake(status, monkeypatch):
    words = []

    def main(given):
        words.append(given)
        sys.exit(status)

    monkeypatch.setattr(snakemake.cli, "main", main)
    assert running.snakemake(("--cores", "1")) == (status or 0)
    assert words == [["--cores", "1"]]
