"""Presets pass the schema; every mistake is refused with its key, its value and what is allowed."""

import copy
from collections import OrderedDict
from functools import reduce
from pathlib import Path

import jsonschema
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from finitewidth.common.declarations import read_papers
from finitewidth.common.errors import ConfigError
from finitewidth.common.settings import (
    PRESETS,
    check,
    merged,
    preset_file,
    preset_only,
    schema_like,
    typed,
)
from finitewidth.pipeline.plan import checked

ROOT = Path(__file__).resolve().parents[2]
PAPERS = read_papers(ROOT / "workflow/papers")
CONFIG = ROOT / "config"
SCHEMA = ROOT / "workflow" / "schemas"


def as_the_workflow_merges(preset, override=None):
    """The file all share, a file per paper, the preset's file, and the command line last."""
    parts = [CONFIG / "config.yaml", *sorted((CONFIG / "papers").glob("*.yaml"))]
    parts.append(Path(preset_file({"preset": preset}, CONFIG)))
    read = [yaml.safe_load(part.read_text(encoding="utf-8")) or {} for part in parts]
    return reduce(merged, [*read, {"preset": preset}, override or {}], {})


def nested(key, value):
    """{"a": {"b": value}} for "a.b"."""
    return reduce(lambda inner, name: {name: inner}, reversed(key.split(".")), value)


def refusal(key, value, preset="quick"):
    with pytest.raises(ConfigError) as caught:
        checked(as_the_workflow_merges(preset, nested(key, value)), ROOT, PAPERS)
    return str(caught.value)


@pytest.mark.parametrize("preset", PRESETS)
def test_presets_pass(preset):
    config = as_the_workflow_merges(preset)
    check(config, SCHEMA)
    assert preset_only(preset, CONFIG) == config


def test_ordered_dictionaries_pass():
    """Snakemake hands these over."""

    def ordered(value):
        if isinstance(value, dict):
            return OrderedDict((key, ordered(entry)) for key, entry in value.items())
        return value

    check(ordered(as_the_workflow_merges("quick")), SCHEMA)


def test_the_preset_paper_changes_nothing():
    assert yaml.safe_load((CONFIG / "preset" / "paper.yaml").read_text()) == {}
    papers = [yaml.safe_load(path.read_text()) for path in (CONFIG / "papers").glob("*.yaml")]
    for paper in papers:
        for name, facts in paper.items():
            assert preset_only("paper", CONFIG)[name] == facts


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("npf.nu.network.width", 0, ["0 is refused", "at least 1"]),
        ("npf.kvf.gate.beta", -1, ["-1 is refused", "greater than 0"]),
        ("npf.regimes.gate.eps", 11, ["11 is refused", "at most 10"]),
        ("npf.nu.step_size", "1e-3", ["'1e-3'", "type number", "write 0.001, not 1e-3"]),
        ("npf.nu.epochs", "1e3", ["'1e3'", "type integer", "not 1e-3, which is text"]),
        ("npf.nu.epochs", 2.0, ["2.0 is refused", "type integer"]),
        ("npf.nu.runs", True, ["True is refused", "type integer"]),
        ("npf.nu.optimiser", "adamw", ["'adamw'", "one of sgd, adam, rmsprop"]),
        ("npf.nu.train", 0, ["0 is refused", "at least 1, or null for all"]),
        ("npf.nu.test", 1, ["1 is refused", "at least 2, or null for all"]),
        ("npf.nu.classes", [4], ["[4] is refused", "at least 2 entries"]),
        ("npf.nu.classes", [4, 7, 9], ["[4, 7, 9] is refused", "at most 2 entries"]),
        ("npf.nu.classes", [4, 4], ["[4, 4] is refused", "must differ"]),
        ("npf.nu.network", {"kind": "convolutional"}, ["kind", "'convolutional'"]),
        ("npf.regimes.networks.gconv.channels", [], ["[] is refused", "at least 1 entries"]),
        ("npf.regimes.networks.vconv.init", "signed", ["'signed'", "glorot_uniform, he_uniform"]),
        ("data.mnist", "My Data", ["'My Data'", "must match ^[a-z]"]),
        ("data.root", "", ["'' "]),
        ("device", "gpu", ["'gpu'", "one of cpu, cuda, auto"]),
        ("checkpoint_seconds", 0, ["0 is refused", "greater than 0"]),
        ("npf.nu", None, ["None is refused", "type object"]),
        ("preset", "laptopp", ["'laptopp'", "one of smoke, quick, laptop, paper"]),
        ("npf.stages.optimiser", "rmsprop", ["gconv_rmsprop", "no row of npf.regimes.rows"]),
        ("npf.nu.every", 51, ["51 is refused", "at most npf.nu.epochs, 50"]),
        ("npf.kvf.every", 41, ["41 is refused", "at most npf.kvf.epochs, 40"]),
        ("npf.stages.network", "gcon", ["'gcon'", "did you mean gconv?", "fc, vconv, gconv"]),
        ("npf.regimes.rows.fc_sgd.network", "vcon", ["'vcon'", "did you mean vconv?"]),
    ],
)
def test_refusals_name_key_value_and_what_is_allowed(key, value, words):
    message = refusal(key, value)
    assert key in message
    for word in words:
        assert word in message
    assert message.count("\n") <= 1 + len(words)


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("npf.nu.step_sise", "did you mean step_size?"),
        ("npf.regimes.rows.fc_sgd.epoch", "did you mean epochs?"),
        ("npf.regimes.networks.gconv.chanels", "did you mean channels?"),
        ("devise", "did you mean device?"),
        ("npf.regmies", "did you mean regimes?"),
        ("npf.kvf.zzz", "known keys are network, dataset"),
    ],
)
def test_unknown_keys_are_refused_with_a_suggestion(key, hint):
    message = refusal(key, 1)
    assert f"{key}: unknown key" in message
    assert hint in message


