"""The LaTeX of every table compiles, fits its line, and says the same as the Markdown."""

import re
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests import table_cases
from tests.latex_pages import (
    ARTICLE,
    MISSING,
    SPREAD,
    Page,
    compiled,
    installed,
    joined,
    pages,
    same,
    table_on,
    within,
)

from finitewidth.common import result_files
from finitewidth.tables.job import render_table
from finitewidth.tables.latex_text import escaped

pytestmark = pytest.mark.skipif(not installed(), reason=MISSING)
RENDERERS = {a.artifact: a.module for a in table_cases.declared()}
ALPHABET = (
    "".join(map(chr, range(32, 127)))
    + "±×÷·−–—…§†‡∞∈≤≥≈∝≪≫→←⊙∩∪∂∇√°\u00a0\u2009\u202f"
    + "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΦΨΩ"
    + "ₓₜₛⱼₙₑᵢᵣ₀₁₂ᵍʷᶠᵛᵀᵈ⁻⁰¹²³⁴⁵⁶⁷⁸⁹⁽⁾"
)


@dataclass(frozen=True)
class Written:
    """The files of a table, and its page in the document of spread pages."""

    tex: str
    markdown: str
    formulas: bool
    spans: tuple[str, ...]
    page: Page | None = None


def written(folder, name, case):
    """Render a table as a run does, and return it without its page."""
    inputs = {}
    for key, table in case.tables.items():
        if table is not None:
            inputs[key] = folder / f"{name}_{key}.csv"
            result_files.write_table(inputs[key], table)
    outputs = {kind: folder / f"{name}.{kind}" for kind in ("csv", "md", "tex")}
    outputs = {kind: str(path) for kind, path in outputs.items()}
    render_table(RENDERERS[name], inputs, outputs, case.settings, table_cases.FOOTER)
    tex, markdown = (Path(outputs[kind]).read_text(encoding="utf-8") for kind in ("tex", "md"))
    module = import_module(RENDERERS[name])
    tables = {key: result_files.read_table(path) for key, path in inputs.items()}
    table = module.typeset(module.select(tables, case.settings), case.settings)
    markdown = re.sub(r"(?<!\*)\*([a-z])\*(?!\*)", r"\1", markdown)  # variables in italics
    return Written(tex, markdown, table.formulas is not None, table.spans)


def spread(tex):
    """The fragment with columns far apart, so that their words are told apart."""
    return re.sub(r"\\setlength{\\tabcolsep}{\d+pt}", r"\\setlength{\\tabcolsep}{60pt}", tex)


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("latex")
    cases = table_cases.cases()
    found = {name: written(folder, name, cases[name]) for name in sorted(cases)}
    compiled(folder, "spread", SPREAD % "\\clearpage\n".join(spread(t.tex) for t in found.values()))
    read = pages(folder / "spread.pdf")
    assert len(read) == len(found)
    return {name: replace(table, page=table_on(words))
            for (name, table), words in zip(found.items(), read, strict=True)}  # fmt: skip


@pytest.fixture(scope="module")
def log(tables, tmp_path_factory):
    """The log of an article that reads all tables and refers to each."""
    folder = tmp_path_factory.mktemp("article")
    for name, table in tables.items():
        (folder / f"{name}.tex").write_text(table.tex, encoding="utf-8")
    lines = [rf"\input{{{name}}} \ref{{tab:{name}}} \clearpage" for name in tables]
    document = ARTICLE % "\n".join(lines)
    compiled(folder, "article", document)
    return compiled(folder, "article", document)


