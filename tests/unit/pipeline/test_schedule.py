"""How long jobs take side by side: list scheduling, and the time left of a real run."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from tests.helpers.workflow_plans import plan

from finitewidth.pipeline.runs.schedule import JOB, AtWork, Step, TimeLeft, ends

STEPS = {
    "data": Step(1 - JOB),
    "short": Step(2 - JOB, ["data"], 1),
    "long": Step(50 - JOB, ["data"], 2),
    "figure": Step(3 - JOB, ["short"], 9),
    "report": Step(4 - JOB, ["figure", "long"], 0),
}


def test_jobs_start_by_priority_as_soon_as_their_inputs_are_there():
    one = ends(STEPS, 1)
    two = ends(STEPS, 2)
    many = ends(STEPS, 99)
    assert list(one) == ["data", "long", "short", "figure", "report"]
    assert one == pytest.approx({"data": 1, "long": 51, "short": 53, "figure": 56, "report": 60})
    assert two == pytest.approx({"data": 1, "short": 3, "figure": 6, "long": 51, "report": 55})
    assert many == two


def test_running_jobs_take_what_is_left_of_them_and_the_others_their_pace():
    rest = {name: step for name, step in STEPS.items() if name != "data"}
    end_of = ends(rest, 2, running={"long": 5.0}, pace=2.0)
    assert end_of == pytest.approx({"short": 4, "figure": 10, "long": 5, "report": 18})


def test_short_jobs_say_little_of_the_pace_and_long_ones_much():
    steps = {"a": Step(1.0), "b": Step(1000.0), "c": Step(1000.0)}
    left = TimeLeft(steps, 1)
    left.end("a", 10.0)
    assert 1 < left.pace({}) < 1.15
    left.end("b", 1500.0)
    assert left.pace({}) == pytest.approx(1.5, rel=0.05)


def test_a_running_job_counts_by_what_it_has_done():
    left = TimeLeft({"a": Step(1000.0)}, 1)
    running = {"a": AtWork(500.0, share=0.25, left=1500.0)}
    assert left.pace(running) == pytest.approx(2, rel=0.3)
    assert left.each(running)["a"] == pytest.approx(1500, rel=0.3)
    running = {"a": AtWork(1800.0, share=0.9, left=200.0)}
    assert left.each(running)["a"] == pytest.approx(200, rel=0.05)


def test_a_job_that_continues_is_neither_fast_nor_slow():
    left = TimeLeft({"a": Step(1000.0), "b": Step(1000.0)}, 1)
    at_work = AtWork(20.0, share=0.82, left=180.0)  # 0.8 was there
    assert at_work.resumed
    assert left.pace({"a": at_work}) == pytest.approx(1, rel=0.02)
    assert left.each({"a": at_work})["a"] == pytest.approx(180, rel=0.05)
    assert left.each({"a": AtWork(5.0, share=0.8)})["a"] == pytest.approx(200, rel=0.05)
    left.end("a", None)
    assert left.pace({}) == 1
    assert not AtWork(500.0, share=0.5, left=500.0).resumed


def test_a_job_that_outlasts_its_forecast_has_something_left():
    left = TimeLeft({"a": Step(10.0)}, 1)
    assert 10 < left.seconds({"a": AtWork(1000.0)}) < 1000


def test_a_job_without_a_forecast_goes_by_its_own_progress():
    left = TimeLeft({"a": Step(None)}, 1)
    assert left.seconds({"a": AtWork(30.0, share=0.1, left=270.0)}) == 270
    assert left.pace({"a": AtWork(30.0, share=0.1, left=270.0)}) == 1


def test_what_rests_on_a_failed_job_takes_no_time():
    left = TimeLeft(STEPS, 1)
    left.end("data", 1.0)
    assert left.seconds({}, failed=["short"]) == pytest.approx(50, rel=0.01)
    assert left.seconds({}, failed=["long"]) == pytest.approx(5, rel=0.01)


# --- a real run ----------------------------------------------------------------------------------

# CPU seconds of a run of preset quick, and what was forecast of them: by rows of an earlier version
# of the jobs, of which two thirds were estimated
RECORDED = pd.read_csv(Path(__file__).parent / "quick_run.tsv", sep="\t", index_col="job")


def left_during(cores, pace):
    """Time, seconds left as shown and in truth, after each job of the recorded run."""
    forecast = plan().forecast
    names = {job: job for job in RECORDED.index}
    shown_steps = {}
    true_steps = {}
    took = {}
    for job in names:
        step = forecast.step(job, names)
        took[job] = pace * (RECORDED["took"][job] + JOB)
        shown_steps[job] = replace(step, seconds=RECORDED["forecast"][job])
        true_steps[job] = replace(step, seconds=took[job] - JOB)
    end = ends(true_steps, cores)
    left = TimeLeft(shown_steps, cores)
    for job, now in end.items():
        left.end(job, took[job])
        running = {}
        for other in end:
            start = end[other] - took[other]
            if start < now < end[other]:
                running[other] = AtWork(now - start)
        yield now, left.seconds(running), max(end.values()) - now


@pytest.mark.parametrize(("cores", "pace"), [(2, 0.7), (2, 1.0), (2, 1.3), (4, 1.0)])
def test_the_time_left_of_a_real_run_is_about_true_from_its_first_tenth_on(cores, pace):
    times = list(left_during(cores, pace))
    total = times[-1][0]
    for now, shown, truth in times:
        if now > 0.1 * total:
            # in the last tenth, of jobs of seconds, the error is small beside the run
            near = abs(shown - truth) < 0.05 * total and now > 0.9 * total
            assert near or truth / 1.5 < shown < 1.5 * truth, (now, shown, truth)
