"""Footers follow from the jobs upstream: a setting changes exactly those that rest on it."""

from importlib import import_module

import pytest
from tests.helpers.project import ROOT

from finitewidth.claims import grades
from finitewidth.claims.grades import STATUSES
from finitewidth.declarations.papers import artifacts_of, read_papers
from finitewidth.pipeline.configuration import sources_of
from finitewidth.pipeline.footers import Footers
from finitewidth.pipeline.jobs import Jobs
from finitewidth.settings.nested import leaves, merged, replaced
from finitewidth.settings.presets import preset_only

PAPERS = read_papers(ROOT / "workflow/papers")
DONE = [entry.artifact for entry in artifacts_of(PAPERS)]
PRESETS = {name: preset_only(name, ROOT / "config") for name in ("quick", "laptop", "paper")}
SOURCES = sources_of(PRESETS["paper"], [paper.name for paper in PAPERS])


JOBS = {name: Jobs(PAPERS, preset) for name, preset in PRESETS.items()}


def of(config):
    preset = config["preset"]
    footers = Footers(PAPERS, config, PRESETS[preset], PRESETS["paper"], SOURCES)
    # the same for every configuration; made once
    footers.__dict__ |= {"_preset": JOBS[preset], "_paper": JOBS["paper"]}
    return footers


def footer(artifact, preset="quick", **over):
    return of(merged(PRESETS[preset], over)).footer(artifact)


def test_runs_of_all_jobs_upstream_are_counted():
    assert "· 1 run ·" in footer("dgn_fig6", npf={"nu": {"runs": 1}})
    assert "· (a) 3, (c) 4, (d) 5 runs ·" in footer("npf_fig3", npf={"nu": {"runs": 4}})
    assert "· 2 to 5 runs ·" in footer("npf_extra_text", "laptop")


@pytest.mark.parametrize(
    ("artifact", "over", "said"),
    [
        ("npf_fig7", {}, "20 runs drawn, 10 shown"),
        ("npf_fig7", {"npf": {"memorisation": {"runs": 8}}}, "8 runs"),
        ("dgn_fig10", {}, "200 runs drawn, 5 shown"),
        ("beyond_fig5", {}, "computed exactly, no draws"),
        ("thesis_fig2_1", {}, "a drawing, shows no result"),
        ("npf_table3", {}, "equations, shows no result"),
    ],
)
def test_what_a_figure_shows_of_the_runs(artifact, over, said):
    assert footer(artifact, "paper", **over).split(" · ")[1] == said


def test_numbers_are_comparable_dataset_by_dataset():
    def comparable(config):
        footers = of(config)
        return footers.comparable(footers.jobs["npf_table2"].reads)

    assert comparable(PRESETS["quick"]) == {"mnist": False, "cifar10": False}
    assert comparable(PRESETS["paper"]) == {"mnist": True, "cifar10": True}
    mixed = merged(PRESETS["paper"], {"data": {"mnist": "digits"}})
    assert comparable(mixed) == {"mnist": False, "cifar10": True}
    adam = merged(PRESETS["paper"], {"npf": {"regimes": {"rows": {"fc_adam": {"epochs": 2}}}}})
    assert comparable(adam) == {"mnist": False, "cifar10": True}


def differs(preset="paper", read="npf_regimes.runs", rows=(), **over):
    footers = of(merged(PRESETS[preset], over))
    return footers.differences([footers.jobs.read("", read)], rows)


def test_what_differs_from_the_paper_is_told_in_words():
    three = {"npf": {"regimes": {"runs": 3}}}
    told = differs("laptop", rows=["fc_sgd"], **three)
    assert told == ("MNIST", "epochs 30 of 300", "runs 3 of 5")
    assert differs("laptop", rows=["fc_sgd", "fc_adam"])[1] == "epochs 30 of 300 and 20 of 100"
    jpeg = differs("laptop", rows=["gconv_sgd"], data={"cifar10": "cifar10_jpeg"}, **three)
    assert (jpeg[0], jpeg[-1]) == ("CIFAR-10 (JPEG re-encoded)", "and 2 more")
    few = {"trust": {"heat_widths": {"widths": [50, 100]}}}
    widths = differs(read="trust_heat_widths.cells", **few)
    assert widths == ("widths 50 and 100 (paper 50, 100, 200 and 500)",)