def cells_of(markdown):
    """Title, header, rows and the text below of a table in Markdown."""
    title, table, *below = markdown.strip().split("\n\n")
    header, _, *rows = (
        [cell.strip().replace(r"\|", "|").strip("*") if cell.strip() != "*" else "*"
         for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        for line in table.splitlines()
    )  # fmt: skip
    return title.strip("*"), header, rows, "".join(below)


def faults(table):
    """Where page and Markdown differ: a list of (place, text of the Markdown, text of the page)."""
    title, header, rows, below = cells_of(table.markdown)
    page, formula, found = table.page, table.formulas, []

    def compare(place, said, seen):
        if same(said, formula) != same(seen, formula):
            found.append((place, said, seen))

    compare("title", title, re.sub(r"^Table\d+:", "", page.above))
    across = [header.index(name) for name in table.spans]
    own = [place for place in range(len(header)) if place not in across]
    lines, spans, above = [], set(), ""
    for row in rows:
        span = ", ".join(row[place] for place in across if row[place])
        if span not in ("", above):
            spans.add(len(lines))
            lines.append(span)
            above = span
        lines.append([row[place] for place in own])
    columns = page.columns(spans)
    if (len(lines), len(own)) != (len(page.lines), len(columns)):
        return [*found, ("shape", (len(lines), len(own)), (len(page.lines), len(columns)))]
    for place, column in zip(own, columns, strict=True):
        words = sorted(within(page.header, column), key=lambda w: (round(w.middle, -1), w.left))
        compare(("header", place), header[place], joined(words))
    for number, (said, seen) in enumerate(zip(lines, page.lines, strict=True)):
        if number in spans:
            compare((number, "across"), said, joined(seen))
            continue
        for place, cell, column in zip(own, said, columns, strict=True):
            compare((number, place), cell, joined(within(seen, column)))
    compare("below", below.replace("_preset", "preset").removesuffix("_"), page.below)
    return found


def test_every_declared_table_has_rows_here(tables):
    assert set(tables) == set(RENDERERS)


@pytest.mark.parametrize("name", sorted(RENDERERS))
def test_a_page_says_what_the_markdown_says(tables, name):
    assert faults(tables[name]) == []


def test_a_difference_would_be_seen(tables, tmp_path):
    """Another digit, a sign that is lost, a glyph of another alphabet, a missing note."""
    changes = {
        "npf0_table2": (r"\pm \mathbf{0.12}", r"\pm \mathbf{0.13}"),
        "npf_extra_limits": (r"$\sigma$", r"$\alpha$"),
        "npf_table1": (r"\mathbf{1}", r"\mathcal{1}"),
        "npf_table4": (r"\mathrm{DGN}^{(m)}", r"\mathrm{DGN}"),
        "dgn_table3": (r"last network", ""),
        "dgn_table4": (r"$\beta$ &", "&"),
    }
    for name, (old, _) in changes.items():
        assert old in tables[name].tex, name
    changed = [spread(tables[name].tex.replace(*pair)) for name, pair in changes.items()]
    compiled(tmp_path, "changed", SPREAD % "\\clearpage\n".join(changed))
    for name, words in zip(changes, pages(tmp_path / "changed.pdf"), strict=True):
        assert faults(replace(tables[name], page=table_on(words))), name


def test_every_table_fits_the_line_of_an_article_and_can_be_referred_to(log):
    assert not re.findall(r"Overfull \\hbox.*", log)
    assert "undefined" not in log
    assert "multiply defined" not in log


@pytest.mark.parametrize("name", sorted(RENDERERS))
def test_a_fragment_is_plain(tables, name):
    """ASCII, rules of booktabs, a caption before the label, nothing that scales it."""
    tex = tables[name].tex
    assert tex.isascii()
    assert tex.startswith(r"% needs \usepackage{booktabs,tabularx}" + "\n")
    assert tex.index(r"\caption{") < tex.index(rf"\label{{tab:{name}}}") < tex.index(r"\toprule")
    assert r"\resizebox" not in tex
    assert r"\hline" not in tex


# at the start of a row, or joined by the fonts of LaTeX if nothing is between
AWKWARD = [
    "[0pt] a",
    "*",
    "**b",
    "--",
    "---",
    "–-",
    "''",
    "``",
    "?`",
    "<<",
    "a_b^c",
    "~%#&$",
    "{}\\",
]


@settings(max_examples=5, deadline=None, derandomize=True)
@example(AWKWARD)
@example(re.findall(".{1,4}", ALPHABET.strip()))
@given(st.lists(st.text(ALPHABET, min_size=1, max_size=25).filter(str.strip), min_size=60,
                max_size=60))  # fmt: skip
def test_any_text_is_printed_as_it_is(tmp_path_factory, texts):
    folder = tmp_path_factory.mktemp("escaped")
    rows = "\n".join(rf"{escaped(text)} & n{number} \\" for number, text in enumerate(texts))
    body = "\\begin{tabular}{@{}l@{\\hskip 100pt}l@{}}\n\\toprule\nx & y \\\\\n\\midrule\n"
    compiled(folder, "t", SPREAD % f"{body}{rows}\n\\bottomrule\n\\end{{tabular}}")
    (words,) = pages(folder / "t.pdf")
    page = table_on(words)
    seen = [joined(line).removesuffix(f"n{number}") for number, line in enumerate(page.lines)]
    assert [same(text) for text in seen] == [same(text) for text in texts]


def test_composed_signs_and_letters_of_other_scripts_compile(tmp_path):
    text = escaped("Müller, naïve, Čech, ŷ, Ångström, ≠, ∉, 中")
    compiled(tmp_path, "t", ARTICLE % text)
    assert r"{\ttfamily U+4E2D}" in text
