"""What a run shows: made-up records of Snakemake in, lines out."""

import io
import logging
import time
from types import SimpleNamespace

import pytest
from snakemake_interface_logger_plugins.common import LogEvent
from snakemake_interface_logger_plugins.registry import LoggerPluginRegistry

from finitewidth.cli.status import status
from finitewidth.cli.terminal import handler as module
from finitewidth.cli.terminal.display import Display
from finitewidth.cli.terminal.state import DONE, FAILED, Run, read_run, span
from finitewidth.common import announced
from finitewidth.pipeline.costs import work

FORECASTS = {"npf/nu": 40.0, "npf_nu": 10.0, "npf_fig3": 4.0}


@pytest.fixture
def shown(tmp_path, monkeypatch):
    """A handler that writes into a string; the run has three jobs."""
    monkeypatch.setattr(module.sys, "argv", ["snakemake", "--cores", "2", "npf_fig3"])
    monkeypatch.setattr(work, "yardstick", lambda: 2 * work.REFERENCE_YARDSTICK)
    monkeypatch.delenv(module.SWITCH, raising=False)
    run = announced.Run(str(tmp_path), FORECASTS.get, lambda: list(FORECASTS))
    monkeypatch.setattr(announced, "_RUN", [run])
    return lambda **settings: Shown(**settings)


class Shown:
    """A handler, and the lines that it wrote."""

    def __init__(self, dryrun=False, quiet=()):
        settings = SimpleNamespace(stdout=dryrun, dryrun=dryrun, quiet=quiet)
        self.handler = module.LogHandler(settings, None)
        self.stream = io.StringIO()
        self.handler.display = Display(self.stream, bars=False)

    def say(self, text=None, level=logging.INFO, **facts):
        record = logging.LogRecord("snakemake", level, "", 0, text, (), None)
        record.__dict__.update(facts)
        self.handler.emit(record)

    def start(self, number, rule, log="", **wildcards):
        self.say(event=LogEvent.JOB_INFO, jobid=number, rule_name=rule, wildcards=wildcards,
                 log=[log] if log else [])  # fmt: skip

    def plan(self):
        self.say("Job stats", event=LogEvent.RUN_INFO, stats={"train": 1, "total": 3})

    def lines(self):
        return self.stream.getvalue().splitlines()


def test_snakemake_finds_the_plugin():
    assert "finitewidth" in LoggerPluginRegistry().plugins


def test_a_run_is_one_line_per_finished_job(shown, tmp_path):
    screen = shown()
    screen.say("Config file config/config.yaml is extended by additional config")
    screen.plan()
    screen.start(3, "train", paper="npf", training="nu")
    screen.say("Shell command: None", event=LogEvent.SHELLCMD)
    screen.say(event=LogEvent.JOB_FINISHED, job_id=3)
    for number, rule in ((2, "npf_nu"), (1, "npf_fig3")):
        screen.start(number, rule)
        screen.say(event=LogEvent.JOB_FINISHED, job_id=number)
    screen.say(event=LogEvent.PROGRESS, done=3, total=3)
    screen.handler.close()
    first, *jobs, last = screen.lines()
    # 54 seconds of work, on a machine of half the pace, but one job takes 80 of them
    assert first == "3 jobs, about 1 min 20 s on 2 cores; details in .snakemake/log"
    assert [line.split()[1:3] for line in jobs] == [
        ["npf/nu", "0"], ["npf_nu", "0"], ["npf_fig3", "0"]
    ]  # fmt: skip
    assert [line.split("]")[0] for line in jobs] == ["[1/3", "[2/3", "[3/3"]
    assert last == "3 jobs done in 0 s."
    assert read_run(tmp_path / "logs").state == DONE


def test_a_failed_job_shows_the_end_of_its_log_and_how_to_go_on(shown, tmp_path):
    log = tmp_path / "npf_nu.log"
    log.write_text("".join(f"line {i}\n" for i in range(30)) + "the kernel is singular\n")
    screen = shown()
    screen.plan()
    screen.start(2, "npf_nu", log=str(log))
    screen.say("Error in rule npf_nu", logging.ERROR, event=LogEvent.JOB_ERROR, jobid=2)
    screen.say("Exiting because a job execution failed. Look below", logging.ERROR)
    screen.handler.close()
    lines = screen.lines()
    assert lines[1].startswith(f"FAILED npf_nu after 0 s; log: {log}")
    assert lines[-2] == "    the kernel is singular"
    assert len(lines) == 2 + module.SHOWN_LINES + 1
    assert lines[-1].endswith("go on with: snakemake --cores 2 npf_fig3")
    text, code = status(str(tmp_path))
    assert code == 1
    assert "the kernel is singular" in text


def test_an_interrupted_run_says_what_is_kept_in_one_sentence(shown, tmp_path):
    screen = shown()
    screen.plan()
    screen.start(3, "train", paper="npf", training="nu")
    screen.say(event=LogEvent.JOB_FINISHED, job_id=3)
    screen.start(2, "npf_nu")
    screen.say("Terminating processes on user request, this might take some time.", logging.ERROR)
    screen.say("Error in rule npf_nu", logging.ERROR, event=LogEvent.JOB_ERROR, jobid=2)
    screen.say("WorkflowError: at least one job did not complete", logging.ERROR)
    before = len(screen.lines())
    screen.handler.close()
    (last,) = screen.lines()[before:]
    assert last.startswith("Stopped after 0 s: 1 of 3 jobs are done and kept")
    assert last.endswith("go on with: snakemake --cores 2 npf_fig3")
    assert not any("Error" in line for line in screen.lines())
    assert "stopped by the user" in status(str(tmp_path))[0]


