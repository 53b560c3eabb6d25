"""The job of one table: read tables, select rows, typeset them, write all formats."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from finitewidth.common import result_files
from finitewidth.tables.latex import latex
from finitewidth.tables.typeset import markdown


def render_table(
    module: str,
    inputs: Mapping[str, str],
    outputs: Mapping[str, str],
    settings: Mapping[str, Any],
    footer: str,
) -> None:
    """Typeset a table and write it with the rows that it shows.

    Args:
        module: the renderer, e.g. ``finitewidth.tables.npf.table2``, with ``select(tables,
            settings)`` and ``typeset(rows, settings)``.
        inputs: name of a table -> CSV file.
        outputs: files for ``csv`` (the numbers shown), ``md`` and ``tex``, which bear the name of
            the artifact; it is the label in LaTeX, ``tab:npf_table2``.
        settings: how to typeset the table; they change no result.
        footer: one line below the table.
    """
    renderer = import_module(module)
    tables = {name: result_files.read_table(path) for name, path in inputs.items()}
    rows = renderer.select(tables, settings)
    table = renderer.typeset(rows, settings)
    result_files.write_table(outputs["csv"], rows)
    result_files.write_text(outputs["md"], markdown(table, footer))
    name = Path(outputs["tex"]).stem
    result_files.write_text(outputs["tex"], latex(table, footer, name))
