"""Files of running jobs: what they say, and whose job was killed; what status reads of them."""

import json
import os
import time
from dataclasses import replace

import pytest

from finitewidth.cli import status
from finitewidth.common import progress
from finitewidth.common.progress import Progress, in_turn
from finitewidth.records import running
from finitewidth.records.running import begun, file_of, read_running, remove_leftovers, write

RESULTS = "results/quick"
LOG = f"{RESULTS}/logs/npf/training/nu.log"


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(running, "FEWEST", 0.01)
    monkeypatch.setattr(progress, "_OPEN", [])  # a test before may have left a computation
    return tmp_path


def wait_for(condition):
    """Wait for the thread of a job."""
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_job_says_what_it_does_until_it_ends(project):
    with running.shown("npf/nu", LOG):
        work = Progress(4000, "relu, 5 replicas", unit="epoch", per=10)
        work.advance(1200)
        wait_for(lambda: any(each.share for each in read_running([RESULTS])))
        (said,) = read_running([RESULTS])
        assert list((project / RESULTS / ".running").glob("*.json")) == [
            project / RESULTS / ".running/npf.nu.json"
        ]
        work.close()
    assert (said.job, said.what, said.done, said.total, said.share) == (
        "npf/nu",
        "epoch 120 of 400",
        120,
        400,
        0.3,
    )
    assert said.pid == os.getpid()
    assert not (project / RESULTS / ".running").exists()


def test_the_file_of_a_job_that_fails_is_removed(project):
    with pytest.raises(ZeroDivisionError), running.shown("npf/nu", LOG):
        raise ZeroDivisionError
    assert not (project / RESULTS / ".running").exists()


def test_a_job_that_cannot_write_its_file_works(project):
    (project / RESULTS).mkdir(parents=True)
    (project / RESULTS / ".running").write_text("no folder")
    with running.shown("npf/nu", LOG):
        pass
    with running.shown("npf/nu", "elsewhere.log"):
        pass


def test_the_time_left_begins_after_what_an_earlier_run_has_done(monkeypatch):
    clock = iter([0.0, 5.0, 11.0, 111.0])
    monkeypatch.setattr(running.time, "monotonic", lambda: next(clock))
    pace = running._Pace()

    def left(share):
        return pace.left(progress.Stage("", 0, 0, share, begun=0.0))

    # half is there at once; then a tenth takes 100 s
    assert [left(0.1), left(0.5), left(0.5), left(0.6)] == [None, None, None, 400.0]


def test_progress_within_a_step_is_that_part_of_the_whole():
    seen = []
    for _ in in_turn("ab", "stacks"):
        inner = Progress(10, "descent", unit="step")
        inner.advance(5)
        seen.append(progress.stage())
        inner.close()
    assert [each.share for each in seen] == [0.25, 0.75]
    assert seen[1].words == "stacks, 1 of 2, step 5 of 10"
    assert progress.stage() is None


def test_a_long_step_is_a_larger_part_of_the_whole():
    seen = []
    for _ in in_turn("ab", "stacks", [1.0, 9.0]):
        inner = Progress(10, "descent")
        inner.advance(5)
        seen.append(progress.stage().share)
        inner.close()
    assert seen == pytest.approx([0.05, 0.55])


def job(name="npf/nu", **facts):
    """The file of a job; return its path."""
    file = file_of(RESULTS, name)
    write(file, replace(begun(name), **facts))
    return file


@pytest.mark.parametrize(
    ("facts", "gone"),
    [
        ({}, False),
        ({"pid": 2**22 + 1}, True),  # more than Linux has
        ({"pid": 2**22 + 1, "host": "another machine"}, False),
        ({"updated": time.time() - 2 * running.LOST, "host": "another machine"}, True),
    ],
)
def test_what_a_killed_job_has_left_is_no_running_job(facts, gone):
    file = job(**facts)
    assert len(read_running([RESULTS])) == (not gone)
    remove_leftovers([RESULTS])
    assert file.exists() == (not gone)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"job": 1, "size": 2}', "\xff"])
def test_a_damaged_file_is_ignored(content):
    job().write_text(content, encoding="latin-1")
    assert read_running([RESULTS]) == []
    remove_leftovers([RESULTS])


def test_status_shows_the_run_and_its_jobs(capsys):
    status.status()
    assert capsys.readouterr().out == f"{RESULTS}: nothing is running\n"
    now = time.time()
    job(what="epoch 120 of 400", share=0.3, left=500.0)
    job("npf_fig3", started=now - 200)
    job("npf_kvf", what="batches, 1 of 4", share=0.25, left=240.0)
    run = f"{running.RUN} here 1"
    jobs = {"npf/nu": 150.0, "npf_fig3": None}
    write(
        file_of(RESULTS, run),
        replace(begun(running.RUN), what="7 of 9 jobs done", left=600.0, jobs=jobs),
    )
    status.status()
    assert sorted(capsys.readouterr().out.splitlines()) == [
        "  npf/nu: epoch 120 of 400, 30 %, about 2 min left",
        "  npf_fig3: at work for 3 min",
        "  npf_kvf: batches, 1 of 4, 25 %, about 4 min left",
        f"{RESULTS}: 7 of 9 jobs done, about 10 min left",
    ]


def test_a_file_holds_what_others_may_want_to_read():
    said = json.loads(job(what="epoch 1 of 2").read_text())
    assert {"job", "pid", "host", "started", "updated"} < set(said)
    assert {"what", "done", "total", "left"} < set(said)
