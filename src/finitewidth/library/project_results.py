"""The results of one run of a project, read with their meanings.

This module needs the packages of the workflow: `finitewidth.library.load` imports it when it is
called. The meaning of a column is that of the code, since every project has its code, and a run of
one figure writes no data package. A file with other columns than the code defines is refused.
"""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from finitewidth.claims.columns import PARTS, VERDICTS
from finitewidth.claims.ledger import Claim, claims_of
from finitewidth.common.errors import ConfigError, ResultError, nearest
from finitewidth.declarations.papers import FOLDER, Artifact, Experiment, read_papers
from finitewidth.declarations.references import WEIGHTS
from finitewidth.library.loaded import Loaded
from finitewidth.pipeline.files import Files
from finitewidth.pipeline.jobs import Jobs
from finitewidth.pipeline.runs.surroundings import find_project
from finitewidth.records import result_files, tables
from finitewidth.records.provenance import digest_of
from finitewidth.records.tables import Table, integer, text
from finitewidth.records.verification import ALTERED, REMEDY, provenance_of
from finitewidth.settings.presets import preset_names

DEFAULT_RUN = "quick"
ARRAYS = Table(
    text("array", "name of the array"),
    text("type", "type of its entries"),
    integer("entries", "number of its entries"),
    text("shape", "lengths of its axes"),
)


