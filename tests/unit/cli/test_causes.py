"""Why two runs differ, by made-up provenances."""

import pytest
from tests.helpers.made_up_provenance import provenance

from finitewidth.cli.causes import SAME, causes
from finitewidth.records import result_files

DIGITS = {"results/data/digits.npz": "1"}
CODE = {"modules": {"finitewidth.papers.npf.experiments.nu": "a"}, "files": {}}


def write(folder, job, data=DIGITS, code=CODE, seed=0, versions=None, **settings):
    """The provenance of an experiment, or of a figure if it has no seed."""
    told = {"settings": settings} | ({} if seed is None else {"seed": seed})
    stamp = provenance(job, {}, parameters=told, code=code)
    stamp["digests"]["inputs"] = data
    stamp["versions"] |= versions or {}
    result_files.write_json(folder / f"provenance/npf/{job}.json", stamp)


@pytest.fixture
def runs(tmp_path):
    """Two equal runs of two experiments and a figure."""
    for run in ("one", "other"):
        write(tmp_path / run, "npf_nu", runs=2)
        write(tmp_path / run, "npf_kvf", runs=2)
        write(tmp_path / run, "npf_fig3", seed=None, runs=2)
    return tmp_path / "one", tmp_path / "other"


def test_equal_runs(runs):
    assert causes(*runs) == [SAME]


def test_settings_come_before_code_packages_and_data(runs):
    other = CODE | {"modules": {"finitewidth.papers.npf.experiments.nu": "b"}}
    write(
        runs[1],
        "npf_nu",
        runs=3,
        code=other,
        versions={"torch": "1.0"},
        data={"results/data/digits.npz": "2"},
    )
    lines = causes(*runs)
    assert lines[0] == "settings: npf_nu: runs 2 → 3"
    assert lines[1] == "code: finitewidth.papers.npf.experiments.nu"
    assert lines[2].startswith("packages: torch ")
    assert lines[3] == "data: digits has other images"
    assert len(lines) == 4


def test_what_all_jobs_have_in_common_is_said_once(runs):
    for job in ("npf_nu", "npf_kvf"):
        write(runs[1], job, runs=2, seed=1, data={"results/data/mnist.npz": "3"})
    assert causes(*runs) == ["settings: seed 0 → 1 (2 jobs)", "data: digits → mnist (2 jobs)"]


def test_jobs_of_one_run_only_are_counted_and_figures_are_not_compared(runs):
    write(runs[1], "npf_fig3", seed=None, runs=7)
    write(runs[1], "npf_stages", runs=2)
    assert causes(*runs) == ["1 experiments and trainings are in one of the two runs only."]
