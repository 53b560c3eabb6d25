"""Tables of equations of a paper, in LaTeX and as text."""

import re
from collections.abc import Mapping, Sequence

import pandas as pd

from finitewidth.declarations import columns
from finitewidth.records.tables import Table

TABLE = Table(  # rows of `equation_rows`
    columns.ARTIFACT,
    columns.EQUATION,
    columns.NETWORK_OF_EQUATION,
    columns.EQUATION_AS_TEXT,
    columns.EQUATION_IN_LATEX,
    columns.PRINTED_AS_TEXT,
    columns.PRINTED_IN_LATEX,
)
Rows = Sequence[tuple[str, str, str]]  # label, network (empty if there is only one), LaTeX
Printed = Mapping[tuple[str, str, str], str]
SIGNS = {
    "Theta": "Θ",
    "beta": "β",
    "chi": "χ",
    "epsilon": "ε",
    "gamma": "γ",
    "mu": "μ",
    "sum": "Σ",
    "cdot": "·",
    "dagger": "†",
    "dots": "…",
    "geq": "≥",
    "in": "∈",
    "infty": "∞",
    "odot": "⊙",
    "sim": "~",
    "top": "ᵀ",
}
RAISED = dict(zip("fvFVgw", "ᶠᵛꟳⱽᵍʷ", strict=True))
LOWERED = dict(zip("xstjr", "ₓₛₜⱼᵣ", strict=True))
# pattern in LaTeX -> text; the inner parts of a formula are rewritten first
RULES = (
    (r"d_\\mathrm\{in\}", "dᵢₙ"),
    (r"\\hat\{y\}", "ŷ"),
    (r"\\math(?:cal|rm)\{(\w+)\}", r"\1"),
    (r"\\mathbf\{1\}_\{\\\{(.*?)\\\}\}", r"1{\1}"),
    (r"\\quad\\allowbreak \{(.*)\}", r"  \1"),
    (r"\\frac\{1\}\{(.+)\}$", r"1 / (\1)"),
    (r"\\frac\{1\+(.+?)\}\{(.+)\}$", r"(1 + \1) / (\2)"),
    (r"\^?\\([A-Za-z]+)", lambda match: SIGNS.get(match[1], match[1])),
    (r"\^\{(\(m\))\}", r"^\1"),
    (r"\^\{(DGN\^\(m\))\}", r"^\1"),
    (r"\\([{}])|_(?=†)", r"\1"),
    (r"_\{x,t\}", "ₓₜ"),
    (r"\^([fvFVgw])", lambda match: RAISED[match[1]]),
    (r"_([xstjr])", lambda match: LOWERED[match[1]]),
    (r"-", "−"),
    (r"\$", ""),
)


def as_text(latex: str) -> str:
    r"""Write a formula, or a note with formulas, as text: ``\Theta^f(l-1)`` as ``Θᶠ(l−1)``."""
    for pattern, text in RULES:
        latex = re.sub(pattern, text, latex)
    return latex


def equation_rows(tables: Mapping[str, Rows], printed: Printed | None = None) -> pd.DataFrame:
    """Return the equations of all artifacts, and their notes, which have the label ``note``.

    ``printed`` are right-hand sides that the paper prints differently. The columns are those of
    `TABLE`.
    """
    rows = []
    for artifact, equations in tables.items():
        for label, network, latex in equations:
            printed_latex = (printed or {}).get((artifact, label, network))
            rows.append(
                {
                    "artifact": artifact,
                    "row": label,
                    "column": network or None,
                    "text": as_text(latex),
                    "latex": latex,
                    "printed_text": printed_latex and as_text(printed_latex),
                    "printed_latex": printed_latex,
                }
            )
    return pd.DataFrame(rows)
