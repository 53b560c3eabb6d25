"""Run one experiment as a job: read the inputs, measure, write the tables."""

import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from finitewidth.declarations.references import WEIGHTS
from finitewidth.records import result_files
from finitewidth.records.provenance import (
    COMPUTING,
    base_seed,
    digest_of,
    fingerprint,
    versions_of,
)
from finitewidth.settings.typed import settings_for


def run_experiment(
    module: str,
    inputs: Mapping[str, Any],
    outputs: Mapping[str, str],
    settings: Mapping[str, Any],
    code: str,
    threads: int,
    seed: int = 0,
    device: str | None = None,
    checkpoints: str | None = None,
    checkpoint_seconds: float = 60.0,
) -> dict[str, Any]:
    """Call ``module.measure(inputs, settings)`` and write the tables it returns.

    Args:
        module: name of a module with a function ``measure``, which takes the inputs read and the
            settings and returns name -> table; see `finitewidth.settings.typed`. ``TABLES`` of the
            module has the columns of each table.
        inputs: name -> file or files. CSV files are read as tables (several are concatenated), the
            file ``data`` as a dataset, and any other ``.npz`` as arrays by name.
        outputs: name of a table -> CSV file, and ``weights`` -> ``.npz`` file of arrays.
        settings: the parameters of the experiment.
        code: digest of the code that measures.
        threads: of torch, if the experiment uses it.
        seed: the base seed of all random numbers.
        device: a further argument of ``measure``, if the experiment asks for it.
        checkpoints: the folder of `finitewidth.training.checkpoints.Checkpoints`, which are a
            further argument of ``measure``, if the experiment uses them.
        checkpoint_seconds: time between two checkpoints.

    Returns:
        What the provenance adds to the plan of the job: threads, device and, if it uses
        checkpoints, the ``fingerprint`` that names their folder.
    """
    experiment = import_module(module)
    if "torch" in sys.modules:
        from finitewidth.common.torch_setup import prepare_torch

        prepare_torch(threads)
    facts: dict[str, Any] = {"threads": threads, "device": device or "cpu"}
    arguments: dict[str, Any] = {
        "inputs": {name: _read(name, paths) for name, paths in inputs.items()},
        "settings": settings_for(experiment.measure, settings),
    }
    if device is not None:
        arguments["device"] = device
    if checkpoints is not None:
        from finitewidth.training.checkpoints import Checkpoints

        identity = _identity(module, inputs, settings, code, seed)
        facts["fingerprint"] = identity
        arguments["checkpoints"] = Checkpoints(checkpoints, identity, checkpoint_seconds)
    with base_seed(seed):
        tables = experiment.measure(**arguments)
    for name, path in outputs.items():
        if name == WEIGHTS:
            result_files.write_arrays(path, **tables[name])
        else:
            result_files.write_table(path, experiment.TABLES[name].checked_all(tables[name]))
    return facts


def _identity(
    module: str, inputs: Mapping[str, Any], settings: Mapping[str, Any], code: str, seed: int
) -> str:
    """Return a digest of everything that the results depend on, by which checkpoints are found."""
    digests = []
    for paths in inputs.values():
        digests += [digest_of(file) for file in _as_list(paths)]
    return fingerprint(
        {
            "module": module,
            "base_seed": seed,
            "settings": settings,
            "code": code,
            "inputs": digests,
            "versions": versions_of(COMPUTING),
        }
    )


def _as_list(paths: Any) -> list[str]:
    """Return one path or several as a list."""
    return [paths] if isinstance(paths, str) else [str(path) for path in paths]


def _read(name: str, paths: Any) -> Any:
    """Read an input, see `run_experiment`."""
    files = _as_list(paths)
    if files[0].endswith(".csv"):
        import pandas as pd

        return pd.concat([result_files.read_table(file) for file in files], ignore_index=True)
    if name == "data":
        from finitewidth.data.store import read_dataset

        return read_dataset(files[0])
    return result_files.read_arrays(files[0])
