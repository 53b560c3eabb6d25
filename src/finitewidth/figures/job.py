"""A figure as one job: read tables, select rows, draw, write pictures and the rows drawn."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from finitewidth.common import result_files

# what would make equal pictures differ: the time and the version they were drawn with
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
    """Draw what ``module.select`` takes of the inputs, with ``module.draw(rows, settings)``.

    The drawing sees only the rows that go into the CSV beside it.

    Args:
        module: of the package.
        inputs: name → CSV.
        outputs: ``pdf``, ``png``, ``svg`` and ``csv``; ``json`` too where the module has a
            ``document(rows)``.
        settings: of the drawing, nothing scientific.
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
