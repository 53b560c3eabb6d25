"""The table of costs, its refreshing, and the forecast that is its sum."""

import json

import pytest
from tests.helpers.project import ROOT
from tests.helpers.workflow_plans import plan
from tests.helpers.workflow_rules import rules

from finitewidth.common.errors import ConfigError, ResultError
from finitewidth.pipeline.costs import (
    TABLE,
    Cost,
    read_costs,
    read_table,
    refresh,
    write_table,
)
from finitewidth.pipeline.forecast import cost_table, memory_at_once, wall_times
from finitewidth.pipeline.graph import behind, chains, length
from finitewidth.pipeline.plans.planned_jobs import plans_of_jobs
from finitewidth.pipeline.runs.schedule import JOB, Step, ends
from finitewidth.settings.presets import PRESETS

NEEDS = {
    "data": [],
    "short": ["data"],
    "long": ["data"],
    "fig": ["short", "long"],
    "text": ["short"],
    "report": ["fig", "text"],
}
SECONDS = {"data": 1, "short": 2, "long": 50, "fig": 3, "report": 4}


def row(job, seconds, source="estimated", preset="quick"):
    return Cost(preset, job, seconds, 100, source)


@pytest.mark.parametrize("preset", PRESETS)
def test_rows_are_of_jobs_that_there_are(preset):
    assert set(read_costs(ROOT / TABLE, preset)) <= set(plan(preset).graph.needs)


def test_the_table_is_as_it_would_be_written(tmp_path):
    write_table(tmp_path / "costs.tsv", read_table(ROOT / TABLE))
    assert (tmp_path / "costs.tsv").read_text() == (ROOT / TABLE).read_text()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("seconds", "hours", "line 1: the columns"),
        ("quick", "Slow", "line 2, column preset: .*Slow"),
        ("12.5", "some", "line 2, column seconds: "),
        ("measured", "guessed", "line 2, column source: "),
        ("\t100", "", "line 2: "),
    ],
)
def test_a_damaged_table_is_refused_with_its_line(tmp_path, old, new, message):
    file = tmp_path / "costs.tsv"
    write_table(file, [row("npf_a", 12.5, "measured 2025-01-01"), row("npf_b", 1)])
    file.write_text(file.read_text().replace(old, new))
    with pytest.raises(ConfigError, match=message):
        read_table(file)


@pytest.fixture
def finished(tmp_path):
    """A finished run, and a table with one row of it, one of another job, one of another preset."""
    results = tmp_path / "results/quick"
    for file, job, cpu, memory in (
        ("npf/experiments/nu_provenance.json", "npf_nu", 8, 200),
        ("npf/training/nu/provenance.json", "npf/nu", 50, 900),
        ("provenance/claims/npf.json", "claims npf", 2, 90),
        ("provenance/npf_old.json", "npf_old", None, 100),  # of a version that did not record it
        ("../data/provenance/digits.json", "dataset digits", 3, 80),
    ):
        path = results / file
        path.parent.mkdir(parents=True, exist_ok=True)
        stamp = {"job": job, "wall_seconds": 99, "cpu_seconds": cpu, "memory_mb": memory}
        path.write_text(json.dumps({key: it for key, it in stamp.items() if it is not None}))
    (results / "npf/experiments/killed_provenance.json").write_text('{"cpu_seconds": 70}')
    rows = [row("npf_nu", 2), row("npf_kvf", 3), row("npf_nu", 99, preset="paper")]
    write_table(tmp_path / "costs.tsv", rows)
    return results, tmp_path / "costs.tsv"


def test_refresh_takes_seconds_and_memory_from_the_provenance(finished):
    results, file = finished
    assert refresh("quick", results, file) == (
        "3 rows of preset quick added, 1 replaced: 2 s before, 8 s now"
    )
    rows = read_costs(file, "quick")
    assert {job: each.seconds for job, each in rows.items()} == {
        "npf_nu": 8,
        "npf/nu": 50,
        "claims npf": 2,
        "dataset digits": 3,
        "npf_kvf": 3,
    }
    assert rows["npf/nu"].memory_mb == 900
    assert rows["npf_nu"].source.startswith("measured 20")
    assert rows["npf_kvf"].source == "estimated"
    assert read_costs(file, "paper")["npf_nu"].seconds == 99


def test_refresh_of_new_jobs_keeps_all_other_rows(finished):
    results, file = finished
    before = read_table(file)
    said = refresh("quick", results, file, only_new=True)
    assert said == "3 rows of preset quick added"
    assert set(before) < set(read_table(file))
    said = refresh("quick", results, file, only_new=True)
    assert said == f"every job of {results} has a row of preset quick already; nothing is changed"


