"""Declarations, rules, captions, renderers, claims and printed numbers agree."""

import inspect
import re
from fnmatch import fnmatch
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.workflow_rules import rules

from finitewidth.claims import ledger
from finitewidth.common.declarations import artifacts_of, done, read_papers
from finitewidth.common.fields import Field
from finitewidth.common.reported_numbers import read_reported
from finitewidth.common.settings import preset_only
from finitewidth.pipeline.plan import Plan

ROOT = Path(__file__).parents[2]
PAPERS = read_papers(ROOT / "workflow/papers")
ARTIFACTS = {entry.artifact: entry for entry in artifacts_of(PAPERS)}
DONE = [entry.artifact for entry in done(ARTIFACTS.values())]
EXPERIMENTS = {e.name: e for paper in PAPERS for e in paper.experiments}
CLAIMS = [claim for paper in PAPERS for claim in ledger.claims_of(paper.name)]
QUICK = Plan(preset_only("quick", ROOT / "config"), ROOT)


def test_there_is_one_rule_of_its_name_for_every_finished_artifact_and_every_experiment():
    assert set(DONE) | set(EXPERIMENTS) | {paper.name for paper in PAPERS} <= set(rules())
    looks_like_one = re.compile(rf"({'|'.join(p.name for p in PAPERS)})_(fig|table|extra)\w+")
    assert {name for name in rules() if looks_like_one.fullmatch(name)} == set(DONE)


@pytest.mark.parametrize("artifact", DONE)
def test_first_hop_a_name_leads_to_its_declaration_rule_caption_and_renderer(artifact):
    entry, rule = ARTIFACTS[artifact], rules()[artifact]
    declaration = ROOT / f"workflow/papers/{entry.paper}.yaml"
    assert re.search(rf"^  {artifact}:$", declaration.read_text(), re.M)
    files = {str(file) for name, file in rule.output.items() if name != "provenance"}
    assert files == set(QUICK.jobs.outputs(artifact).values())
    assert (ROOT / QUICK.caption_jobs(entry.paper)[artifact]["template"]).read_text().strip()
    renderer = import_module(rule.params.module)
    last = "draw" if entry.kind == "figure" else "typeset"
    for function in ("select", last):
        assert len(inspect.signature(getattr(renderer, function)).parameters) == 2
    assert all(isinstance(field, Field) for field in renderer.FIELDS.values())
    assert renderer.FIELDS


@pytest.mark.parametrize("artifact", DONE)
def test_second_hop_the_inputs_of_a_renderer_name_their_experiments(artifact):
    for reference in ARTIFACTS[artifact].of.values():
        if reference.startswith("reported/"):
            assert (ROOT / f"config/{reference}.csv").is_file()
        else:
            assert reference.split(".")[0] in EXPERIMENTS


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_has_one_name_for_rule_section_module_and_files(name):
    experiment, rule = EXPERIMENTS[name], rules()[name]
    assert rule.params.module == experiment.module
    assert find_spec(experiment.module)
    own = name.split("_", 1)[1]
    last = experiment.module.split(".")[-1]
    sharing = [e for e in EXPERIMENTS.values() if e.module == experiment.module]
    assert last == own or (len(sharing) > 1 and own.startswith(f"{last}_"))
    folder = f"results/quick/{experiment.paper}/experiments"
    wanted = {
        f"{folder}/{own}_{made}.{'npz' if made == 'weights' else 'csv'}"
        for made in experiment.makes
    }
    assert {str(file) for file in rule.output} == wanted | {f"{folder}/{own}_provenance.json"}
    sections = QUICK.config[experiment.paper]
    if isinstance(experiment.settings, str) and own in sections:
        assert experiment.settings.split(".")[0] == own


def test_every_experiment_is_shown_or_judged_or_read():
    shown = {ref for entry in ARTIFACTS.values() for ref in entry.of.values()}
    judged = {ref for claim in CLAIMS for ref in claim.reads.values()}
    read = {ref for e in EXPERIMENTS.values() for ref in e.reads.values()}
    used = {reference.split(".")[0] for reference in shown | judged | read}
    # a star stands for all experiments that begin so
    unused = [name for name in EXPERIMENTS if not any(fnmatch(name, each) for each in used)]
    assert not unused


@pytest.mark.parametrize("name", [n for n, rule in rules().items() if rule.output])
def test_every_rule_has_log_benchmark_threads_and_resources(name):
    rule = rules()[name]
    assert len(rule.log) == 1
    assert rule.benchmark
    assert {"mem_mb", "runtime", "_cores"} <= set(rule.resources)
    for resource in ("mem_mb", "runtime"):
        assert rule.resources[resource].is_evaluable(), "a repeated attempt asks for more"


def test_a_finished_artifact_has_no_claim_without_a_judge():
    planned = {name for name, entry in ARTIFACTS.items() if not entry.done}
    for claim in CLAIMS:
        if claim.artifacts and not planned & set(claim.artifacts):
            assert claim.judge, f"{claim.id}: its artifacts are finished, but nothing judges it"


def is_measured(artifact: str) -> bool:
    """Whether something is trained or drawn for it; else it is defined or computed exactly."""
    footer = QUICK.footer(artifact)
    return not any(words in footer for words in ("computed exactly", "shows no result"))


def test_reported_numbers_belong_to_artifacts_and_measured_tables_have_them():
    reported = set()
    for paper in PAPERS:
        names = {entry.artifact for entry in paper.artifacts}
        if (ROOT / f"config/reported/{paper.name}.csv").is_file():
            numbers = read_reported(ROOT / "config/reported", paper.name, names)
            reported |= {number.artifact for number in numbers}
    tables = {name for name in DONE if ARTIFACTS[name].kind == "table"}
    measured = {name for name in tables if not ARTIFACTS[name].extra and is_measured(name)}
    assert "npf_table2" in measured
    assert measured <= reported


@pytest.mark.parametrize("paper", ["npf", "npf0", "dgn"])
def test_titles_name_no_dataset_for_which_another_may_stand_in(paper):
    for entry in ARTIFACTS.values():
        if entry.paper == paper:
            assert not re.search("mnist|cifar", entry.title, re.I), entry.artifact


def test_captions_belong_to_artifacts():
    folder = ROOT / "src/finitewidth/papers"
    captions = {file.stem for file in folder.glob("*/captions/*.rst")}
    assert captions == set(DONE)


def test_every_declared_family_of_trainings_is_a_function_and_is_read():
    for paper in PAPERS:
        for family in paper.trainings:
            assert QUICK.jobs.families[paper.name, family]
    _, jobs = QUICK.jobs.closure(read for name in EXPERIMENTS for read in QUICK.jobs[name].reads)
    assert set(QUICK.trainings()) <= set(jobs)
