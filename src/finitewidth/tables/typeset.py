"""What a table shows, and its Markdown; `finitewidth.tables.latex` writes the same in LaTeX."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pandas as pd


@dataclass(frozen=True)
class Typeset:
    """A table ready to be written."""

    cells: pd.DataFrame  # the text of each cell, as shown; the column names are the header
    title: str  # one line above the table
    notes: tuple[str, ...] = ()  # lines below the table
    # cells and notes written in LaTeX; without them, cells and notes are escaped
    formulas: "tuple[pd.DataFrame, tuple[str, ...]] | None" = None
    bold: pd.DataFrame | None = None  # which cells are bold, True or False
    # columns that LaTeX sets as a line across the table, above the first of the rows in which they
    # are equal or left empty; they are columns in Markdown
    spans: tuple[str, ...] = ()
    # letters that are set in italics wherever they stand alone, as in d = 3; not in formulas
    variables: tuple[str, ...] = ()


def parts_of(text: str, variables: Sequence[str]) -> list[str]:
    """Split a text; every second part is one of the variables, standing alone."""
    if not variables:
        return [text]
    return re.split(rf"(?<![^\W_])([{''.join(variables)}])(?![^\W_])", text)


def markdown(table: Typeset, footer: str) -> str:
    """Return the table in GitHub's Markdown; a formula is LaTeX between dollar signs."""

    def italic(text: str) -> str:
        parts = parts_of(text, table.variables)
        return "".join(f"*{part}*" if number % 2 else part for number, part in enumerate(parts))

    cells = table.cells.map(_in_a_cell).map(italic)
    if table.formulas is not None:
        latex = table.formulas[0].map(lambda cell: cell.replace("~$^\\dagger$", " †"))
        cells = cells.mask(latex.map(lambda cell: cell.startswith("$")), latex)
    if table.bold is not None:
        cells = cells.mask(table.bold, cells.map("**{}**".format))
    names = cells.rename(columns=_in_a_cell).rename(columns=italic)
    body = names.to_markdown(index=False, disable_numparse=True)
    below = "".join(f"{italic(note)}\n\n" for note in table.notes)
    return f"**{italic(table.title)}**\n\n{body}\n\n{below}_{footer}_\n"


def _in_a_cell(text: str) -> str:
    return text.replace("|", r"\|")


def left_out(names: Iterable[str], rows: pd.DataFrame) -> tuple[str, ...]:
    """Return a note on the runs that diverged; it is empty if no run did.

    ``names`` are those of the rows, which have numbers of ``diverged`` and of averaged ``runs``.
    """
    counts = zip(names, rows["diverged"].astype(int), rows["runs"].astype(int), strict=True)
    lost = [f"{name} {lost} of {lost + averaged}" for name, lost, averaged in counts if lost]
    return (f"Runs that diverged and are left out: {'; '.join(lost)}",) if lost else ()


def marked(cell: str, trained: float) -> str:
    """Return the text of a cell, with a dagger if its network is not trained.

    ``trained`` is 1 if all runs are (see `finitewidth.measures.accuracy.train_accuracies`), else 0.
    """
    return cell if trained else f"{cell} †"


def not_trained(trained: Iterable[float], thresholds: Sequence[float]) -> tuple[str, ...]:
    """Return the note that explains the mark; it is empty if all networks are trained.

    ``trained`` is 1 or 0 of each network, as for `marked`; ``thresholds`` are train accuracies from
    which a run counts as trained, fractions.
    """
    if all(trained):
        return ()
    levels = " or ".join(f"{100 * level:g} %" for level in sorted(set(thresholds)))
    return (
        f"† not trained: the train accuracy stays below {levels} (our threshold) in at least one "
        "run",
    )