def test_a_quiet_run_leaves_the_state_of_another_run_alone(shown, tmp_path):
    Run(command="finitewidth run", total=3).write(tmp_path / "logs")
    screen = shown(quiet={"all"})
    screen.start(1, "report_now")
    screen.say(event=LogEvent.JOB_FINISHED, job_id=1)
    screen.handler.close()
    assert read_run(tmp_path / "logs").command == "finitewidth run"


def test_a_quiet_run_shows_errors_only(shown):
    screen = shown(quiet={"all"})
    screen.plan()
    screen.start(2, "npf_nu")
    screen.say(event=LogEvent.JOB_FINISHED, job_id=2)
    screen.say("no such file", logging.ERROR)
    screen.handler.close()
    assert screen.lines() == ["no such file"]


def test_targets_that_make_nothing_are_not_counted(shown, monkeypatch, tmp_path):
    run = announced.Run(
        str(tmp_path), {**FORECASTS, "all": 0.0}.get, lambda: [*FORECASTS, "all"]
    )  # fmt: skip
    monkeypatch.setattr(announced, "_RUN", [run])
    screen = shown()
    screen.say("Job stats", event=LogEvent.RUN_INFO, stats={"all": 1, "total": 4})
    screen.start(0, "all")
    screen.say(event=LogEvent.JOB_FINISHED, job_id=0)
    assert screen.lines() == ["3 jobs, about 1 min 20 s on 2 cores; details in .snakemake/log"]


def test_a_dry_run_shows_its_table_once(shown):
    screen = shown(dryrun=True)
    for _ in range(2):
        screen.say("Job stats:\njob  count", event=LogEvent.RUN_INFO, stats={"total": 3})
        screen.start(3, "npf_nu")
    screen.handler.close()
    assert screen.lines() == ["Job stats:", "job  count"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Nothing to be done (all requested files are present).", "Nothing to be done: all"),
        ("LockException:\nError: Directory cannot be locked. Use --unlock", "another run is at"),
        ("MissingRuleException: No rule to produce npf_fgi3 (if you use input functions ..)",
         "did you mean npf_fig3"),
        ("ConfigError in file x, line 3:\n  a key is missing\n  File \"x\", line 3", "is missing"),
        ("ResultError in file x, line 3:\n  make it writable\n  File \"x\", line 3", "writable"),
    ],
)  # fmt: skip
def test_messages_name_the_remedy(shown, text, said):
    screen = shown()
    screen.say(text, logging.ERROR if "Error" in text or "Exc" in text else logging.INFO)
    (found,) = ["\n".join(screen.lines())]
    assert said in found
    assert "--unlock" not in found
    assert "File" not in found.replace("file", "")


def test_snakemakes_own_messages_can_be_had(shown, monkeypatch):
    monkeypatch.setenv(module.SWITCH, "snakemake")
    screen = shown()
    screen.say("Config file config/config.yaml is extended by additional config")
    assert screen.lines() == ["Config file config/config.yaml is extended by additional config"]


def test_bars_are_named_and_follow_the_logs(tmp_path):
    log = tmp_path / "nu.log"
    log.write_text("2026 INFO relu, 3 replicas: 30 of 40, 5 s left\n")
    run = Run(command="snakemake", total=2)
    run.start(1, "npf/nu", str(log), 10)
    assert run.jobs[1].share(time.time()) == 0.75
    stream = io.StringIO()
    display = Display(stream, bars=True)
    display._draw(run)
    run.end(1, FAILED)
    display._draw(run)
    display.close()
    assert "npf/nu" in stream.getvalue()
    assert " 75%" in stream.getvalue()


def test_a_job_without_steps_never_seems_done(tmp_path):
    run = Run(command="snakemake", total=1)
    run.start(1, "npf_nu", "", 10)
    begun = run.jobs[1].started
    shares = [run.jobs[1].share(begun + after) for after in (0, 2, 4, 6, 12, 100, 10_000)]
    assert shares == sorted(shares)
    assert shares[0] == 0
    assert shares[-1] < 1


def test_a_run_whose_process_is_gone_was_killed(tmp_path):
    Run(command="snakemake npf", total=2, pid=2**22 + 1).write(tmp_path / "logs")
    text, code = status(str(tmp_path))
    assert text.startswith("0 of 2 jobs done, 0 failed: killed")
    assert text.endswith("go on with: snakemake npf")
    assert code == 0
    assert status(str(tmp_path / "none"))[1] == 1


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(4.2, "4 s"), (200, "3 min 20 s"), (7500, "2 h 5 min"), (59.7, "1 min 0 s")],
)
def test_times_are_said_as_people_do(seconds, text):
    assert span(seconds) == text


@pytest.mark.parametrize(
    ("words", "cores"), [(["--cores", "3"], 3), (["-c5"], 5), (["--jobs=7"], 7), (["-j", "2"], 2)]
)
def test_the_number_of_cores_is_read_from_the_command(monkeypatch, words, cores):
    monkeypatch.setattr(module.sys, "argv", ["snakemake", *words, "npf_fig3"])
    assert module._cores() == cores


def test_the_end_of_a_job_by_a_signal_and_a_full_disk_are_told_in_one_line(shown):
    run = shown()
    failed = "RuleException:\nCalledProcessError in file x.smk, line 1:\nCommand 'x.py' "
    run.say(f"{failed}returned non-zero exit status 1.", logging.ERROR)
    assert run.lines() == []  # its log is shown
    run.say(f"{failed}died with <Signals.SIGKILL: 9>.", logging.ERROR)
    run.say("OSError: [Errno 28] No space left on device: 'x.mps'\n  File x", logging.ERROR)
    killed, full = run.lines()
    assert killed.startswith("SIGKILL ended a job: its memory ran out")
    assert full.startswith("Snakemake cannot write ([Errno 28] No space left on device: 'x.mps')")
    assert "TMPDIR" in full
