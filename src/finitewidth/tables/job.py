"""The job of one table: read tables, select rows, write them, and typeset what was written."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from finitewidth.records import result_files, tables
from finitewidth.settings.typed import settings_for
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

    The rows are written first and read back, so the table is typeset from its data file alone.

    Args:
        module: the renderer, e.g. ``finitewidth.papers.npf.tables.table2``.
        inputs: name of a table -> CSV file.
        outputs: files for ``csv`` (the numbers shown), ``md`` and ``tex``, which bear the name of
            the artifact; it is the label in LaTeX, ``tab:npf_table2``.
        settings: how to typeset the table; they change no result.
        footer: one line below the table.
    """
    renderer = import_module(module)
    rows = renderer.select(
        {name: result_files.read_table(path) for name, path in inputs.items()},
        settings_for(renderer.select, settings),
    )
    tables.write(outputs["csv"], rows, renderer.TABLE)
    rows = tables.read(outputs["csv"], renderer.TABLE)
    table = renderer.typeset(rows, settings_for(renderer.typeset, settings))
    result_files.write_text(outputs["md"], markdown(table, footer))
    name = Path(outputs["tex"]).stem
    result_files.write_text(outputs["tex"], latex(table, footer, name))
