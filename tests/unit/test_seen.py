"""Footers judge what a figure or table shows, and no other part of the experiments behind it."""

from importlib import import_module
from pathlib import Path

import pytest

from finitewidth.common.declarations import read_papers
from finitewidth.common.settings import leaves, merged, preset_only, replaced
from finitewidth.pipeline.configuration import sources_of
from finitewidth.pipeline.footers import Footers
from finitewidth.pipeline.jobs import Jobs

ROOT = Path(__file__).parents[2]
PAPERS = read_papers(ROOT / "workflow/papers")
PAPER = preset_only("paper", ROOT / "config")
SMOKE = Jobs(PAPERS, preset_only("smoke", ROOT / "config"))
SOURCES = sources_of(PAPER, [paper.name for paper in PAPERS])
FEWER = "fewer runs or draws than the paper's"
EXPERIMENTS = {e.name: e for paper in PAPERS for e in paper.experiments if e.independent}


def of(over):
    config = merged(PAPER, over)
    return Footers(PAPERS, config, PAPER, PAPER, SOURCES)


def descents(**changed):
    return {"npf": {"memorisation": {"descent": changed}}}


def other(value):
    """Another value of the same kind, or None."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1 if isinstance(value, int) else value / 2
    if isinstance(value, str):
        return {"float64": "float32", "kernel": "kernel_over_depth"}.get(value)
    return value[:-1] if len(value) > 1 else [*value, value[-1]]


@pytest.mark.parametrize("name", list(EXPERIMENTS))
def test_tables_do_not_depend_on_the_settings_that_they_are_said_not_to(name):
    experiment, settings = EXPERIMENTS[name], SMOKE[name].params
    if name == "thesis_risk":  # more points are at all whole numbers of parameters
        settings = settings | {"ratios": [0.5, 2.0, 3.0], "points": 5}
    measure = import_module(experiment.module).measure
    before = measure({}, settings)
    for unseen in set().union(*experiment.independent.values()):
        changed = {
            path: new for path, value in leaves(settings).items()
            if path[0] == unseen and (new := other(value)) is not None
        }  # fmt: skip
        after = measure({}, replaced(settings, changed))
        same = {table for table, rows in before.items() if rows.equals(after[table])}
        assert same == {t for t, paths in experiment.independent.items() if unseen in paths}, unseen


def test_only_known_tables_and_settings_are_declared():
    for name, experiment in EXPERIMENTS.items():
        assert set(experiment.independent) <= set(experiment.makes)
        params = Jobs(PAPERS, PAPER)[name].params
        assert set().union(*experiment.independent.values()) <= set(params), name


@pytest.mark.parametrize("artifact", ["dgn_fig1", "dgn_fig2"])
def test_figures_without_descents_are_judged_without_them(artifact):
    unchanged = of({}).footer(artifact)
    few = descents(wide={"runs": 1, "steps": 3}, narrow={"runs": 2}, rate=0.05)
    assert of(few).footer(artifact) == unchanged
    assert of(few).status(artifact) == "at the paper's sizes"
    assert FEWER not in unchanged
    fewer = {"npf": {"memorisation": {"runs": 4}}}
    assert of(fewer).footer(artifact).endswith(FEWER)


def test_a_figure_is_judged_by_its_own_number_of_runs():
    """More runs for verdicts, or more in another figure, change nothing in this one."""

    def said(over, artifact):
        return of(over).footer(artifact).split(" · ", 1)

    for over in ({"runs": 5}, {"runs": 6}):
        head, rest = said({"dgn": {"deep_linear": over}}, "dgn_fig10")
        assert FEWER not in rest
        assert "modified" not in head
    assert said({"dgn": {"deep_linear": {"shown": 4}}}, "dgn_fig10")[1].endswith(FEWER)
    others = {"npf": {"memorisation": {"shown": {"npf_fig7": 3}}}}
    assert "modified" not in said(others, "dgn_fig1")[0]
    assert said(others, "npf_fig7")[1].endswith(FEWER)
    first = {"beyond": {"training": {"runs": 1}}}
    assert FEWER not in of(first).footer("thesis_fig2_5")
