"""What a run shows: made-up records of Snakemake in, lines out."""

import io
import logging
from types import SimpleNamespace

import pytest
from snakemake.logging import DefaultFilter, DefaultFormatter
from snakemake.settings.enums import Quietness
from snakemake_interface_logger_plugins.common import LogEvent
from snakemake_interface_logger_plugins.registry import LoggerPluginRegistry

from finitewidth.cli import terminal
from finitewidth.pipeline import announced

FORECASTS = {"npf/nu": 40.0, "npf_nu": None, "npf_fig3": 4.0}


@pytest.fixture
def shown(tmp_path, monkeypatch):
    """A handler that writes into a string; the run has three jobs."""
    monkeypatch.setattr(terminal.sys, "argv", ["snakemake", "--cores", "2", "npf_fig3"])
    monkeypatch.delenv("FINITEWIDTH_TERMINAL", raising=False)
    monkeypatch.setattr(announced, "forecast", lambda: FORECASTS)
    return lambda **settings: Shown(**settings)


class Shown:
    """A handler, and the lines that it wrote."""

    def __init__(self, dryrun=False, quiet=()):
        settings = SimpleNamespace(stdout=dryrun, dryrun=dryrun, quiet=quiet, verbose=False,
                                   debug_dag=False, printshellcmds=False)  # fmt: skip
        self.handler = terminal.LogHandler(settings, None)
        self.handler.stream = self.stream = io.StringIO()
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

    def start(self, number, rule, log="", **wildcards):
        self.say(event=LogEvent.JOB_INFO, jobid=number, rule_name=rule, wildcards=wildcards,
                 log=[log] if log else [])  # fmt: skip

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
    assert lines[-1].endswith("go on with: snakemake --cores 2 npf_fig3")


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
    screen.say(event=LogEvent.JOB_INFO, jobid=3, rule_name="npf_nu", rule_msg=None, local=False,
               is_checkpoint=False, input=[], output=["x.csv"], log=[], benchmark=None,
               reason="Missing output files: x.csv", wildcards={}, priority=0, threads=1,
               resources={})  # fmt: skip
    screen.say("This was a dry-run (flag -n).")
    screen.handler.close()
    text = "\n".join(screen.lines())
    assert text.startswith("Job stats:\njob  count\n")
    assert "    reason: Missing output files: x.csv" in text
    assert text.endswith(
        "This was a dry-run (flag -n).\n3 jobs, 44 s of CPU time (1 without a measured time)."
    )


@pytest.mark.parametrize("dryrun", [False, True])
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Nothing to be done (all requested files are present).", "Nothing to be done (all"),
        ("LockException:\nError: Directory cannot be locked. Use rule", "snakemake --unlock"),
        ("ConfigError in file x, line 3:\n  a key is missing\n  File \"x\", line 3", "is missing"),
        ("InputFunctionException in rule dataset in file x, line 4:\nError:\n  DataError: a is b\n"
         "Wildcards:\n  source=x\nTraceback:\n  File \"x\", line 3", "DataError: a is b"),
        ("CalledProcessError:\n'x' died with <Signals.SIGKILL: 9>.", "SIGKILL ended a job"),
        ("OSError: [Errno 28] No space left on device: 'x.mps'", "TMPDIR"),
    ],
)  # fmt: skip
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
