"""What a run shows: made-up records of Snakemake in, lines out."""

import dataclasses
import io
import logging
import re
import time
from types import SimpleNamespace

import pytest
from snakemake.logging import DefaultFilter, DefaultFormatter
from snakemake.settings.enums import Quietness
from snakemake_interface_logger_plugins.common import LogEvent
from snakemake_interface_logger_plugins.registry import LoggerPluginRegistry

from finitewidth.cli import display, run_state, terminal
from finitewidth.cli.run_state import in_short
from finitewidth.common.progress import SHOWN
from finitewidth.pipeline.runs import announced
from finitewidth.pipeline.runs.schedule import Step
from finitewidth.records import running

FORECASTS = {
    "npf/nu": Step(40.0),
    "npf_nu": Step(None, ["npf/nu"]),
    "npf_fig3": Step(4.0, ["npf_nu"]),
}
FIGURE = "results/quick/npf/figures/npf_fig3"
FILES = [f"{i}.csv" for i in range(312)]


@pytest.fixture
def shown(tmp_path, monkeypatch):
    """A handler that writes into a string; the run has three jobs."""
    monkeypatch.setattr(terminal.sys, "argv", ["snakemake", "--cores", "2", "npf_fig3"])
    monkeypatch.delenv("FINITEWIDTH_TERMINAL", raising=False)
    monkeypatch.setenv(SHOWN, "")  # put back after the test, since the handler sets it
    monkeypatch.setattr(announced, "forecast", lambda: FORECASTS)
    monkeypatch.setattr(announced, "folders", (str(tmp_path / "results/quick"),))
    monkeypatch.setattr(announced, "report", "results/quick/report/index.html")
    return lambda **settings: Shown(**settings)


class Shown:
    """A handler, and the lines that it wrote."""

    def __init__(self, dryrun=False, quiet=(), stream=None):
        settings = SimpleNamespace(
            stdout=dryrun,
            dryrun=dryrun,
            quiet=quiet,
            verbose=False,
            debug_dag=False,
            printshellcmds=False,
        )
        self.handler = terminal.LogHandler(settings, None)
        self.handler.stream = self.stream = stream or io.StringIO()
        # as Snakemake does
        self.handler.addFilter(DefaultFilter(set(quiet), False, False, dryrun, False))
        self.handler.setFormatter(DefaultFormatter())

    def say(self, text=None, level=logging.INFO, **facts):
        record = logging.LogRecord("snakemake", level, "", 0, text, (), None)
        record.__dict__.update(facts)
        self.handler.handle(record)

    def plan(self):
        self.say("Provided cores: 2", event=LogEvent.RESOURCES_INFO, cores=2)
        self.say("Job stats", event=LogEvent.RUN_INFO, stats={"train": 1, "all": 1, "total": 4})

    def start(self, number, rule, log="", output=(), **wildcards):
        self.say(
            event=LogEvent.JOB_INFO,
            jobid=number,
            rule_name=rule,
            wildcards=wildcards,
            log=[log] if log else [],
            output=[*output],
        )

    def run(self, number, rule, output=(), **wildcards):
        self.start(number, rule, output=output, **wildcards)
        self.say(event=LogEvent.JOB_FINISHED, job_id=number)

    def lines(self):
        return self.stream.getvalue().splitlines()


def test_snakemake_finds_the_plugin():
    assert "finitewidth" in LoggerPluginRegistry().plugins


def test_a_failed_job_shows_the_end_of_its_log_and_how_to_go_on(shown, tmp_path):
    log = tmp_path / "npf_nu.log"
    log.write_text("".join(f"line {i}\n" for i in range(30)) + "the kernel is singular\n")
    screen = shown()
    screen.plan()
    screen.start(2, "npf_nu", log=str(log))
    screen.say("Error in rule npf_nu", logging.ERROR, event=LogEvent.JOB_ERROR, jobid=2)
    screen.say("CalledProcessError in x.smk:\n returned non-zero exit status 1.", logging.ERROR)
    screen.say("Exiting because a job execution failed. Look below", logging.ERROR)
    screen.handler.close()
    lines = screen.lines()
    assert lines[1] == f"FAILED npf_nu after 0.0 s; log: {log}"
    assert lines[-2] == "    the kernel is singular"
    assert len(lines) == 2 + terminal.SHOWN_LINES + 1
    assert lines[-1].endswith("Fix the cause, then run: snakemake --cores 2 npf_fig3")


