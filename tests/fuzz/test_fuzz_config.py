"""Any one change of a configuration plans the same files, or is refused by the key's name.

Here changes go through what the Snakefile asks of `finitewidth.pipeline.plan.Plan`, which takes
far less time than a start of Snakemake. tests/fuzz/test_fuzz_dry.py starts real dry runs of a
sample.
"""

import json
import re
from collections import Counter
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import example, given
from hypothesis import settings as hypothesis_settings
from tests.fuzz.mutations import Mutation, mutations, paths

from finitewidth.common import settings
from finitewidth.common.declarations import paper_names
from finitewidth.common.errors import ConfigError
from finitewidth.pipeline.configuration import json_schema
from finitewidth.pipeline.plan import Plan

ROOT = Path(__file__).resolve().parents[2]
BASE = settings.preset_only("smoke", ROOT / "config")
EXAMPLES = {False: 100, True: 600}
PLAIN = re.compile(r"[A-Za-z0-9_-]+")  # as wildcard_constraints in workflow/rules/common.smk


@pytest.fixture(autouse=True)
def read_once(monkeypatch):
    """The project's own files, parsed once and not for every example."""
    monkeypatch.setattr(settings, "read_yaml", cache(settings.read_yaml))


def planned(config: dict) -> list[str]:
    """All files that a configuration's plan names, as the Snakefile asks for them."""
    config = settings.typed(config)
    settings.preset_file(config, ROOT / "config")
    plan = Plan(config, ROOT)
    datasets = [plan.jobs.dataset(role) for role in ("mnist", "fashion_mnist", "cifar10")]
    for name in datasets:
        source = Path(name).stem
        assert PLAIN.fullmatch(source)
        plan.tree(SimpleNamespace(source=source))
    for name in plan.trainings():
        paper, training = name.split("/")
        assert PLAIN.fullmatch(training)
        wildcards = SimpleNamespace(paper=paper, training=training)
        plan.training_inputs(wildcards)
        plan.training_settings(wildcards)
    for job in plan.declared():
        plan.params(job.name)
        if job.kind != "experiment":
            plan.footer(job.name)
    for paper in plan.papers:
        plan.claim_settings(SimpleNamespace(paper=paper.name))
    return [*plan.targets(), *plan.verdicts(), plan.errata()]


def outcome(mutation: Mutation) -> str:
    """Refused or planned; fails where neither is right."""
    config = mutation(BASE)
    try:
        files = planned(config)
    except ConfigError as error:
        refusal = str(error)
        assert len(refusal) < 4000, "nobody reads that"
        named = mutation.name.encode("unicode_escape").decode()
        assert any(word in refusal for word in (mutation.name, named, "JSON cannot")), (
            mutation, refusal)  # fmt: skip
        if mutation.kind == "value" and mutation.path[0] == "data" and "JSON cannot" not in refusal:
            assert re.search(rf"^\s*{re.escape('.'.join(mutation.path))}\b", refusal, re.M), refusal
        if mutation.kind == "misspelt" and "imagefolder" not in mutation.path[:-1]:
            assert "did you mean" in refusal
        return "refused"
    results = settings.results_folder(config["preset"], int(config["seed"]))
    assert files == [file.replace("results/smoke/", f"{results}/") for file in planned(BASE)]
    assert all(".." not in Path(file).parts for file in files)
    # a network needs the keys of its kind only
    optional = "imagefolder" in mutation.path or "network" in mutation.path[:-1]
    assert mutation.kind == "value" or optional
    return "planned"


def test_any_change_plans_the_same_or_is_refused_by_name(full, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    outcomes = Counter()

    @hypothesis_settings(
        max_examples=EXAMPLES[full], deadline=None, database=None, print_blob=True,
        derandomize=not full,
    )  # fmt: skip
    @given(mutations(BASE))
    @example(Mutation("value", ("data", "root"), "$(touch canary)"))
    @example(Mutation("value", ("data", "mnist"), "digts"))
    @example(Mutation("value", ("data", "mnist"), "mnist\n"))
    def try_one(mutation):
        outcomes[outcome(mutation)] += 1

    try_one()
    assert outcomes["refused"] > outcomes["planned"] > 0
    assert sum(outcomes.values()) >= EXAMPLES[full]
    assert not list(tmp_path.iterdir())


@pytest.mark.full
@pytest.mark.parametrize(
    "value", [10**400, 1e308, -1, "$(touch canary)"], ids=lambda value: str(value)[:9]
)
def test_no_leaf_takes_what_is_huge_negative_or_a_command(value):
    """Every leaf but the few named takes none of these."""
    free = {("data", "root"), ("data", "imagefolder", "cifar10_jpeg")}
    # first and last are of log10
    signed = ("cosines", "examples", "covariances", "first", "last", "phase")
    for path in paths(BASE):
        if path in free or (value == -1 and any(part in signed for part in path)):
            continue
        assert outcome(Mutation("value", path, value)) == "refused", path


RULES = [ROOT / "Snakefile", *sorted((ROOT / "workflow/rules").glob("*.smk"))]


@pytest.mark.parametrize("file", RULES, ids=lambda file: file.name)
def test_no_value_reaches_a_shell(file):
    """Rules call scripts, which read their parameters as data; none builds a command line."""
    found = re.findall(r"^\s*(shell|run|cwl|notebook|wrapper|shadow)\s*:", file.read_text(), re.M)
    assert found == []


@pytest.mark.parametrize("file", sorted((ROOT / "workflow/scripts").glob("*.py")), ids=str)
def test_no_script_starts_a_shell(file):
    assert not re.search(r"os\.system|subprocess|shell\(|eval\(|exec\(", file.read_text())


def parts(schema, path=()):
    """Every mapping of a schema, with its path."""
    if isinstance(schema, dict):
        yield path, schema
    children = schema.items() if isinstance(schema, dict) else enumerate(schema)
    for key, child in children:
        if isinstance(child, dict | list):
            yield from parts(child, (*path, key))


BOUNDS = {
    "integer": [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")],
    "number": [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")],
    "string": [("pattern",), ("maxLength",)],
    "array": [("maxItems",)],
}


def test_the_schema_bounds_every_number_text_and_list():
    unbounded = []
    for path, part in parts(json.loads(json_schema(paper_names()))):
        types = [] if {"enum", "const"} & set(part) else part.get("type", [])
        for kind in [types] if isinstance(types, str) else types if isinstance(types, list) else []:
            unbounded += [(".".join(map(str, path)), choice[0]) for choice in BOUNDS.get(kind, [])
                          if not set(choice) & set(part)]  # fmt: skip
    assert unbounded == []
