"""No caption has a number typed in: each is computed, or a constant of a paper with its place."""

import csv
import re
from pathlib import Path

import pytest
import yaml
from tests.captions.literals import inspect, typed_in

from finitewidth.captions.facts import function_of
from finitewidth.claims import ledger
from finitewidth.common.declarations import artifacts_of, done, paper_names, read_papers

ROOT = Path(__file__).parents[2]
TEMPLATES = {
    file.stem: file.read_text(encoding="utf-8")
    for file in sorted((ROOT / "workflow/report").glob("*.rst"))
    if file.stem != "workflow"
}
FINISHED = [one.artifact for one in done(artifacts_of(read_papers(ROOT / "workflow/papers")))]
SETTING = re.compile(r"config/papers/(?P<file>\w+\.yaml): (?P<key>[\w.]+)")


def test_every_finished_artifact_has_a_template_and_no_template_is_left_over():
    assert sorted(TEMPLATES) == sorted(FINISHED)


@pytest.mark.parametrize("artifact", TEMPLATES)
def test_a_template_has_no_number_typed_in(artifact):
    assert inspect(TEMPLATES[artifact]).literals == []


@pytest.mark.parametrize("artifact", TEMPLATES)
def test_a_template_ends_with_the_footer(artifact):
    assert TEMPLATES[artifact].endswith("\n\n{{ footer }}.\n")


@pytest.mark.parametrize("artifact", TEMPLATES)
def test_facts_are_computed_where_a_template_asks_for_them_and_nowhere_else(artifact):
    assert bool(inspect(TEMPLATES[artifact]).facts) == (function_of(artifact) is not None)


@pytest.mark.parametrize("artifact", TEMPLATES)
def test_verdicts_are_on_claims_of_the_artifact(artifact):
    claims = {claim.id: claim for paper in paper_names() for claim in ledger.claims_of(paper)}
    for claim in inspect(TEMPLATES[artifact]).claims:
        assert artifact in claims[claim].artifacts


@pytest.mark.parametrize("artifact", TEMPLATES)
def test_constants_of_papers_are_what_their_place_says(artifact):
    for value, place in inspect(TEMPLATES[artifact]).constants:
        paper, _, where = place.partition(", ")
        assert paper in paper_names()
        assert where
        if setting := SETTING.fullmatch(where):
            assert value == str(_stated(paper, setting["file"], setting["key"]))
        elif printed := _printed(paper, where):
            assert re.match(r"[\d./]+", value)[0] in printed


def _stated(paper, file, key):
    """A setting that the paper states ([P])."""
    text = (ROOT / "config/papers" / file).read_text(encoding="utf-8")
    found = yaml.safe_load(text)[paper]
    for name in key.split("."):
        found = found[name]
    line = rf"{key.split('.')[-1]}: {found} +# \[P\]"
    assert re.search(line, text), f"{key} is not a value of the paper"
    return found


def _printed(paper, where):
    """The numbers that the paper prints at a place, as far as they are kept."""
    with (ROOT / f"config/reported/{paper}.csv").open(encoding="utf-8", newline="") as stream:
        return [row["value"] for row in csv.DictReader(stream) if row["place"] == where]


@pytest.mark.parametrize("text", [
    "by 7 % above", "by 1/4", "four of six rows", "larger by a third", "about twice as large",
    "half of them", "11 per cent", "for several widths", "sixteen networks", "at L = 100",
    "in 56.0 and 77.0", "a hundredth of it", "the 2 of Figure 3",
])  # fmt: skip
def test_a_number_in_the_text_is_found(text):
    assert typed_in(text)
    assert inspect(text).literals


@pytest.mark.parametrize("text", [
    "as Figure 3 of npf, from sections 1 and 3", "equation (2) and Theorem B.2, item 5 (claim D25)",
    "the eigenvalues of K_0/d are 1 - mu^(d-1)", "on CIFAR-10, in both networks, first and last",
])  # fmt: skip
def test_places_names_and_formulas_are_no_numbers(text):
    assert inspect(text).literals == []


@pytest.mark.parametrize("template", [
    "{{ 7 }} networks", "{{ fact.n * 2 }}", "{{ 'twice' }}", "{% if fact.n > 3 %}many{% endif %}",
    "{% if fact.n %}by 7 %{% endif %}", "{{ fact.n | default(3) }}",
    "{% if fact.n %}seven{% else %}four{% endif %}", "{{ of(3, fact.n) }}",
])  # fmt: skip
def test_a_number_in_an_expression_is_found(template):
    assert inspect(template).literals


@pytest.mark.parametrize("template", [
    "{{ fact.n | number(2) }} at {{ fact.ends[1] | percent }}", "{{ paper('0.81', 'dgn, 8') }}",
    "{% if verdict('B01') == 'supported' %}so{% endif %}", "{{ of(fact.n, fact.m) }} runs",
])  # fmt: skip
def test_facts_constants_and_verdicts_are_no_typed_numbers(template):
    assert inspect(template).literals == []