def test_a_job_that_another_attempt_makes_has_not_failed(shown):
    screen = shown()
    screen.plan()
    screen.start(2, "npf_nu")
    screen.say("Error in rule npf_nu", logging.ERROR, event=LogEvent.JOB_ERROR, jobid=2)
    for number, (rule, of) in enumerate(
        (("npf_nu", {}), ("npf_fig3", {}), ("train", {"paper": "npf", "training": "nu"})), 2
    ):
        screen.start(number, rule, **of)
        screen.say(event=LogEvent.JOB_FINISHED, job_id=number)
    screen.handler.close()
    assert screen.lines()[-1] == "3 jobs done in 0.0 s."


def test_a_run_says_how_long_it_will_take_and_where_its_files_are(shown):
    screen = shown()
    screen.plan()
    screen.run(2, "train", paper="npf", training="nu", output=["results/quick/npf/nu.npz"])
    screen.run(3, "npf_nu", output=["results/quick/npf/nu.csv"])
    files = [f"{FIGURE}.pdf", f"{FIGURE}.csv", "results/quick/provenance/f.json"]
    screen.run(4, "npf_fig3", output=files)
    screen.handler.close()
    lines = screen.lines()
    said = "3 jobs, about 46 s on 2 cores (1 without a measured time); details in .snakemake/log"
    assert lines[0] == said
    # after jobs that took no time
    assert re.fullmatch(r"\[1/3\] npf/nu +0\.0 s   about \d s left", lines[1])
    assert lines[-2:] == ["3 jobs done in 0.0 s.", f"{FIGURE}.{{pdf,csv}}"]


def test_a_run_on_a_cluster_has_jobs_at_once(shown, tmp_path):
    screen = shown()
    screen.say("Provided remote nodes: 100", event=LogEvent.RESOURCES_INFO, nodes=100)
    screen.say("Job stats", event=LogEvent.RUN_INFO, stats={})
    assert "about 46 s with up to 100 jobs at once" in screen.lines()[0]
    run = screen.handler.run
    run.start(4, run_state.Job("npf_fig3", time.time() - 3600))
    assert run.at_work()["npf_fig3"].elapsed == run_state.STARTING  # it waits in a queue
    file = running.file_of(announced.folders[0], "npf_fig3")
    running.write(file, running.begun("npf_fig3"))
    run.look()
    assert run.at_work()["npf_fig3"].elapsed < 10
    assert run.end(4)[1] < 10
    screen.handler.close()


def test_a_run_that_makes_the_report_names_its_first_page(shown, monkeypatch):
    monkeypatch.setattr(announced, "forecast", lambda: {"report": Step(5.0)})
    screen = shown()
    screen.plan()
    screen.run(2, "report", output=["results/quick/report", "results/quick/provenance/report.json"])
    screen.handler.close()
    assert screen.lines()[-1] == "Open results/quick/report/index.html in a browser."


def test_many_results_are_named_by_their_folder():
    paths = [f"results/quick/npf/figures/npf_fig{i}.png" for i in range(4)]
    assert terminal.in_few_lines(paths[:3]) == paths[:3]
    assert terminal.in_few_lines(paths) == ["results/quick/npf/figures/"]


@pytest.mark.parametrize(
    ("paths", "short"),
    [
        (["a/b.csv"], "a/b.csv"),
        (["a/f.pdf", "a/f.csv", "x/provenance/f.json"], "a/f.{pdf,csv}"),
        (["a/npf_verdicts.csv", "a/npf_parts.csv"], "a/{npf_verdicts,npf_parts}.csv"),
        (["a/nu/history.csv", "a/nu/weights.npz", "a/nu/provenance.json"], "a/nu/"),
        ([f"a/n{i}.csv" for i in range(9)], "a/"),
    ],
)
def test_files_of_a_job_are_written_as_in_a_shell(paths, short):
    assert in_short(paths) == short


