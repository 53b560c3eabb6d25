"""The job of one figure: read tables, select rows, draw them, write images and the rows."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from finitewidth.common import result_files

# leave out time and version, so that equal figures are equal files
METADATA = {
    "pdf": {"CreationDate": None, "Producer": None, "Creator": None},
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
}


def render_figure(
    module: str,
    inputs: Mapping[str, str],
    outputs: Mapping[str, str],
    settings: Mapping[str, Any],
    footer: str,
) -> None:
    """Draw a figure and write it with the rows that it shows.

    The renderer draws only the rows that ``select`` returns, and these are written to the CSV.

    Args:
        module: the renderer, e.g. ``finitewidth.figures.npf.fig3``, with ``select(tables,
            settings)`` and ``draw(rows, settings)``.
        inputs: name of a table -> CSV file.
        outputs: files for ``pdf``, ``png``, ``svg`` and ``csv``; also ``json`` if the renderer has
            a function ``document(rows)``.
        settings: how to draw the figure; they change no result.
        footer: one line below the figure.
    """
    from finitewidth.figures import style

    style.apply()
    renderer = import_module(module)
    tables = {name: result_files.read_table(path) for name, path in inputs.items()}
    rows = renderer.select(tables, settings)
    figure = renderer.draw(rows, settings)
    style.add_footer(figure, footer)
    for kind, metadata in METADATA.items():
        with result_files.atomic(outputs[kind]) as temporary:
            figure.savefig(temporary, format=kind, metadata=metadata)
    result_files.write_table(outputs["csv"], rows)
    if "json" in outputs:
        result_files.write_json(outputs["json"], renderer.document(rows))
