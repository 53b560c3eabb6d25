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
        parts[1::2] = [f"*{variable}*" for variable in parts[1::2]]
        return "".join(parts)

    cells = table.cells.map(_in_a_cell).map(italic)
    if table.formulas is not None:
        formulas = table.formulas[0].map(lambda cell: cell.replace("~$^\\dagger$", " †"))
        is_formula = formulas.map(lambda cell: cell.startswith("$"))
        cells = cells.mask(is_formula, formulas)
    if table.bold is not None:
        cells = cells.mask(table.bold, cells.map("**{}**".format))
    cells = cells.rename(columns=_in_a_cell).rename(columns=italic)
    body = cells.to_markdown(index=False, disable_numparse=True)
    notes = "".join(f"{italic(note)}\n\n" for note in table.notes)
    return f"**{italic(table.title)}**\n\n{body}\n\n{notes}_{footer}_\n"


def _in_a_cell(text: str) -> str:
    return text.replace("|", r"\|")


def left_out(names: Iterable[str], rows: pd.DataFrame) -> tuple[str, ...]:
    """Return a note on the runs that diverged; it is empty if no run did.

    Args:
        names: the name of each row.
        rows: ``diverged``, the number of runs that diverged, and ``runs``, that of averaged ones.
    """
    exceptions = []
    for name, row in zip(names, rows.to_dict("records"), strict=True):
        diverged = int(row["diverged"])
        if diverged:
            exceptions.append(f"{name} {diverged} of {diverged + int(row['runs'])}")
    if not exceptions:
        return ()
    return (f"Runs that diverged and are left out: {'; '.join(exceptions)}",)


def marked(cell: str, trained: float) -> str:
    """Return the text of a cell, with a dagger if its network is not trained.

    ``trained`` is 1 if all runs are (see `finitewidth.measures.accuracy.train_accuracies`), else 0.
    """
    return cell if trained else f"{cell} †"


def not_trained(trained: Iterable[float], thresholds: Sequence[float]) -> tuple[str, ...]:
    """Return the note that explains the mark; it is empty if all networks are trained.

    Args:
        trained: 1 or 0 of each network, as for `marked`.
        thresholds: train accuracies, as fractions, from which a run counts as trained.
    """
    if all(trained):
        return ()
    levels = " or ".join(f"{100 * level:g} %" for level in sorted(set(thresholds)))
    note = (
        f"† not trained: the train accuracy stays below {levels} (our threshold) in at least one "
        "run"
    )
    return (note,)
