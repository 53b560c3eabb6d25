"""How long jobs take side by side: list scheduling, and the time left of a real run."""

import pytest

from finitewidth.pipeline.schedule import JOB, AtWork, Step, TimeLeft, ends

STEPS = {
    "data": Step(1 - JOB),
    "short": Step(2 - JOB, ["data"], 1),
    "long": Step(50 - JOB, ["data"], 2),
    "figure": Step(3 - JOB, ["short"], 9),
    "report": Step(4 - JOB, ["figure", "long"], 0),
}


def test_jobs_start_by_priority_as_soon_as_their_inputs_are_there():
    one, two, many = (ends(STEPS, cores) for cores in (1, 2, 99))
    assert list(one) == ["data", "long", "short", "figure", "report"]
    assert one == pytest.approx({"data": 1, "long": 51, "short": 53, "figure": 56, "report": 60})
    assert two == pytest.approx({"data": 1, "short": 3, "figure": 6, "long": 51, "report": 55})
    assert many == two


def test_running_jobs_take_what_is_left_of_them_and_the_others_their_pace():
    rest = {name: step for name, step in STEPS.items() if name != "data"}
    found = ends(rest, 2, running={"long": 5.0}, pace=2.0)
    assert found == pytest.approx({"short": 4, "figure": 10, "long": 5, "report": 18})


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
    assert left.pace(running) == pytest.approx(2, rel=0.25)
    assert left.each(running)["a"] == pytest.approx(1500, rel=0.25)
    running = {"a": AtWork(1800.0, share=0.9, left=200.0)}
    assert left.each(running)["a"] == pytest.approx(200, rel=0.05)


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
