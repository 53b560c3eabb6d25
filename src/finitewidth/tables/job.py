"""A table as one job: read rows, select, typeset, write all formats."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from finitewidth.common import result_files
from finitewidth.tables import typeset


def render_table(
    module: str,
    inputs: Mapping[str, str],
    outputs: Mapping[str, str],
    settings: Mapping[str, Any],
    footer: str,
) -> None:
    """Typeset what ``module.select`` takes of the inputs with ``module.typeset``.

    Args:
        module: of the package.
        inputs: name → CSV.
        outputs: ``csv`` (the numbers shown), ``md`` and ``tex``.
        settings: of the table, nothing scientific.
        footer: one line below the table.
    """
    renderer = import_module(module)
    tables = {name: result_files.read_table(path) for name, path in inputs.items()}
    rows = renderer.select(tables, settings)
    table = renderer.typeset(rows, settings)
    result_files.write_table(outputs["csv"], rows)
    result_files.write_text(outputs["md"], typeset.markdown(table, footer))
    result_files.write_text(outputs["tex"], typeset.latex(table, footer))
