"""The job of one figure: read tables, select rows, write them, and draw what was written."""

import json
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from finitewidth.common.errors import ResultError
from finitewidth.figures.picture_files import KINDS, save
from finitewidth.records import result_files, tables
from finitewidth.settings.typed import settings_for

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
    rows = renderer.select(
        {name: result_files.read_table(path) for name, path in inputs.items()},
        settings_for(renderer.select, settings),
    )
    tables.write(outputs["csv"], rows, renderer.TABLE)
    figure = redraw(outputs["csv"], module, settings, mark)
    for kind in KINDS:
        save(figure, outputs[kind], footer)


def redraw(
    file: str | Path,
    module: str | None = None,
    settings: Mapping[str, Any] | None = None,
    mark: str | None = None,
) -> "Figure":
    """Draw a figure from its data file, the CSV file that `render_figure` wrote.

    Where an argument is None, the value is used with which the figure was drawn. It is read from
    the provenance of the figure, or from the data package beside the folder of the file.

    Args:
        file: the data file.
        module: the renderer.
        settings: how to draw the figure.
        mark: what stands in for the paper's data and sizes.

    Raises:
        ResultError: the file is missing, damaged or altered, or it has other columns; or an
            argument is None and its value is not found.
    """
    from finitewidth.figures import style

    if module is None or settings is None or mark is None:
        original = _drawn_with(Path(file))
        module = original["module"] if module is None else module
        settings = original["settings"] if settings is None else settings
        mark = original["mark"] if mark is None else mark
    style.apply()
    renderer = import_module(module)
    rows = tables.read(file, renderer.TABLE)
    figure = renderer.draw(rows, settings_for(renderer.draw, settings))
    style.add_mark(figure, mark)
    return figure


def _drawn_with(file: Path) -> Mapping[str, Any]:
    """Read the ``module``, ``settings`` and ``mark`` with which a figure was drawn."""
    paper = file.absolute().parent.parent
    name = file.stem
    provenance = paper.parent / "provenance" / paper.name / f"{name}.json"
    package = paper / "datapackage.json"
    try:
        if provenance.is_file():
            return json.loads(provenance.read_text(encoding="utf-8"))["parameters"]
        resources = json.loads(package.read_text(encoding="utf-8"))["resources"]
        renderers = {resource["name"]: resource["renderer"] for resource in resources}
        return renderers[name]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ResultError(
            f"{file}: neither {provenance} nor {package} says what it was drawn with; "
            "name module, settings and mark, or run again"
        ) from error
