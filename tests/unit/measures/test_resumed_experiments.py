"""Experiments that continue from checkpoints, and that make arrays beside tables."""

import sys
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

from finitewidth.measures.job import run_experiment
from finitewidth.records import result_files
from finitewidth.records.tables import Table, number

MODULE = "an_experiment_of_two_parts"


@pytest.fixture
def parts(monkeypatch):
    """Parts computed so far, by an experiment of two parts."""
    computed = []

    def measure(inputs, settings, checkpoints):
        values = []
        for part in ("first", "second"):
            store = checkpoints.store(part)
            state = store.latest()
            if state is None:
                computed.append(part)
                state = {"value": settings["value"] + len(part)}
                store.save(state)
            values.append(state["value"])
        return {"rows": pd.DataFrame({"value": values}), "weights": {"a/b.c": np.array(values)}}

    module = ModuleType(MODULE)
    module.measure = measure
    module.TABLES = {"rows": Table(number("value", "setting and length of the part"))}
    monkeypatch.setitem(sys.modules, MODULE, module)
    return computed


def run(folder, settings, seed=0, code="code"):
    outputs = {
        "rows": str(folder / "p/experiments/e_rows.csv"),
        "weights": str(folder / "p/experiments/e_weights.npz"),
    }
    stamp = run_experiment(
        MODULE, {}, outputs, settings, code, 1, seed, checkpoints=str(folder / ".checkpoints")
    )
    outputs["provenance"] = str(folder / "p/experiments/e_provenance.json")
    result_files.write_json(outputs["provenance"], stamp)
    return outputs


@pytest.mark.parametrize("other", [{"settings": {"value": 4}}, {"seed": 1}, {"code": "other"}])
def test_other_settings_seed_or_code_start_anew(tmp_path, parts, other):
    run(tmp_path, {"value": 3})
    run(tmp_path, **{"settings": {"value": 3}, **other})
    assert parts == ["first", "second"] * 2
