"""The forecast of a run: sums of the table of costs, wall times, and memory."""

import pytest
from tests.helpers.job_chain import NEEDS, SECONDS
from tests.helpers.workflow_plans import plan

from finitewidth.pipeline.costs import Cost
from finitewidth.pipeline.forecast import cost_table, memory_at_once, wall_times
from finitewidth.pipeline.runs.schedule import JOB, Step, ends


def row(job, seconds, source="estimated"):
    return Cost("quick", job, seconds, 100, source)


def test_the_forecast_adds_up_rows_and_counts_jobs_without_one():
    costs = {job: row(job, 3600 * hours) for job, hours in SECONDS.items()}
    costs["long"] = row("long", 3600 * 50, "measured 2025-01-01")
    targets = {"fig": ["fig"], "everything": NEEDS}
    lines = cost_table(NEEDS, costs, targets, on_gpu={"long"}).splitlines()
    line_of = {line.split("  ")[0]: " ".join(line.split()) for line in lines}
    # hours: 1 + 2 + 50 + 3, or 1 + 2 + 50/25 + 3
    assert line_of["fig"] == "fig 4 2 days 8 h 11 % 0.1 GB"
    assert line_of["everything"] == "everything 6 1 2 days 12 h 17 % 0.1 GB"
    assert "a core each 2 days (data 60 min, long 2 days, fig 3 h, report 4 h)" in lines
    assert "a GPU each 10 h (data 60 min, short 2 h, fig 3 h, report 4 h)" in lines
    assert "jobs without a row in the table: 1 of 6 (text)" in lines


def test_wall_times_of_a_run_and_what_limits_it():
    steps = {job: Step(60 * SECONDS.get(job, 0), needs) for job, needs in NEEDS.items()}
    costs = {job: row(job, 60 * seconds) for job, seconds in SECONDS.items()}
    lines = wall_times(steps, costs, 3).splitlines()
    words = [" ".join(line.split()) for line in lines]
    # minutes: all are 60 in sum; data, long, fig and report need each other and take 58
    assert "1 60 min 100 % 0.1 GB cores" in words
    assert "2 58 min 52 % 0.2 GB the longest chain of jobs" in words
    assert "3 58 min 34 % 0.2 GB the longest chain of jobs" in words
    assert words[-1] == "the longest chain of jobs takes 58 min, of which long 50 min"


def test_memory_at_once_is_that_of_jobs_side_by_side():
    steps = {"a": Step(10), "b": Step(20), "c": Step(5, ["a"])}
    memory = {"a": 100, "b": 30, "c": 200}
    assert memory_at_once(ends(steps, 2), steps, memory) == 230
    assert memory_at_once(ends(steps, 1), steps, memory) == 200


def test_a_quick_run_takes_as_long_as_its_jobs_on_one_core():
    quick = plan()
    names = {name: name for name in quick.graph.needs}
    steps = {name: quick.forecast.step(name, names) for name in names}
    cpu = sum(cost.seconds for cost in quick.costs.values())
    assert max(ends(steps, 1).values()) == pytest.approx(cpu + JOB * len(steps))
    table = quick.forecast.text(1).splitlines()
    assert any(line.split()[:1] == ["64"] for line in table)
    assert table[-1].startswith("disk: ")


def test_a_row_does_not_hold_for_modified_settings():
    forecast = plan(npf={"nu": {"runs": 1}}).forecast
    assert forecast.seconds("npf/nu") is None
    assert forecast.seconds("npf/kvf") is not None
