"""Figures drawn from the data file that a renderer's rows make, as the workflow draws them."""

from pathlib import Path

from tests.helpers.project import ROOT

from finitewidth.figures import job
from finitewidth.records import result_files
from finitewidth.records import tables as records
from finitewidth.settings.typed import settings_for


def reported(paper):
    """The values that a paper prints, as renderers receive them."""
    return result_files.read_table(ROOT / f"config/reported/{paper}.csv")


def redrawn(renderer, tables, settings, folder):
    """Rows and figure of a renderer, the figure drawn from the written file alone.

    Args:
        renderer: its module.
        tables: name -> table.
        settings: of the drawing.
        folder: for the file.
    """
    kept = {name: table.copy() for name, table in tables.items()}
    file = Path(folder) / "rows.csv"
    table = renderer.TABLE
    rows = renderer.select(tables, settings_for(renderer.select, settings))
    records.write(file, rows, table)
    for name, given in tables.items():
        assert given.equals(kept[name]), f"select changes the table {name}"
    figure = job.redraw(file, renderer.__name__, settings, mark="")
    return records.read(file, table), figure


def words(figure):
    """The entries of a figure's legends."""
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def titles(figure):
    """The titles of its panels, in order, without letters."""
    found = [axis.get_title(loc="left") for axis in figure.axes if axis.get_visible()]
    return [title.partition("$  ")[2] for title in found if "$  " in title]
