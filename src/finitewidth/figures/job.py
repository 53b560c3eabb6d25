"""The job of one figure: read tables, select rows, write them, and draw what was written."""

import logging
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from finitewidth.common import fields, result_files

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# leave out time and version, so that equal figures are equal files
METADATA = {
    "pdf": {"CreationDate": None, "Producer": None, "Creator": None},
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
}
ABOUT = {"pdf": "Subject", "svg": "Description", "png": "Description"}


def render_figure(
    module: str,
    inputs: Mapping[str, str],
    outputs: Mapping[str, str],
    settings: Mapping[str, Any],
    footer: str,
    mark: str = "",
) -> None:
    """Draw a figure and write it with the rows that it shows.

    The rows are written first and read back, so the picture is drawn from its data file alone.

    Args:
        module: the renderer, e.g. ``finitewidth.papers.npf.figures.fig3``.
        inputs: name of a table -> CSV file.
        outputs: files for ``pdf``, ``png``, ``svg`` and ``csv``.
        settings: how to draw the figure; they change no result.
        footer: preset, data and number of runs. It becomes part of the files, not of the picture.
        mark: what stands in for the paper's data and sizes; empty if nothing does.
    """
    renderer = import_module(module)
    tables = {name: result_files.read_table(path) for name, path in inputs.items()}
    fields.write(outputs["csv"], renderer.select(tables, settings), renderer.FIELDS)
    figure = redraw(module, outputs["csv"], settings, mark)
    for kind in METADATA:
        save(figure, outputs[kind], footer)


def redraw(module: str, file: str | Path, settings: Mapping[str, Any], mark: str = "") -> "Figure":
    """Draw a figure from its data file, the CSV file that `render_figure` wrote.

    Raises:
        ResultError: the file is missing, damaged or altered, or it has other columns.
    """
    from finitewidth.figures import style

    style.apply()
    renderer = import_module(module)
    figure = renderer.draw(fields.read(file, renderer.FIELDS), settings)
    style.add_mark(figure, mark)
    return figure


def save(figure: "Figure", file: str | Path, footer: str) -> None:
    """Write a figure as PDF, SVG or PNG, as the suffix says, with ``footer`` as its description."""
    # fontTools takes the dates of some fonts for errors, and says so on the terminal
    logging.getLogger("fontTools").setLevel(logging.ERROR)
    kind = Path(file).suffix.removeprefix(".")
    metadata = {**METADATA[kind], ABOUT[kind]: footer}
    with result_files.atomic(file) as temporary:
        figure.savefig(temporary, format=kind, metadata=metadata)
