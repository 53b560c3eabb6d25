"""The table of costs, and its refreshing from the provenance of a run."""

import json

import pytest
from tests.helpers.project import ROOT
from tests.helpers.workflow_plans import plan

from finitewidth.common.errors import ConfigError, ResultError
from finitewidth.pipeline.costs import (
    TABLE,
    Cost,
    read_costs,
    read_table,
    refresh,
    write_table,
)
from finitewidth.settings.presets import PRESETS


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
        stamp = {"job": job, "wall_seconds": 99, "memory_mb": memory}
        if cpu is not None:
            stamp["cpu_seconds"] = cpu
        path = results / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(stamp))
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
    assert {job: cost.seconds for job, cost in rows.items()} == {
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
    first = refresh("quick", results, file, only_new=True)
    assert first == "3 rows of preset quick added"
    assert set(before) < set(read_table(file))
    second = refresh("quick", results, file, only_new=True)
    assert second == f"every job of {results} has a row of preset quick already; nothing is changed"


def test_datasets_alone_are_no_run_of_a_preset(finished):
    results, file = finished
    before = file.read_bytes()
    with pytest.raises(ResultError, match="first run `finitewidth run --preset laptop`"):
        refresh("laptop", results.with_name("laptop"), file)
    assert file.read_bytes() == before
