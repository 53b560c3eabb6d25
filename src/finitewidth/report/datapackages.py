"""Frictionless data packages: what every column of every data file of a paper means.

A package follows the Data Package and Table Schema specifications, version 1
(https://specs.frictionlessdata.io). Four properties are our own: a column's ``unit`` and
``source``, and ``claims`` and ``renderer`` of a resource. The latter is the module that drew the
figure or wrote the table, and its settings.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from finitewidth.claims.captions import claims_below, what_is_drawn
from finitewidth.records import result_files
from finitewidth.records.fields import MISSING, Field
from finitewidth.records.provenance import digest_of
from finitewidth.report.formulas import as_text


def write_packages(packages: Mapping[str, Mapping[str, Any]], root: str | Path = ".") -> None:
    """Write the data packages of all papers.

    Args:
        packages: file of the package -> ``paper``, ``title``, ``preset`` and ``resources``. Each
            resource has ``artifact``, ``title``, ``footer``, ``file`` (the data file), ``caption``
            (the file with its caption), ``renderer`` (its ``module``, its ``settings`` and, of a
            figure, the ``mark``) and ``inputs`` (the reference of a table -> its files).
        root: the folder of the project, with the printed numbers.
    """
    for file, package in packages.items():
        folder = Path(file).parent
        title = package["title"]
        resources = []
        for resource in package["resources"]:
            resources.append(_resource(folder, Path(root), **resource))
        result_files.write_json(
            file,
            {
                "profile": "tabular-data-package",
                "name": f"finitewidth-{package['paper']}-{package['preset']}",
                "title": f"Data of the figures and tables of: {title}",
                "description": "The numbers that each figure and table shows, "
                "computed by finitewidth.",
                "sources": [{"title": title}],
                "resources": resources,
            },
        )


def _resource(
    folder: Path,
    root: Path,
    artifact: str,
    title: str,
    footer: str,
    file: str,
    caption: str,
    renderer: Mapping[str, Any],
    inputs: Mapping[str, Sequence[str]],
) -> dict[str, Any]:
    """The description of the data file of one artifact, from what `write_packages` was given."""
    path = Path(file)
    columns = {}  # reference -> columns; all files of a reference have the same
    for reference, files in inputs.items():
        columns[reference] = _columns_of(files[0], root)
    module = renderer["module"]
    schema = []
    for name, field in import_module(module).FIELDS.items():
        schema.append(_field(name, field, columns, module))
    return {
        "profile": "tabular-data-resource",
        "name": artifact,
        "path": path.relative_to(folder).as_posix(),
        "title": title,
        "description": f"{as_text(what_is_drawn(caption))} {footer}.",
        "claims": claims_below(caption),
        "format": "csv",
        "mediatype": "text/csv",
        "encoding": "utf-8",
        "bytes": path.stat().st_size,
        "hash": f"sha256:{digest_of(path)}",
        "sources": [{"title": reference} for reference in inputs],
        "renderer": renderer,
        "schema": {"fields": schema, "missingValues": [MISSING]},
    }


def _columns_of(file: str, root: Path) -> set[str]:
    """The columns of a CSV file of the run or, if there is none, of the project."""
    table = Path(file)
    if not table.exists():
        table = root / table
    with table.open(encoding="utf-8") as stream:
        header = stream.readline().strip()
    return set(header.split(","))


def _field(name: str, field: Field, columns: Mapping[str, set[str]], module: str) -> dict[str, Any]:
    """The description of a column, with the references that have one of this name."""
    references = [reference for reference, names in columns.items() if name in names]
    unit_if_none = "none" if field.type == "string" else "1"
    described = {
        "name": name,
        "type": field.type,
        "description": field.meaning,
        "unit": field.unit or unit_if_none,
        "source": ", ".join(references) or f"{', '.join(columns)}, arranged by {module}",
    }
    if field.type != "number":
        described["constraints"] = {"required": True}
    return described
