"""Frictionless data packages: what every column of every table of a paper means.

A paper has two packages: one of the data files of its figures and tables, and one of the tables of
its experiments, which lies beside them.

A package follows the Data Package and Table Schema specifications, version 1
(https://specs.frictionlessdata.io). Some properties are our own: a column's ``unit``, ``missing``
(what a missing value means) and ``source``; ``claims``, ``result`` and ``renderer`` of an artifact,
and ``experiment`` of a table. The last two are the module that made it, and its settings.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from finitewidth.claims.captions import claims_below, result_below, what_is_drawn
from finitewidth.records import result_files
from finitewidth.records.provenance import digest_of
from finitewidth.records.tables import MISSING, Table
from finitewidth.report.formulas import as_text


def write_packages(packages: Mapping[str, Mapping[str, Any]], root: str | Path = ".") -> None:
    """Write the data packages of all papers.

    Args:
        packages: file of the package -> ``paper``, ``title``, ``preset`` and ``artifacts`` or
            ``experiments``. An artifact has ``artifact``, ``title``, ``footer``, ``file`` (the data
            file), ``caption`` (the file with its caption), ``renderer`` (its ``module``, its
            ``settings`` and, of a figure, the ``mark``) and ``inputs`` (the reference of a table ->
            its files). An experiment has ``experiment``, ``module``, ``settings``, ``tables`` (name
            -> file) and ``inputs`` (references).
        root: the folder of the project, with the printed numbers.
    """
    for file, package in packages.items():
        folder = Path(file).parent
        resources = []
        for artifact in package.get("artifacts", ()):
            resources.append(_artifact_resource(folder, Path(root), **artifact))
        for experiment in package.get("experiments", ()):
            resources += _experiment_resources(folder, Path(root), **experiment)
        part = "experiments" if "experiments" in package else "figures and tables"
        name = f"finitewidth-{package['paper']}-{package['preset']}"
        title = package["title"]
        result_files.write_json(
            file,
            {
                "profile": "tabular-data-package",
                "name": f"{name}-experiments" if part == "experiments" else name,
                "title": f"Data of the {part} of: {title}",
                "description": f"The numbers of the {part}, computed by finitewidth.",
                "sources": [{"title": title}],
                "resources": resources,
            },
        )


def _artifact_resource(
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
    columns = {}  # reference -> columns; all files of a reference have the same
    for reference, files in inputs.items():
        columns[reference] = _columns_of(files[0], root)
    module = renderer["module"]
    schema = import_module(module).TABLE.schema(MISSING)
    for field in schema["fields"]:
        field["source"] = _source_of(field["name"], columns, module)
    return {
        **_file_facts(folder, file),
        "name": artifact,
        "title": title,
        "description": f"{as_text(what_is_drawn(caption))} {footer}.",
        "result": result_below(caption),
        "claims": claims_below(caption),
        "sources": [{"title": reference} for reference in inputs],
        "renderer": renderer,
        "schema": schema,
    }


def _experiment_resources(
    folder: Path,
    root: Path,
    experiment: str,
    module: str,
    settings: Mapping[str, Any],
    tables: Mapping[str, str],
    inputs: Sequence[str],
) -> list[dict[str, Any]]:
    """The descriptions of the tables of one experiment."""
    described: dict[str, Table] = import_module(module).TABLES
    resources = []
    for name, table in described.items():
        if name not in tables:  # of a job that shares its module with others, and makes fewer
            continue
        columns = _columns_of(tables[name], root)
        resources.append(
            {
                **_file_facts(folder, tables[name]),
                "name": f"{experiment}.{name}",
                "title": f"Table {name} of the experiment {experiment}",
                "sources": [{"title": reference} for reference in inputs],
                "experiment": {"module": module, "settings": settings},
                "schema": table.with_columns_of(columns).schema(),
            }
        )
    return resources


def _file_facts(folder: Path, file: str) -> dict[str, Any]:
    """The properties of a resource that tell about its file."""
    path = Path(file)
    return {
        "profile": "tabular-data-resource",
        "path": path.relative_to(folder).as_posix(),
        "format": "csv",
        "mediatype": "text/csv",
        "encoding": "utf-8",
        "bytes": path.stat().st_size,
        "hash": f"sha256:{digest_of(path)}",
    }


def _columns_of(file: str, root: Path) -> set[str]:
    """The columns of a CSV file of the run or, if there is none, of the project."""
    table = Path(file)
    if not table.exists():
        table = root / table
    with table.open(encoding="utf-8") as stream:
        header = stream.readline().strip()
    return set(header.split(","))


def _source_of(name: str, columns: Mapping[str, set[str]], module: str) -> str:
    """The references that have a column of this name, or the module that makes the column."""
    references = [reference for reference, names in columns.items() if name in names]
    return ", ".join(references) or f"{', '.join(columns)}, arranged by {module}"
