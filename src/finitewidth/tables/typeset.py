"""Typesetting that all tables share: Markdown, LaTeX, and a footer."""

from dataclasses import dataclass

import pandas as pd


@dataclass(frozen=True)
class Typeset:
    """A table ready to be written.

    Attributes:
        cells: text in the order shown; the column names are the head.
        title: one line above.
    """

    cells: pd.DataFrame
    title: str


def markdown(table: Typeset, footer: str) -> str:
    """GitHub's Markdown."""
    body = table.cells.to_markdown(index=False, disable_numparse=True)
    return f"**{table.title}**\n\n{body}\n\n_{footer}_\n"


def latex(table: Typeset, footer: str) -> str:
    """A ``table`` environment for the booktabs package."""
    cells = table.cells.map(_escaped).rename(columns=_escaped)
    body = cells.to_latex(index=False, escape=False, column_format="l" * cells.shape[1])
    return "\n".join(
        (
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_escaped(table.title)}}}",
            body.rstrip(),
            "",
            rf"{{\footnotesize {_escaped(footer)}}}",
            r"\end{table}",
            "",
        )
    )


def _escaped(text: str) -> str:
    for plain, command in (
        ("\\", r"\textbackslash{}"), ("&", r"\&"), ("%", r"\%"), ("_", r"\_"), ("#", r"\#"),
        ("±", r"$\pm$"), ("×", r"$\times$"), ("Δ", r"$\Delta$"), ("β", r"$\beta$"),
        ("·", r"$\cdot$"), ("–", "--"),
    ):  # fmt: skip
        text = text.replace(plain, command)
    return text


def plus_minus(mean: float, spread: float) -> str:
    """``97.86 ± 0.11``; a dash where there is no number, no spread where there is none."""
    if pd.isna(mean):
        return "–"
    return f"{mean:.2f}" if pd.isna(spread) else f"{mean:.2f} ± {spread:.2f}"
