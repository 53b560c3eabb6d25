"""How good the evidence of artifacts, claims and numbers is, by the jobs that they rest on."""

from importlib import import_module

import pytest
from tests.helpers.measuring import measured
from tests.helpers.project import ROOT
from tests.helpers.workflow_evidence import JOBS, PAPERS, evidence

from finitewidth.claims import grades
from finitewidth.claims.grades import STATUSES
from finitewidth.declarations.papers import artifacts_of
from finitewidth.pipeline.jobs import Jobs
from finitewidth.settings.nested import leaves, replaced
from finitewidth.settings.presets import preset_only

DONE = [entry.artifact for entry in artifacts_of(PAPERS)]


def comparable(preset, **over):
    run = evidence(preset, **over)
    return run.comparable(run.jobs["npf_table2"].inputs)


def test_numbers_are_comparable_dataset_by_dataset():
    assert comparable("quick") == {"mnist": False, "cifar10": False}
    assert comparable("paper") == {"mnist": True, "cifar10": True}
    assert comparable("paper", data={"mnist": "digits"}) == {"mnist": False, "cifar10": True}
    adam = {"npf": {"regimes": {"rows": {"fc_adam": {"epochs": 2}}}}}
    assert comparable("paper", **adam) == {"mnist": False, "cifar10": True}


def differs(preset="paper", table="npf_regimes.runs", rows=(), **over):
    run = evidence(preset, **over)
    return run.differences([run.jobs.input("", table)], rows)


def test_what_differs_from_the_paper_is_told_in_words():
    three = {"npf": {"regimes": {"runs": 3}}}
    words = differs("laptop", rows=["fc_sgd"], **three)
    assert words == ("MNIST", "epochs 30 of 300", "runs 3 of 5")
    assert differs("laptop", rows=["fc_sgd", "fc_adam"])[1] == "epochs 30 of 300 and 20 of 100"
    jpeg = differs("laptop", rows=["gconv_sgd"], data={"cifar10": "cifar10_jpeg"}, **three)
    assert (jpeg[0], jpeg[-1]) == ("CIFAR-10 (JPEG re-encoded)", "and 2 more")
    few = {"trust": {"heat_widths": {"widths": [50, 100]}}}
    widths = differs(table="trust_heat_widths.cells", **few)
    assert widths == ("widths 50 and 100 (paper 50, 100, 200 and 500)",)


def test_nothing_differs_at_the_papers_settings_or_in_choices_and_accepted_values():
    for name in DONE:
        run = evidence("paper")
        assert run.differences(run.jobs[name].inputs) == ()
    assert differs(table="dgn_planar.errors", dgn={"planar": {"steps": 7}}) == ()
    assert differs(table="npf_kvf.curves", npf={"kvf": {"gate": {"eps": 0}}}) == ()
    assert differs(table="beyond_diagonal.estimates", beyond={"diagonal": {"draws": 501}}) == ()
    assert differs(table="beyond_diagonal.estimates", beyond={"diagonal": {"draws": 499}}) == (
        "draws 499 of 500",
    )


def test_the_status_of_a_figure_is_its_own():
    quick = evidence("quick")
    laptop = evidence("laptop")
    paper = evidence("paper")
    assert quick.status("npf_fig3") == "on a stand-in"
    assert laptop.status("npf_fig3") == "reduced"
    assert paper.status("npf_fig3") == "at the paper's sizes"
    assert quick.status("beyond_fig5") == "at the paper's sizes"
    # wide networks have 2 runs; the thesis has a sketch without sizes
    assert quick.status("npf_fig7") == "the paper's sizes, fewer runs"
    assert quick.status("thesis_fig2_3") == "at sizes of our own"
    assert quick.grade_of_artifact("beyond_fig5") == grades.EXACT
    assert quick.grade_of_artifact("beyond_fig1") == grades.PAPER
    assert {quick.status(name) for name in DONE} <= set(STATUSES)


# ---- settings on which not all tables of an experiment depend

SMOKE = Jobs(PAPERS, preset_only("smoke", ROOT / "config"))
EXPERIMENTS = {e.name: e for paper in PAPERS for e in paper.experiments if e.independent}


def other(value):
    """Another value of the same kind, or None."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1 if isinstance(value, int) else value / 2
    if isinstance(value, str):
        return {"float64": "float32", "kernel": "kernel_over_depth"}.get(value)
    return value[:-1] if len(value) > 1 else [*value, value[-1]]


def changed_below(settings, key):
    """Settings with other values of a key and of all that lies below it."""
    values = {}
    for path, value in leaves(settings).items():
        if path[0] == key and other(value) is not None:
            values[path] = other(value)
    return replaced(settings, values)


@pytest.mark.parametrize("name", list(EXPERIMENTS))
def test_tables_do_not_depend_on_the_settings_that_they_are_said_not_to(name):
    experiment = EXPERIMENTS[name]
    settings = SMOKE[name].params
    if name == "thesis_risk":  # more points are at all whole numbers of parameters
        settings = settings | {"ratios": [0.5, 2.0, 3.0], "points": 5}
    measure = import_module(experiment.module).measure
    before = measured(measure, {}, settings)
    for key in set().union(*experiment.independent.values()):
        after = measured(measure, {}, changed_below(settings, key))
        unchanged = {table for table, rows in before.items() if rows.equals(after[table])}
        declared = {table for table, keys in experiment.independent.items() if key in keys}
        assert unchanged == declared, key


def test_only_known_tables_and_settings_are_declared():
    for name, experiment in EXPERIMENTS.items():
        assert set(experiment.independent) <= set(experiment.output)
        params = JOBS["paper"][name].params
        assert set().union(*experiment.independent.values()) <= set(params), name
