"""The LaTeX of every table compiles and fits the line of an article."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.helpers import table_rows

from finitewidth.records import result_files
from finitewidth.tables.job import render_table
from finitewidth.tables.latex_text import escaped

pytestmark = pytest.mark.skipif(
    shutil.which("pdflatex") is None,
    reason="no pdflatex on PATH, so tables are not compiled; on Debian, run apt-get install "
    "texlive-latex-recommended texlive-fonts-recommended",
)
RENDERERS = {a.artifact: a.module for a in table_rows.declared()}
ARTICLE = r"""\documentclass{article}
\usepackage{booktabs,tabularx}
\begin{document}
%s
\end{document}
"""
# at the start of a row, or joined by the fonts of LaTeX if nothing is between
AWKWARD = [
    "[0pt] a",
    "*",
    "**b",
    "--",
    "–-",
    "''",
    "?`",
    "<<",
    "a_b^c",
    "~%#&$",
    "{}\\",
    "± × ÷ · − – … ≤ ≥ ≈ ∝ → ⊙ √ ° ∞ ∈",
    "α β γ δ ε ζ η θ κ λ μ ν ξ π ρ σ τ φ χ ψ ω",
    "Γ Δ Θ Λ Ξ Π Σ Φ Ψ Ω ₓ ₜ ₀ ⁻¹ ᵍ ᵀ",
    "≠, ∉, 中",
]


def compiled(folder: Path, document: str) -> str:
    """Compile a document twice and return its log; `AssertionError` with the log if it fails."""
    (folder / "article.tex").write_text(document, encoding="utf-8")
    for _ in range(2):
        done = subprocess.run(
            [
                "pdflatex",
                "-interaction=nonstopmode",
                "-halt-on-error",
                "-no-shell-escape",
                "article.tex",
            ],
            cwd=folder,
            capture_output=True,
            timeout=300,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == 0, done.stdout.decode(errors="replace")[-3000:]
    return (folder / "article.log").read_text(encoding="utf-8", errors="replace")


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Folder and LaTeX of every table, rendered as a run does."""
    folder = tmp_path_factory.mktemp("latex")
    found = {}
    for name, (tables, settings) in table_rows.cases().items():
        inputs = {}
        for key, table in tables.items():
            if table is not None:
                inputs[key] = folder / f"{name}_{key}.csv"
                result_files.write_table(inputs[key], table)
        outputs = {kind: str(folder / f"{name}.{kind}") for kind in ("csv", "md", "tex")}
        render_table(RENDERERS[name], inputs, outputs, settings, table_rows.FOOTER)
        found[name] = Path(outputs["tex"]).read_text(encoding="utf-8")
    return folder, found


def test_every_table_fits_the_line_of_an_article_and_can_be_referred_to(tables):
    folder, fragments = tables
    assert set(fragments) == set(RENDERERS)
    lines = [rf"\input{{{name}}} \ref{{tab:{name}}} \clearpage" for name in fragments]
    log = compiled(folder, ARTICLE % "\n".join(lines))
    assert not re.findall(r"Overfull \\hbox.*", log)
    assert "undefined" not in log
    assert "multiply defined" not in log


def test_a_fragment_is_plain(tables):
    """ASCII, rules of booktabs, a caption before the label, nothing that scales it."""
    for name, tex in tables[1].items():
        assert tex.isascii(), name
        assert (
            tex.index(r"\caption{") < tex.index(rf"\label{{tab:{name}}}") < tex.index(r"\toprule")
        )
        assert r"\resizebox" not in tex, name


def test_any_text_compiles(tmp_path):
    rows = "\n".join(rf"{escaped(text)} & {n} \\" for n, text in enumerate(AWKWARD))
    compiled(tmp_path, ARTICLE % f"\\begin{{tabular}}{{ll}}\n{rows}\n\\end{{tabular}}")