@pytest.fixture
def training(tmp_path):
    """A training that has run for two minutes, as its file says."""
    now = running.begun("npf/nu")
    file = running.file_of(tmp_path / "results/quick", "npf/nu")
    facts = {"what": "epoch 120 of 400", "done": 120, "total": 400, "share": 0.3, "left": 90.0}
    running.write(file, dataclasses.replace(now, started=now.started - 120, **facts))
    return file


def test_a_log_has_a_line_a_minute_for_a_long_job(shown, training, monkeypatch):
    screen = shown()
    screen.plan()
    run = screen.handler.run
    own = screen.handler.display
    run.start(2, run_state.Job("npf/nu", time.time() - 120))
    run.look()
    own.show(run)
    assert len(screen.lines()) == 1
    monkeypatch.setattr(own, "_last_lines", own._last_lines - display.LINES)
    own.show(run)
    own.show(run)
    (line,) = screen.lines()[1:]
    assert re.fullmatch(r"npf/nu: epoch 120 of 400, 30 %, about \d\d s left", line)
    screen.handler.close()


def test_a_terminal_has_bars_that_a_line_does_not_spoil(shown, training):
    class Terminal(io.StringIO):
        encoding = "utf-8"

        def isatty(self):
            return True

    screen = shown(stream=Terminal())
    screen.plan()
    run = screen.handler.run
    own = screen.handler.display
    run.start(2, run_state.Job("npf/nu", time.time() - 120))
    run.look()
    own.show(run)
    rows = screen.stream.getvalue().split("\r")
    (bar,) = {row.split("\x1b")[0].rstrip() for row in rows if "npf/nu" in row}
    assert re.fullmatch(r"npf/nu: epoch 120 of 400 +█{6} +30 %, about \d+ s left", bar)
    assert any(row.startswith("0 of 3 jobs") for row in rows)
    screen.say("Something to know", logging.WARNING)
    assert "Something to know\n" in screen.stream.getvalue()
    screen.handler.close()


def test_a_display_that_fails_stops_nothing(shown, monkeypatch):
    def fails(self):
        raise OSError("the disk is gone")

    monkeypatch.setattr(terminal.RunState, "look", fails)
    screen = shown()
    screen.plan()
    screen.run(4, "npf_fig3")
    screen.handler.close()
    assert screen.lines()[1].startswith("[1/3] npf_fig3")


def test_what_killed_jobs_have_left_is_removed_when_a_run_begins(shown, training):
    killed = dataclasses.replace(running.begun("npf_nu"), pid=2**22 + 1)
    left = running.file_of(training.parents[1], "npf_nu")
    running.write(left, killed)
    screen = shown()
    screen.plan()
    assert not left.exists()
    assert training.exists()
    screen.handler.close()


def test_an_interrupted_run_says_what_is_kept_in_one_sentence(shown, tmp_path):
    screen = shown()
    screen.plan()
    screen.start(2, "npf_nu")
    screen.say("Terminating processes on user request, this might take some time.", logging.ERROR)
    screen.say("Error in rule npf_nu", logging.ERROR, event=LogEvent.JOB_ERROR, jobid=2)
    screen.say("WorkflowError: something else", logging.ERROR)
    screen.handler.close()
    _, last = screen.lines()
    assert last.startswith("Stopped after 0.0 s: 0 of 3 jobs are done and kept")
    assert last.endswith("go on with: snakemake --cores 2 npf_fig3")


def test_a_quiet_run_shows_errors_only(shown):
    screen = shown(quiet={Quietness.ALL})
    screen.plan()
    screen.start(2, "npf_nu")
    screen.say(event=LogEvent.JOB_FINISHED, job_id=2)
    screen.say("no such file", logging.ERROR)
    screen.handler.close()
    assert screen.lines() == ["no such file"]


def test_a_command_that_runs_nothing_has_its_answer(shown):
    screen = shown()
    screen.say("Building DAG of jobs...")
    screen.say("Unlocked working directory.")
    screen.handler.close()
    assert screen.lines() == ["Unlocked working directory."]


