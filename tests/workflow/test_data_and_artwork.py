"""Of the whole run at preset smoke: pictures come from their data files, and both can be printed.

With ``FINITEWIDTH_RESULTS=results/quick`` the figures of that finished run are looked at as well.
"""

import hashlib
import json
import os
import re
import shutil
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.helpers import picture_faults
from tests.helpers.linked_project import link_project
from tests.helpers.workflow_plans import ROOT, plan

import finitewidth as fw
from finitewidth.claims.ledger import claims_of
from finitewidth.common.errors import ResultError
from finitewidth.figures import job, picture_files

DONE = plan("smoke").artifacts
FIGURES = [entry for entry in DONE if entry.kind == "figure"]
plan_of = cache(plan)  # of a preset
EARLIER = os.environ.get("FINITEWIDTH_RESULTS")
pytestmark = pytest.mark.workflow


def data_file(results: Path, entry) -> Path:
    """The file that has all that a figure shows."""
    return results / entry.paper / "figures" / f"{entry.artifact}.csv"


@pytest.mark.parametrize("entry", FIGURES, ids=lambda entry: entry.artifact)
def test_a_figure_is_drawn_from_its_data_file_and_can_be_printed(smoke, entry, tmp_path):
    """The data package beside it is all that is needed, as of results that were sent to others."""
    results = smoke.path / "results/smoke"
    copy = data_file(tmp_path, entry)
    copy.parent.mkdir(parents=True)
    shutil.copy(data_file(results, entry), copy)
    shutil.copy(results / entry.paper / "datapackage.json", tmp_path / entry.paper)
    figure = job.redraw(copy)
    footer = plan_of("smoke").footers.footer(entry.artifact)
    folder = results / entry.paper / "figures"
    # not in the order of the job: all files have one layout; a PNG takes longest
    for kind in ("png", "svg") if FIGURES.index(entry) % 8 == 0 else ("svg",):
        picture_files.save(figure, tmp_path / f"again.{kind}", footer)
        theirs = (folder / f"{entry.artifact}.{kind}").read_bytes()
        assert (tmp_path / f"again.{kind}").read_bytes() == theirs
    figure.set_layout_engine("none")  # what is looked at below has the places of the files
    assert picture_faults.faults(figure) == []


@pytest.fixture
def results_here(smoke, tmp_path, monkeypatch):
    """The current folder is a project with the smoke run, whose results are those of quick, too."""
    link_project(tmp_path)
    (tmp_path / "results").mkdir()
    for run in ("quick", "smoke"):
        (tmp_path / "results" / run).symlink_to(smoke.path / "results/smoke")
    monkeypatch.chdir(tmp_path)
    load = fw.load
    monkeypatch.setattr(fw, "load", lambda name: load(name, run="smoke"), raising=False)
    return tmp_path


def names_of(page: str) -> dict[str, Any]:
    """What the Python blocks of a page define."""
    text = (ROOT / "docs/howto" / page).read_text(encoding="utf-8")
    given: dict[str, Any] = {}
    for code in re.findall(r"```python\n(.*?)```", text, re.S):
        exec(compile(code, page, "exec"), given)
    return given


def test_the_page_on_restyling(results_here):
    """Where the provenance of the figure is there, it says with what it was drawn."""
    rows = names_of("restyle.md")["rows"]
    assert (results_here / "mine.pdf").stat().st_size > 0
    assert list(rows) == import_module("finitewidth.papers.npf.figures.fig3").TABLE.names


def test_the_page_on_loading(results_here):
    given = names_of("load.md")
    assert given["figure"].title.startswith("Figure 3")
    assert given["claim"].verdict["claim"] == "N07"


def test_every_result_is_loaded(results_here):
    for paper in plan_of("smoke").papers:
        for artifact in paper.artifacts:
            assert fw.load(artifact.artifact).columns
        for experiment in paper.experiments:
            for table in experiment.output:
                fw.load(f"{experiment.name}.{table}")
        for claim in claims_of(paper.name):
            assert fw.load(claim.id).verdict


def test_a_figure_of_which_nothing_says_what_it_was_drawn_with(tmp_path):
    file = tmp_path / "npf/figures/npf_fig3.csv"
    with pytest.raises(ResultError, match=r"says what it was drawn with; name module, settings"):
        job.redraw(file)


@pytest.mark.skipif(not EARLIER, reason="FINITEWIDTH_RESULTS names no finished run")
@pytest.mark.parametrize("entry", FIGURES, ids=lambda entry: entry.artifact)
def test_a_figure_of_a_finished_run_can_be_printed(entry):
    figure = job.redraw(data_file(Path(EARLIER).resolve(), entry))
    assert picture_faults.faults(figure) == []


@pytest.fixture(scope="module")
def packages(smoke):
    """Paper -> its data package."""
    folder = smoke.path / "results/smoke"
    return {
        file.parent.name: json.loads(file.read_text(encoding="utf-8"))
        for file in folder.glob("*/datapackage.json")
    }


def test_every_artifact_is_a_resource_of_its_paper_s_package(packages):
    found = [(p, r["name"]) for p, package in packages.items() for r in package["resources"]]
    assert sorted(found) == sorted((entry.paper, entry.artifact) for entry in DONE)
    for package in packages.values():
        assert re.fullmatch(r"[-a-z0-9._/]+", package["name"])
        for resource in package["resources"]:
            assert re.fullmatch(r"[-a-z0-9._/]+", resource["name"])


@pytest.mark.parametrize("entry", DONE, ids=lambda entry: entry.artifact)
def test_a_data_file_is_what_its_description_says(smoke, packages, entry):
    package = packages[entry.paper]
    (resource,) = (r for r in package["resources"] if r["name"] == entry.artifact)
    path = smoke.path / "results/smoke" / entry.paper / resource["path"]
    content = path.read_bytes()
    assert resource["hash"] == f"sha256:{hashlib.sha256(content).hexdigest()}"
    assert resource["bytes"] == len(content)
    cells = pd.read_csv(path, dtype=str, keep_default_na=False)
    described = resource["schema"]["fields"]
    assert [field["name"] for field in described] == list(cells.columns)
    for field in described:
        assert field["description"]
        assert field["unit"]
        assert field["source"]
        column = cells[field["name"]]
        assert not (column == "").any(), field["name"]
        if field["type"] == "number":
            column.map(float)
        elif field["type"] == "integer":
            assert column.str.fullmatch(r"-?\d+").all(), field["name"]
