"""Run one experiment as a job: read the inputs, measure, write tables and provenance."""

import sys
import time
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from finitewidth.common import result_files
from finitewidth.common.provenance import base_seed, environment


def run_experiment(
    module: str,
    inputs: Mapping[str, Any],
    outputs: Mapping[str, str],
    settings: Mapping[str, Any],
    code: str,
    threads: int,
    seed: int = 0,
    device: str | None = None,
) -> None:
    """Call ``module.measure(inputs, settings)`` and write the tables it returns.

    Args:
        module: name of a module with a function ``measure``, which takes the inputs read and the
            settings and returns name -> table.
        inputs: name -> file or files. CSV files are read as tables (several are concatenated), the
            file ``data`` as a dataset, and any other ``.npz`` as arrays by name.
        outputs: name of a table -> CSV file, and ``provenance`` -> JSON file.
        settings: the parameters of the experiment.
        code: digest of the code that measures.
        threads: number of threads of torch, if the experiment uses it.
        seed: the base seed of all random numbers.
        device: where the experiment computes, ``cpu``, ``cuda`` or ``auto``, as a further entry of
            its settings; None if it does not ask.

    Raises:
        ConfigError: the settings are contradictory.
        DataError: the dataset is missing or damaged.
        ResultError: an input is damaged, or an output cannot be written.
    """
    started = time.monotonic()
    measure = import_module(module).measure
    if "torch" in sys.modules:
        from finitewidth.common.torch_setup import prepare_torch

        prepare_torch(threads)
    told = settings if device is None else {**settings, "device": device}
    with base_seed(seed):
        tables = measure({name: _read(name, paths) for name, paths in inputs.items()}, told)
    stamp = {
        "module": module,
        "base_seed": seed,
        "settings": settings,
        "inputs": {name: _as_list(paths) for name, paths in inputs.items()},
        "code": code,
        "threads": threads,
        "device": device or "cpu",
        "wall_seconds": round(time.monotonic() - started, 2),
        **environment(),
    }
    result_files.write_json(outputs["provenance"], stamp)
    for name, path in outputs.items():
        if name != "provenance":
            result_files.write_table(path, tables[name])


def _as_list(paths: Any) -> list[str]:
    return [paths] if isinstance(paths, str) else [str(path) for path in paths]


def _read(name: str, paths: Any) -> Any:
    files = _as_list(paths)
    if files[0].endswith(".csv"):
        import pandas as pd

        return pd.concat([result_files.read_table(file) for file in files], ignore_index=True)
    if name == "data":
        from finitewidth.data.store import read_dataset

        return read_dataset(files[0])
    return result_files.read_arrays(files[0])