def test_a_dry_run_shows_jobs_reasons_and_the_table(shown):
    screen = shown(dryrun=True)
    screen.say("Job stats:\njob  count", event=LogEvent.RUN_INFO, stats={"total": 3})
    screen.say(
        event=LogEvent.JOB_INFO,
        jobid=3,
        rule_name="npf_nu",
        rule_msg=None,
        local=False,
        is_checkpoint=False,
        input=FILES,
        output=["x.csv"],
        log=[],
        benchmark=None,
        reason="Missing output files: x.csv",
        wildcards={},
        priority=0,
        threads=1,
        resources={},
    )
    screen.say("This was a dry-run (flag -n).")
    screen.handler.close()
    text = "\n".join(screen.lines())
    assert text.startswith("Job stats:\njob  count\n")
    assert "    reason: Missing output files: x.csv" in text
    assert "    input: 0.csv, 1.csv, 2.csv, 3.csv, 4.csv, … and 307 more\n" in text
    assert text.endswith(
        "This was a dry-run (flag -n).\n3 jobs, 44 s of CPU time (1 without a measured time)."
    )


@pytest.mark.parametrize("dryrun", [False, True])
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Nothing to be done (all requested files are present).", "Nothing to be done (all"),
        ("LockException:\nError: Directory cannot be locked. Use rule", "snakemake --unlock"),
        ('ConfigError in file x, line 3:\n  a key is missing\n  File "x", line 3', "is missing"),
        (
            "InputFunctionException in rule dataset in file x, line 4:\n"
            "Error:\n  DataError: a is b\n"
            'Wildcards:\n  source=x\nTraceback:\n  File "x", line 3',
            "DataError: a is b",
        ),
        ("CalledProcessError:\n'x' died with <Signals.SIGKILL: 9>.", "SIGKILL ended a job"),
        ("OSError: [Errno 28] No space left on device: 'x.mps'", "TMPDIR"),
    ],
)
def test_messages_name_the_remedy(shown, text, said, dryrun):
    screen = shown(dryrun=dryrun)
    screen.say(text, logging.ERROR if "Error" in text or "Exc" in text else logging.INFO)
    found = "\n".join(screen.lines())
    assert said in found
    assert "  File" not in found
    assert "Wildcards" not in found


def test_snakemakes_own_messages_can_be_had(shown, monkeypatch):
    monkeypatch.setenv("FINITEWIDTH_TERMINAL", "snakemake")
    screen = shown()
    screen.say("Building DAG of jobs...")
    assert screen.lines() == ["Building DAG of jobs..."]


REASONS = {"npf/nu": ("settings: runs 2 → 3",), "npf_nu": ("runs again: npf/nu",)}


@pytest.fixture
def again(monkeypatch):
    """What the workflow says of results that are made again, and of packages."""
    monkeypatch.setattr(announced, "reasons", lambda job: REASONS.get(job, ()))
    monkeypatch.setattr(announced, "packages", lambda: {"torch 2.9.1 → 2.10.0": 57})


def test_a_run_says_why_and_which_results_are_of_other_packages(shown, again):
    run = shown()
    run.plan()
    assert run.lines()[1:] == [
        "npf/nu runs again: settings: runs 2 → 3",
        "Results of other versions of packages are kept: torch 2.9.1 → 2.10.0 (57 jobs). With "
        "--config rerun=packages they are made again.",
    ]


def test_a_run_with_nothing_to_do_names_other_packages(shown, again):
    run = shown()
    run.say("Nothing to be done (all requested files are present and up to date).")
    assert "torch 2.9.1 → 2.10.0 (57 jobs)" in run.lines()[1]


def test_a_dry_run_gives_the_reason_in_words(shown, again):
    run = shown(dryrun=True)
    run.plan()
    run.say(
        event=LogEvent.JOB_INFO,
        jobid=1,
        rule_name="train",
        local=True,
        indent=False,
        wildcards={"paper": "npf", "training": "nu"},
        rule_msg=None,
        shellcmd=None,
        reason="Updated input files: results/quick/.plan/npf.nu-0.json",
        threads=1,
        input=[],
        output=["weights.npz"],
        log=[],
        benchmark=None,
        priority=0,
        resources={},
        is_checkpoint=False,
        is_handover=False,
    )
    assert "    reason: settings: runs 2 → 3" in run.lines()
    assert ".plan/" not in "\n".join(line for line in run.lines() if "reason" in line)
