"""Index, rules, captions, renderers and reported numbers tell one story."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.workflow_rules import RULES, SMK, footer_of, uses_data

from finitewidth.common.index import KINDS, PAPERS, done, read_extras, read_index, read_reported
from finitewidth.common.settings import preset_only

ROOT = Path(__file__).parents[2]
INDEX = read_index(ROOT / "config/artifacts.tsv")
EXTRAS = read_extras(ROOT / "config/extras.tsv")
DONE = [artifact.artifact for artifact in done(INDEX + EXTRAS)]
ARTIFACT_RULE = re.compile(
    rf"^(?:rule|use rule \w+ as) ((?:{'|'.join(PAPERS)})_(?:fig|table|extra)\w+)", re.M
)


def test_every_done_artifact_has_a_rule_of_its_name_and_no_other_rule_looks_like_one():
    made = {name for text in SMK.values() for name in ARTIFACT_RULE.findall(text)}
    assert made == set(DONE)


@pytest.mark.parametrize("artifact", DONE)
def test_first_hop_the_rule_names_its_files_caption_and_renderer(artifact):
    body = RULES[artifact]
    row = next(a for a in INDEX + EXTRAS if a.artifact == artifact)
    assert f'**files_of("{artifact}")' in body
    assert f'plan.log("{artifact}")' in body
    assert f'plan.benchmark("{artifact}")' in body
    assert (ROOT / f"workflow/report/{artifact}.rst").read_text().strip()
    module = re.search(r'\*\*module\("([\w.]+)"\)', body).group(1)
    assert module.startswith(f"finitewidth.{row.kind}s.")
    assert find_spec(module)


@pytest.mark.parametrize("name", [n for n, body in RULES.items() if "experiments" in body])
def test_second_hop_an_experiment_rule_names_its_module(name):
    body = RULES[name]
    if "/experiments/" in body:
        module = re.search(r'\*\*module\("([\w.]+)"\)', body).group(1)
        assert module.startswith("finitewidth.experiments.")
        assert find_spec(module)
        assert f'plan.benchmark("{name}")' in body


@pytest.mark.parametrize("name", [n for n, body in RULES.items() if "output:" in body])
def test_every_rule_has_log_benchmark_threads_and_resources(name):
    body = RULES[name]
    heir = "params:" in body and "script:" not in body  # of a base rule, which has the latter two
    for word in ("log:", "benchmark:", *(() if heir else ("threads:", "mem_mb=", "runtime="))):
        assert word in body, f"rule {name} has no {word}"


def is_measured(artifact: str) -> bool:
    """Whether something is trained or drawn for it; else it is a definition, computed exactly."""
    footer, settings = footer_of(artifact), preset_only("paper", ROOT / "config")
    shown = [settings[footer.paper][section] for section in footer.sections]
    return uses_data(artifact) or any({"runs", "draws"} & set(section) for section in shown)


def test_reported_numbers_belong_to_artifacts_and_measured_tables_have_them():
    tables = {row.artifact for row in INDEX if row.kind == "table" and row.artifact in DONE}
    measured = {artifact for artifact in tables if is_measured(artifact)}
    assert "npf_table2" in measured
    reported = [read_reported(ROOT / "config/reported", paper, INDEX) for paper in PAPERS]
    assert measured <= {row.artifact for rows in reported for row in rows}


@pytest.mark.parametrize("artifact", DONE)
def test_a_footer_names_datasets_exactly_where_a_rule_reads_any(artifact):
    footer = footer_of(artifact)
    assert bool(footer.roles) == uses_data(artifact)
    assert footer.sections


def test_data_are_found_however_many_rules_lie_between():
    rules = {"a": "plan.dataset(role)", "b": "rules.a.output.x", "c": "rules.b.output.y", "d": ""}
    assert [uses_data(name, rules) for name in rules] == [True, True, True, False]


@pytest.mark.parametrize("paper", ["npf", "npf0", "dgn"])
def test_titles_name_no_dataset_for_which_another_may_stand_in(paper):
    for row in INDEX + EXTRAS:
        if row.paper == paper:
            assert not re.search("mnist|cifar", row.title, re.I), row.artifact


def test_captions_belong_to_artifacts():
    captions = {file.stem for file in (ROOT / "workflow/report").glob("*.rst")} - {"workflow"}
    assert captions == set(DONE)


def test_every_kind_has_a_folder_of_renderers():
    for kind in KINDS:
        assert find_spec(f"finitewidth.{kind}s")