def test_datasets_alone_are_no_run_of_a_preset(finished):
    results, file = finished
    before = file.read_bytes()
    with pytest.raises(ResultError, match="first run `finitewidth run --preset laptop`"):
        refresh("laptop", results.with_name("laptop"), file)
    assert file.read_bytes() == before


def test_the_longest_chain_and_what_a_job_rests_on():
    found = chains(NEEDS, SECONDS)
    assert found["data"] == ["data", "long", "fig", "report"]
    assert found["text"] == ["text", "report"]
    assert length(found["data"], SECONDS) == 58
    assert behind(NEEDS, ["fig"]) == {"fig", "short", "long", "data"}


def test_the_forecast_adds_up_rows_and_counts_jobs_without_one():
    costs = {job: row(job, 3600 * hours) for job, hours in SECONDS.items()}
    costs["long"] = row("long", 3600 * 50, "measured 2025-01-01")
    lines = cost_table(NEEDS, costs, {"fig": ["fig"], "everything": NEEDS}, {"long"}).splitlines()
    said = {line.split("  ")[0]: " ".join(line.split()) for line in lines}
    # hours: 1 + 2 + 50 + 3, or 1 + 2 + 50/25 + 3
    assert said["fig"] == "fig 4 2 days 8 h 11 % 0.1 GB"
    assert said["everything"] == "everything 6 1 2 days 12 h 17 % 0.1 GB"
    assert "a core each 2 days (data 60 min, long 2 days, fig 3 h, report 4 h)" in lines
    assert "a GPU each 10 h (data 60 min, short 2 h, fig 3 h, report 4 h)" in lines
    assert "jobs without a row in the table: 1 of 6 (text)" in lines


def test_wall_times_of_a_run_and_what_limits_it():
    steps = {job: Step(60 * SECONDS.get(job, 0), needs) for job, needs in NEEDS.items()}
    costs = {job: row(job, 60 * seconds) for job, seconds in SECONDS.items()}
    lines = wall_times(steps, costs, 3).splitlines()
    said = [" ".join(line.split()) for line in lines]
    # minutes: all are 60 in sum; data, long, fig and report need each other and take 58
    assert "1 60 min 100 % 0.1 GB cores" in said
    assert "2 58 min 52 % 0.2 GB the longest chain of jobs" in said
    assert "3 58 min 34 % 0.2 GB the longest chain of jobs" in said
    assert said[-1] == "the longest chain of jobs takes 58 min, of which long 50 min"


def test_memory_at_once_is_that_of_jobs_side_by_side():
    steps = {"a": Step(10), "b": Step(20), "c": Step(5, ["a"])}
    memory = {"a": 100, "b": 30, "c": 200}
    assert memory_at_once(ends(steps, 2), steps, memory) == 230
    assert memory_at_once(ends(steps, 1), steps, memory) == 200


def test_a_quick_run_takes_as_long_as_its_jobs_on_one_core():
    mine = plan()
    steps = {
        job: mine.forecast.step(job, {name: name for name in mine.graph.needs})
        for job in mine.graph.needs
    }
    cpu = sum(cost.seconds for cost in mine.costs.values())
    assert max(ends(steps, 1).values()) == pytest.approx(cpu + JOB * len(steps))
    table = mine.forecast.text(1).splitlines()
    assert any(line.split()[:1] == ["64"] for line in table)
    assert table[-1].startswith("disk: ")


def test_a_row_does_not_hold_for_modified_settings():
    mine = plan(npf={"nu": {"runs": 1}})
    assert mine.forecast.seconds("npf/nu") is None
    assert mine.forecast.seconds("npf/kvf") is not None


def test_plans_of_jobs_have_the_needs_of_the_plan_and_the_outputs_of_the_rules():
    mine = plan()
    plans = plans_of_jobs(mine)
    known = rules()
    for name, needs in mine.graph.needs.items():
        job = plans[name]
        assert {*job.makers.values()} == {*needs}, name
        assert {*job.makers} <= {*job.input_files}, name
        for file, maker in job.makers.items():
            assert file in plans[maker].outputs, file
        if name in known:
            assert {*map(str, known[name].output)} == {*job.outputs, job.provenance}, name
            assert str(known[name].benchmark) == job.benchmark, name
    targets = {"all", "report_now", *(paper.name for paper in mine.papers)}
    patterns = {"train", "dataset", "claims"}
    assert {*known} == {*mine.graph.needs}.intersection(known) | targets | patterns