class ProjectResults:
    """The results of one run, by the names of artifacts, experiments, tables and claims."""

    def __init__(self, run: str, project: str | Path | None = None):
        """Find the project and its run.

        Raises:
            ConfigError: there is no project, or no such run.
        """
        self.run = run
        self.root = find_project(Path.cwd(), None if project is None else Path(project))
        self.options = self._options()
        self.papers = read_papers(self.root / FOLDER)
        # no settings are needed to name the files of a run, only its folder
        self.jobs = Jobs(self.papers, {"preset": run, "name": run})
        self.files = Files(self.jobs)
        self.claims: dict[str, Claim] = {}
        for paper in self.papers:
            self.claims |= {claim.id: claim for claim in claims_of(paper.name)}

    def _options(self) -> str | None:
        """The options with which ``finitewidth run`` makes this run; None if its name hides them.

        Raises:
            ConfigError: there is no such run.
        """
        presets = preset_names(self.root / "config")
        preset, _, seed = self.run.partition("-seed")
        if self.run == preset and preset in presets:
            return "" if preset == DEFAULT_RUN else f" --preset {preset}"
        if preset in presets and seed.isdecimal():
            return f" --preset {preset} --seed {seed}"
        folders = sorted(file.parent for file in self.root.glob("results/*/provenance"))
        known = list(dict.fromkeys([*presets, *(folder.name for folder in folders)]))
        if self.run in known:
            return None
        raise ConfigError(
            f"run: {self.run!r} is unknown{nearest(self.run, known)}; it must be a preset or a "
            f"folder of results: {', '.join(known)}"
        )

    def load(self, name: str) -> Loaded:
        """Load a result.

        Raises:
            ConfigError: there is no result of this name.
            ResultError: it has not been made, or its file was altered.
        """
        job, _, table = name.partition(".")
        if name in self.jobs.artifacts:
            return self._artifact(self.jobs.artifacts[name])
        if job in self.jobs.experiments:
            return self._output(self.jobs.experiments[job], table)
        if name in self.claims:
            return self._claim(self.claims[name])
        known = [*self.jobs.artifacts, *self.jobs.experiments, *self.claims]
        raise ConfigError(
            f"{name!r} is no artifact, experiment or claim{nearest(name, known)}; "
            "`finitewidth list` shows all artifacts"
        )

    def _artifact(self, declared: Artifact) -> Loaded:
        """The data of a figure, or a table as data."""
        name = declared.artifact
        file = self.files.table(name)
        provenance = self._provenance(name, file, name)
        table: Table = import_module(declared.module).TABLE
        return Loaded(
            name=name,
            title=f"{declared.label}: {declared.title}",
            rows=self._read(file, table, name, tables.MISSING),
            columns=table.columns,
            file=self.root / file,
            provenance=provenance,
        )

    def _output(self, declared: Experiment, table: str) -> Loaded:
        """One table of an experiment, or its arrays; without a name, the only one that it has."""
        experiment = declared.name
        tables_only = [output for output in declared.output if output != WEIGHTS]
        if not table and len(tables_only) == 1:
            table = tables_only[0]
        if table not in declared.output:
            names = ", ".join(f"{experiment}.{output}" for output in declared.output)
            found = f"there is no {experiment}.{table}" if table else "name one of its tables"
            near = nearest(table, declared.output)
            raise ConfigError(f"{experiment}: {found}{near}; it has {names}")
        file = self.jobs.outputs(experiment)[table]
        facts: dict[str, Any] = {
            "name": f"{experiment}.{table}",
            "file": self.root / file,
            "provenance": self._provenance(experiment, file, experiment),
        }
        if table == WEIGHTS:
            arrays = result_files.read_arrays(self.root / file)
            rows = _list_of(arrays)
            title = f"Arrays of the experiment {experiment}"
            return Loaded(**facts, title=title, rows=rows, columns=ARRAYS.columns, arrays=arrays)
        title = f"Table {table} of the experiment {experiment}"
        columns: Table = import_module(declared.module).TABLES[table]
        rows = self._read(file, columns, experiment)
        present = columns.with_columns_of(rows.columns)
        return Loaded(**facts, title=title, rows=rows, columns=present.columns)

    def _claim(self, claim: Claim) -> Loaded:
        """The comparisons of a claim, and its verdict."""
        files = self.files.verdict_tables(claim.paper)
        target = files["verdicts"]
        job = f"claims {claim.paper}"
        self._provenance(job, files["verdicts"], target)
        provenance = self._provenance(job, files["parts"], target)
        verdicts = self._read(files["verdicts"], VERDICTS, target)
        parts = self._read(files["parts"], PARTS, target)
        row = verdicts[verdicts["claim"] == claim.id].iloc[0]
        verdict = {name: None if pd.isna(value) else value for name, value in row.items()}
        return Loaded(
            name=claim.id,
            title=claim.statement,
            rows=parts[parts["claim"] == claim.id].reset_index(drop=True),
            columns=PARTS.columns,
            file=self.root / files["parts"],
            provenance=provenance,
            verdict=verdict,
        )

    def _provenance(self, job: str, file: str, target: str) -> dict[str, Any]:
        """The provenance of a file that exists and is what its job wrote.

        Raises:
            ResultError: it is missing, altered, or without a provenance.
        """
        path = self.root / file
        if not path.is_file():
            raise ResultError(f"{path} has not been made; make it with {self._command(target)}")
        provenance = provenance_of(path, self.root / self.files.provenance(job))
        if provenance["digests"]["outputs"].get(file) != digest_of(path):
            raise ResultError(f"{path} {ALTERED}; {REMEDY}: {self._command(target)}")
        return provenance

    def _read(self, file: str, table: Table, target: str, missing: str = "") -> pd.DataFrame:
        """The rows of a file.

        Raises:
            ResultError: it has other columns than the code defines, or is damaged.
        """
        path = self.root / file
        with path.open(encoding="utf-8") as stream:
            header = stream.readline().strip().split(",")
        present = table.with_columns_of(header)
        if header != present.names:
            raise ResultError(
                f"{path} has other columns than the code defines now, so it was made by another "
                f"version; make it again with {self._command(target)}"
            )
        return tables.read(path, present, missing)

    def _command(self, target: str) -> str:
        """The command that makes a result of this run."""
        if self.options is None:
            return f"`finitewidth run {target}` and the options of this run"
        return f"`finitewidth run {target}{self.options}`"


def _list_of(arrays: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """Names, types, numbers of entries and shapes of arrays, as a table."""
    rows = []
    for name, array in arrays.items():
        rows.append((name, str(array.dtype), array.size, str(array.shape)))
    return pd.DataFrame(rows, columns=ARRAYS.names)
