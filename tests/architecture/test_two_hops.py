"""Index, rules, captions, renderers and reported numbers tell one story."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from finitewidth.index import KINDS, PAPERS, done, read_extras, read_index, read_reported

ROOT = Path(__file__).parents[2]
INDEX = read_index(ROOT / "config/artifacts.tsv")
EXTRAS = read_extras(ROOT / "config/extras.tsv")
DONE = [artifact.artifact for artifact in done(INDEX + EXTRAS)]
SMK = {file.stem: file.read_text() for file in (ROOT / "workflow/rules").glob("*.smk")}
ARTIFACT_RULE = re.compile(
    rf"^(?:rule|use rule \w+ as) ((?:{'|'.join(PAPERS)})_(?:fig|table|extra)\w+)", re.M
)


def rules_of(text: str) -> dict[str, str]:
    """Name → text of every rule in a file."""
    parts = re.split(r"^(?:rule|use rule \w+ as) (\w+)", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


RULES = {name: body for text in SMK.values() for name, body in rules_of(text).items()}


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


def test_reported_numbers_belong_to_artifacts_and_done_tables_have_them():
    for paper in PAPERS:
        reported = read_reported(ROOT / "config/reported", paper, INDEX)
        with_numbers = {row.artifact for row in reported}
        assert {a for a in DONE if a.startswith(f"{paper}_table")} <= with_numbers


def test_captions_belong_to_artifacts():
    captions = {file.stem for file in (ROOT / "workflow/report").glob("*.rst")} - {"workflow"}
    assert captions == set(DONE)


def test_every_kind_has_a_folder_of_renderers():
    for kind in KINDS:
        assert find_spec(f"finitewidth.{kind}s")
