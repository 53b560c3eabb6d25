"""Typesetting of all tables, in Markdown and in LaTeX, with notes and a footer."""

from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd


@dataclass(frozen=True)
class Typeset:
    """A table ready to be written.

    Attributes:
        cells: the text of each cell, in the order shown; the column names are the header.
        title: one line above the table.
        notes: lines below the table.
        formulas: cells and notes written in LaTeX; None to escape ``cells`` and ``notes``.
        bold: which cells are bold, True or False; None if there are none.
    """

    cells: pd.DataFrame
    title: str
    notes: tuple[str, ...] = ()
    formulas: "tuple[pd.DataFrame, tuple[str, ...]] | None" = None
    bold: pd.DataFrame | None = None


def markdown(table: Typeset, footer: str) -> str:
    """Return the table in GitHub's Markdown."""
    body = _emphasised(table.cells, table.bold, "**{}**").to_markdown(
        index=False, disable_numparse=True
    )
    below = "".join(f"{note}\n\n" for note in table.notes)
    return f"**{table.title}**\n\n{body}\n\n{below}_{footer}_\n"


def latex(table: Typeset, footer: str) -> str:
    """Return a LaTeX ``table`` environment.

    It needs the package booktabs, and amssymb if there are formulas.
    """
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
    """Return a note on the runs that diverged; it is empty if no run did.

    Args:
        runs: (name, number of diverged runs, number of averaged runs).
    """
    lost = [f"{name} {lost} of {lost + averaged}" for name, lost, averaged in runs if lost]
    return (f"Runs that diverged and are left out: {'; '.join(lost)}",) if lost else ()


def plus_minus(mean: float, spread: float, digits: int = 2) -> str:
    """Return ``97.86 ± 0.11``; a dash for a missing mean, and no spread if it is missing."""
    if pd.isna(mean):
        return "–"
    return f"{mean:.{digits}f}" + ("" if pd.isna(spread) else f" ± {spread:.{digits}f}")
