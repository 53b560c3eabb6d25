"""Configurations at the edge of what is allowed are executed: new ones each time.

Each runs to its end, with tables that are drawn, judged and captioned, or it is refused by the name
of a key. What failed once is a fixed case below. FINITEWIDTH_FUZZ=<seed> repeats a draw.
"""

import json
import random
import re
import time
from functools import cache

import pytest
import yaml
from tests.fuzz.boundaries import PAPERS, Schema, drawn, names_a_key
from tests.fuzz.executed import ROOT, Results, execute
from tests.fuzz.found import REFUSED, RUN
from tests.fuzz.mutations import SEED

from finitewidth.common import settings
from finitewidth.common.declarations import paper_names
from finitewidth.common.errors import ConfigError
from finitewidth.pipeline.configuration import json_schema
from finitewidth.pipeline.plan import Plan

CONFIG = settings.preset_only("smoke", ROOT / "config")
CHEAP = ("thesis", "trust", "beyond")
RUNS = 200
SHORT_RUNS = 10


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return Results(tmp_path_factory.mktemp("fuzz"))


@cache
def base():
    return Plan(CONFIG, ROOT)


def outcome(results, overrides):
    """Say whether a configuration is refused, changes nothing, or is executed; else raise."""
    try:
        plan = Plan(settings.merged(CONFIG, overrides), ROOT)
        return "executed" if execute(results, plan, base()) else "unchanged"
    except ConfigError as error:
        if names_a_key(error, overrides):
            return "refused"
        raise


def shown(overrides):
    """Overrides as for ``--config``."""
    flow = {"default_flow_style": True, "width": 10**6, "sort_keys": False}
    return " ".join(f"'{key}={yaml.safe_dump(value, **flow).strip()}'"
                    for key, value in overrides.items())  # fmt: skip


def executed(results, count, papers, seconds):
    """Draw configurations until ``count`` of them have been executed; all failures at once."""
    stream, schema = random.Random(SEED), Schema(json.loads(json_schema(paper_names())))
    found, failures, start = {"executed": 0, "refused": 0, "unchanged": 0}, [], time.process_time()
    while found["executed"] < count and time.process_time() - start < seconds:
        overrides = drawn(stream, schema, CONFIG, papers)
        try:
            found[outcome(results, overrides)] += 1
        except Exception as error:
            failures.append(f"{shown(overrides)}\n    {type(error).__name__}: {error}")
    print(f"FINITEWIDTH_FUZZ={SEED}: {found}, {len(failures)} failed, {results.executed} jobs")
    assert not failures, f"FINITEWIDTH_FUZZ={SEED}:\n" + "\n".join(failures)
    return found["executed"]


def given(text):
    """The settings of an override."""
    key, value = text.split("=", 1)
    return {key: yaml.safe_load(value)}


@pytest.mark.parametrize("text", RUN)
def test_what_failed_once_runs(results, one_thread, text):
    assert outcome(results, given(text)) == "executed"


@pytest.mark.parametrize(("text", "named"), REFUSED)
def test_what_failed_once_is_refused_by_name(results, one_thread, text, named):
    with pytest.raises(ConfigError, match=re.escape(named)):
        execute(results, Plan(settings.merged(CONFIG, given(text)), ROOT), base())


def test_a_few_boundary_configurations_run(results, one_thread):
    assert executed(results, SHORT_RUNS, CHEAP, seconds=60) > 0


@pytest.mark.full
def test_many_boundary_configurations_run(results, one_thread):
    assert executed(results, RUNS, PAPERS, seconds=6000) >= RUNS
