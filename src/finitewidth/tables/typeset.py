"""Typesetting that all tables share: Markdown, LaTeX, and a footer."""

from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd


@dataclass(frozen=True)
class Typeset:
    """A table ready to be written.

    Attributes:
        cells: text in the order shown; the column names are the head.
        title: one line above.
        notes: lines below.
        formulas: cells and notes as LaTeX sees them, already LaTeX; None: as they are, escaped.
        bold: which of the cells, True or False; None: none.
    """

    cells: pd.DataFrame
    title: str
    notes: tuple[str, ...] = ()
    formulas: "tuple[pd.DataFrame, tuple[str, ...]] | None" = None
    bold: pd.DataFrame | None = None


def markdown(table: Typeset, footer: str) -> str:
    """GitHub's Markdown."""
    body = _emphasised(table.cells, table.bold, "**{}**").to_markdown(
        index=False, disable_numparse=True
    )
    below = "".join(f"{note}\n\n" for note in table.notes)
    return f"**{table.title}**\n\n{body}\n\n{below}_{footer}_\n"


def latex(table: Typeset, footer: str) -> str:
    """A ``table`` environment for the booktabs package, and amssymb where there are formulas."""
    if table.formulas is None:
        cells, notes = table.cells.map(_escaped), map(_escaped, table.notes)
    else:
        cells, notes = table.formulas
    cells = _emphasised(cells, table.bold, r"\textbf{{{}}}").rename(columns=_escaped)
    body = cells.to_latex(index=False, escape=False, column_format="l" * cells.shape[1])
    return "\n".join(
        (
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_escaped(table.title)}}}",
            body.rstrip(),
            *(rf"\par {{\footnotesize {note}}}" for note in notes),
            "",
            rf"{{\footnotesize {_escaped(footer)}}}",
            r"\end{table}",
            "",
        )
    )


def _emphasised(cells: pd.DataFrame, bold: pd.DataFrame | None, mark: str) -> pd.DataFrame:
    return cells if bold is None else cells.mask(bold, cells.map(mark.format))


def _escaped(text: str) -> str:
    for plain, command in (
        ("\\", r"\textbackslash{}"), ("&", r"\&"), ("%", r"\%"), ("_", r"\_"), ("#", r"\#"),
        ("±", r"$\pm$"), ("×", r"$\times$"), ("Δ", r"$\Delta$"), ("β", r"$\beta$"),
        ("ε", r"$\epsilon$"),
        ("·", r"$\cdot$"), ("–", "--"),
    ):  # fmt: skip
        text = text.replace(plain, command)
    return text


def left_out(runs: Iterable[tuple[str, int, int]]) -> tuple[str, ...]:
    """A note on the runs that diverged, none where none did.

    Args:
        runs: what they are runs of, how many diverged, how many were averaged.
    """
    lost = [f"{name} {lost} of {lost + averaged}" for name, lost, averaged in runs if lost]
    return (f"Runs that diverged and are left out: {'; '.join(lost)}",) if lost else ()


def plus_minus(mean: float, spread: float, digits: int = 2) -> str:
    """``97.86 ± 0.11``; a dash where there is no number, no spread where there is none."""
    if pd.isna(mean):
        return "–"
    return f"{mean:.{digits}f}" + ("" if pd.isna(spread) else f" ± {spread:.{digits}f}")