def test_nothing_differs_at_the_papers_settings_or_in_choices_and_accepted_values():
    for name in DONE:
        footers = of(PRESETS["paper"])
        assert footers.differences(footers.jobs[name].reads) == ()
    assert differs(read="dgn_planar.errors", dgn={"planar": {"steps": 7}}) == ()
    assert differs(read="npf_kvf.curves", npf={"kvf": {"gate": {"eps": 0}}}) == ()
    assert differs(read="beyond_diagonal.estimates", beyond={"diagonal": {"draws": 501}}) == ()
    assert differs(read="beyond_diagonal.estimates", beyond={"diagonal": {"draws": 499}}) == (
        "draws 499 of 500",
    )


def test_the_status_of_a_figure_is_its_own():
    quick, laptop, paper = (of(PRESETS[name]) for name in ("quick", "laptop", "paper"))
    assert quick.status("npf_fig3") == "on a stand-in"
    assert laptop.status("npf_fig3") == "reduced"
    assert paper.status("npf_fig3") == "at the paper's sizes"
    assert quick.status("beyond_fig5") == "at the paper's sizes"
    assert quick.grade_of_artifact("beyond_fig5") == grades.EXACT
    assert quick.grade_of_artifact("beyond_fig1") == grades.PAPER
    assert {quick.status(name) for name in DONE} <= set(STATUSES)


# ---- what a figure or table shows, and no other part of the experiments behind it

SMOKE = Jobs(PAPERS, preset_only("smoke", ROOT / "config"))
FEWER = "fewer runs or draws than the paper's"
EXPERIMENTS = {e.name: e for paper in PAPERS for e in paper.experiments if e.independent}


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
    experiment = EXPERIMENTS[name]
    settings = SMOKE[name].params
    if name == "thesis_risk":  # more points are at all whole numbers of parameters
        settings = settings | {"ratios": [0.5, 2.0, 3.0], "points": 5}
    measure = import_module(experiment.module).measure
    before = measure({}, settings)
    for unseen in set().union(*experiment.independent.values()):
        changed = {
            path: new
            for path, value in leaves(settings).items()
            if path[0] == unseen and (new := other(value)) is not None
        }
        after = measure({}, replaced(settings, changed))
        same = {table for table, rows in before.items() if rows.equals(after[table])}
        assert same == {t for t, paths in experiment.independent.items() if unseen in paths}, unseen


def test_only_known_tables_and_settings_are_declared():
    for name, experiment in EXPERIMENTS.items():
        assert set(experiment.independent) <= set(experiment.output)
        params = JOBS["paper"][name].params
        assert set().union(*experiment.independent.values()) <= set(params), name


@pytest.mark.parametrize("artifact", ["dgn_fig1", "dgn_fig2"])
def test_figures_without_descents_are_judged_without_them(artifact):
    unchanged = footer(artifact, "paper")
    few = descents(wide={"runs": 1, "steps": 3}, narrow={"runs": 2}, rate=0.05)
    assert footer(artifact, "paper", **few) == unchanged
    assert of(merged(PRESETS["paper"], few)).status(artifact) == "at the paper's sizes"
    assert FEWER not in unchanged
    fewer = {"npf": {"memorisation": {"runs": 4}}}
    assert footer(artifact, "paper", **fewer).endswith(FEWER)


def test_a_figure_is_judged_by_its_own_number_of_runs():
    """More runs for verdicts, or more in another figure, change nothing in this one."""

    def said(over, artifact):
        return footer(artifact, "paper", **over).split(" · ", 1)

    for over in ({"runs": 5}, {"runs": 6}):
        head, rest = said({"dgn": {"deep_linear": over}}, "dgn_fig10")
        assert FEWER not in rest
        assert "modified" not in head
    assert said({"dgn": {"deep_linear": {"shown": 4}}}, "dgn_fig10")[1].endswith(FEWER)
    others = {"npf": {"memorisation": {"shown": {"npf_fig7": 3}}}}
    assert "modified" not in said(others, "dgn_fig1")[0]
    assert said(others, "npf_fig7")[1].endswith(FEWER)
    first = {"beyond": {"training": {"runs": 1}}}
    assert FEWER not in footer("thesis_fig2_5", "paper", **first)
