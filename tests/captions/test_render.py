"""Captions as a job: what is printed how, and what is refused with which message."""

import pytest
from tests.captions.synthetic import TABLES

from finitewidth.captions import facts, job
from finitewidth.captions.render import Context, Judged, environment, listed, render
from finitewidth.common import result_files
from finitewidth.common.errors import ResultError

SPACE = "\N{NO-BREAK SPACE}"


def shown(expression, **facts):
    return render(f"{{{{ {expression} }}}}", "x", Context(facts)).strip()


@pytest.mark.parametrize(("expression", "value", "text"), [
    ("fact.x | number(2)", 1.005, "1.00"),
    ("fact.x | number(1)", 12345.67, "12,345.7"),
    ("fact.x | number(1)", -0.01, "0.0"),
    ("fact.x | number(2)", (1.2, 1.5), "1.20 to 1.50"),
    ("fact.x | number(1)", (1.21, 1.22), "1.2"),
    ("fact.x | percent", 0.07, f"7{SPACE}%"),
    ("fact.x | percent", (0.08, 0.09), f"8 to 9{SPACE}%"),
    ("fact.x | percent(1)", 0.0712, f"7.1{SPACE}%"),
    ("fact.x | whole", 200000, "200,000"),
    ("fact.x | whole", 3822.85, "3,823"),
    ("fact.x | significant", 0.000213, "0.00021"),
    ("fact.x | listed", [100.0, 200.0, 500.0], "100, 200 and 500"),
    ("of(fact.x, 5)", 5, "all 5"),
    ("of(fact.x, 5)", 3, "3 of 5"),
    ("of(fact.x, 5)", 0, "none of 5"),
    ("of(fact.x, 2)", 2, "both"),
    ("of(fact.x, 1)", 1, "1 of 1"),
])  # fmt: skip
def test_numbers_are_shown_as_readers_write_them(expression, value, text):
    assert shown(expression, x=value) == text


def test_lists_of_any_length():
    assert [listed(names) for names in ([], ["a"], ["a", "b"])] == ["", "a", "a and b"]


@pytest.mark.parametrize(("template", "message"), [
    ("{{ fact.unknown }}", "unknown"),
    ("{{ fact.unknown | number(2) }}", "unknown"),
    ("{{ fact.missing | number(2) }}", "guard the sentence"),
    ("{{ fact.lost | number(2) }}", "no number to print"),
    ("{{ typo }}", "typo"),
    ("{{ paper('500', ' ') }}", "no place in a paper"),
    ("{% if fact.x %}", "Unexpected end of template"),
])  # fmt: skip
def test_what_a_template_may_not_print_is_refused_with_its_artifact(template, message):
    context = Context({"missing": None, "lost": float("nan"), "x": 1})
    with pytest.raises(ResultError, match=f"caption of beyond_fig5: .*{message}"):
        render(template, "beyond_fig5", context)


def test_a_verdict_is_the_word_of_the_ledger_and_not_run_without_one():
    text = "{{ verdict('B01') }}, {{ judged('B01') }}"
    judged = {"B01": Judged("contradicted in part", comparisons=12, failing=1)}
    told = "contradicted in part, contradicted in part (1 of 12 comparisons fails)\n"
    assert render(text, "x", Context(verdicts=judged)) == told
    assert render(text, "x", Context()) == "not run, not run\n"


@pytest.mark.parametrize(
    ("failing", "text"),
    [(0, "none of 7 comparisons fail"), (1, "1 of 7 comparisons fails"),
     (3, "3 of 7 comparisons fail"), (7, "all 7 comparisons fail")],
)  # fmt: skip
def test_a_verdict_says_how_many_comparisons_fail(failing, text):
    assert str(Judged("inconclusive", 7, failing)) == f"inconclusive ({text})"


def test_paragraphs_are_wrapped_and_tags_leave_no_empty_line():
    text = "a\n{% if fact.x %}\nb\n{% endif %}\n" + "word " * 40 + "\n\n{{ footer }}.\n"
    first, second = render(text, "x", Context({"x": True}, footer="F")).split("\n\n")
    assert first.startswith("a b word")
    assert max(map(len, first.splitlines())) <= 100
    assert second == "F.\n"


def test_a_paper_without_facts_has_captions_all_the_same():
    assert facts.module_of("unheard") is None
    assert facts.facts_of("unheard_fig1", {}) == {}
    assert facts.facts_of("dgn_table1", {}) == {}


def test_undefined_names_are_errors_everywhere():
    assert environment().undefined.__name__ == "StrictUndefined"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Two artifacts that show the same table, and the verdicts of a paper."""
    monkeypatch.chdir(tmp_path)
    for name, rows in TABLES["beyond_fig6"](True).items():
        result_files.write_table(f"{name}.csv", rows)
    result_files.write_text("one.rst", "{{ fact.depth }}: {{ verdict('B10') }}\n\n{{ footer }}.\n")
    verdicts = TABLES["npf_table2"](True)["rows"].assign(
        claim="B10", verdict="contradicted", comparisons=7, failing=1
    )
    result_files.write_table("verdicts.csv", verdicts)
    return tmp_path


def captions(*artifacts):
    inputs = {name: f"{name}.csv" for name in ("architectures", "drawings")}
    return {
        artifact: {"template": "one.rst", "inputs": inputs, "footer": f"preset test, {artifact}",
                   "output": f"captions/{artifact}.rst"}
        for artifact in artifacts
    }  # fmt: skip


def test_the_job_writes_a_caption_for_each_artifact(folder):
    job.write_captions(captions("beyond_fig6"), ["verdicts.csv"])
    text = (folder / "captions/beyond_fig6.rst").read_text(encoding="utf-8")
    assert text == "10: contradicted\n\npreset test, beyond_fig6.\n"


def test_without_verdicts_none_was_made(folder):
    job.write_captions(captions("beyond_fig6"), [])
    assert (folder / "captions/beyond_fig6.rst").read_text().startswith("10: not run")


def test_a_table_is_read_once_and_no_artifact_changes_it_for_another(folder, monkeypatch):
    read, changed = [], []
    original = result_files.read_table

    def counted(path, columns=()):
        read.append(path)
        return original(path, columns)

    def spoil(artifact, tables):
        changed.append(tables["architectures"]["y"].sum())
        tables["architectures"]["y"] = 0.0
        return {"depth": 10}

    monkeypatch.setattr(result_files, "read_table", counted)
    monkeypatch.setattr(job, "facts_of", spoil)
    job.write_captions(captions("beyond_fig6", "beyond_fig5"), [])
    assert sorted(read) == ["architectures.csv", "drawings.csv"]
    assert changed[0] == changed[1] != 0


@pytest.mark.parametrize(("lost", "message"), [
    ("drawings.csv", "drawings.csv is missing; run the rule that makes it"),
    ("verdicts.csv", "verdicts.csv is missing"),
    ("one.rst", "the template one.rst cannot be read"),
])  # fmt: skip
def test_a_missing_file_is_named(folder, lost, message):
    (folder / lost).unlink()
    with pytest.raises(ResultError, match=message):
        job.write_captions(captions("beyond_fig6"), ["verdicts.csv"])
    assert not (folder / "captions").exists()


def test_a_verdict_table_without_verdicts_is_refused(folder):
    result_files.write_table("verdicts.csv", TABLES["npf_table2"](True)["rows"])
    with pytest.raises(ResultError, match="lacks the columns"):
        job.write_captions(captions("beyond_fig6"), ["verdicts.csv"])