def test_all_mistakes_are_named_at_once():
    config = as_the_workflow_merges("quick", {"npf": {"nu": {"runs": 0}, "kvf": {"runs": 0}}})
    with pytest.raises(ConfigError, match=r"npf\.kvf\.runs: 0 .*\n.*npf\.nu\.runs: 0 "):
        check(config, SCHEMA)


def test_missing_keys_are_named():
    config = as_the_workflow_merges("quick")
    del config["npf"]["nu"]["runs"], config["npf"]["nu"]["every"]
    with pytest.raises(ConfigError, match=r"npf\.nu: every, runs is missing"):
        check(config, SCHEMA)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, object()])
def test_values_that_json_cannot_say_are_refused(value):
    with pytest.raises(ConfigError, match="JSON"):
        check(as_the_workflow_merges("quick", nested("npf.nu.step_size", value)), SCHEMA)


@pytest.mark.parametrize(
    ("preset", "hint"), [("laptpo", "did you mean laptop?"), (None, "must be one of"), ([], "[]")]
)
def test_unknown_presets(preset, hint):
    with pytest.raises(ConfigError) as caught:
        preset_file({"preset": preset}, CONFIG)
    assert str(caught.value).startswith(f"preset: {preset!r} is unknown")
    assert hint in str(caught.value)
    assert "smoke, quick, laptop, paper" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "value"),
    [("11", 11), ("0.5", 0.5), ("true", True), ("null", None), ("1e-3", "1e-3"), ("adam", "adam")],
)
def test_texts_of_the_command_line_are_read_as_yaml_reads_them(text, value):
    read = typed({"npf": {"nu": {"runs": text, "classes": [text]}}, "data": {"root": text}})
    assert read["npf"]["nu"] == {"runs": value, "classes": [value]}
    assert read["data"]["root"] == (
        text if isinstance(value, int | float) and value != 1 else value
    )


@given(st.dictionaries(st.text(), st.integers() | st.floats(allow_nan=False) | st.booleans()))
def test_what_is_typed_already_stays(config):
    assert typed(config) == config


LEAVES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 9) | st.floats(-1, 2) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner, max_size=2),
    max_leaves=3,
)  # fmt: skip
TREES = st.dictionaries(st.sampled_from("abc"), st.recursive(
    LEAVES, lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3), max_leaves=5
))  # fmt: skip


@given(TREES, TREES)
def test_merging_changes_neither_side_and_the_later_wins(base, over):
    before = copy.deepcopy((base, over))
    result = merged(base, over)
    assert (base, over) == before
    assert set(result) == set(base) | set(over)
    for key, value in over.items():
        if not isinstance(value, dict):
            assert result[key] == value
        elif isinstance(base.get(key), dict):
            assert result[key] == merged(base[key], value)
    assert merged(result, over) == result
    assert merged(base, {}) == base


def leaves(value, path=()):
    """Paths of all values that are no mappings."""
    if not isinstance(value, dict):
        return [path]
    return [leaf for key, entry in value.items() for leaf in leaves(entry, (*path, key))]


QUICK = as_the_workflow_merges("quick")


@settings(max_examples=150, deadline=None)
@given(
    path=st.sampled_from(leaves(QUICK)),
    value=LEAVES | st.floats() | st.integers() | st.just("1e-3") | st.sampled_from([10**7, 0.5]),
)
def test_any_change_of_a_leaf_passes_or_is_refused_by_name(path, value):
    config = with_leaf(path, value)
    try:
        check(config, SCHEMA)
    except ConfigError as error:
        refused = str(error)
    else:
        return
    # too few epochs are reported under `every`; values that JSON cannot represent have no name
    assert path[-1] in refused or "JSON" in refused


def with_leaf(path, value):
    config = copy.deepcopy(QUICK)
    reduce(lambda inner, key: inner[key], path[:-1], config)[path[-1]] = value
    return config


def test_a_section_without_a_schema_is_checked_against_its_own_values():
    like = schema_like({"draws": 20, "noise": 0.5, "shift": -1.0, "grid": [1, 2], "rule": "mean",
                        "train": None, "flag": True})  # fmt: skip
    validator = jsonschema.Draft202012Validator(like)
    good = {"draws": 3, "noise": 0.1, "shift": -2.5, "grid": [7], "rule": "median", "train": 5,
            "flag": False}  # fmt: skip
    assert validator.is_valid(good)
    for key, wrong in (("draws", 0.5), ("draws", -1), ("draws", 10**9), ("noise", -0.1),
                       ("noise", "1e-3"), ("grid", []), ("grid", ["a"]), ("rule", "$(touch x)"),
                       ("rule", "a\n"), ("train", "all"), ("flag", "yes")):  # fmt: skip
        assert not validator.is_valid({**good, key: wrong}), (key, wrong)
    assert not validator.is_valid({**good, "more": 1})
    assert not validator.is_valid({key: good[key] for key in list(good)[1:]})
