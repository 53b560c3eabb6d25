"""Presets pass; every mistake is refused with its key, its value and what is allowed."""

import copy
import json
import shutil
from functools import reduce

import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers.project import ROOT
from tests.helpers.workflow_plans import plan

from finitewidth.common.errors import ConfigError
from finitewidth.declarations.papers import paper_names
from finitewidth.pipeline.configuration import check, json_schema, settings_model, sources_of
from finitewidth.settings.nested import leaves, merged
from finitewidth.settings.presets import (
    PRESETS,
    completed,
    preset_names,
    preset_only,
    results_folder,
    typed,
)
from finitewidth.settings.sections import Section, Source, section_of
from finitewidth.settings.yaml_files import read_yaml

PAPERS = paper_names(ROOT / "workflow/papers")
CONFIG = ROOT / "config"


def as_the_workflow_merges(preset, override=None):
    """The file all share, a file per paper, the preset's file, and the command line last."""
    parts = [CONFIG / "config.yaml", *sorted((CONFIG / "papers").glob("*.yaml"))]
    parts.append(CONFIG / f"preset/{preset}.yaml")
    read = [yaml.safe_load(part.read_text(encoding="utf-8")) or {} for part in parts]
    return reduce(merged, [*read, {"preset": preset}, override or {}], {})


def deep(levels):
    """A list in a list, and so on."""
    return reduce(lambda inner, _: [inner], range(levels), [])


def nested(key, value):
    """{"a": {"b": value}} for "a.b"."""
    return reduce(lambda inner, name: {name: inner}, reversed(key.split(".")), value)


def meanings():
    """Name and meaning of every setting, and of the sections that have a meaning of their own."""
    settings_model(PAPERS)  # imports the settings of all papers
    models = Section.__subclasses__()
    for model in models:
        models += model.__subclasses__()
        if ".settings" not in model.__module__:
            continue  # what a figure or a table reads, and sections of tests
        for key, field in model.model_fields.items():
            if field.description is None:
                assert section_of(field.annotation), f"{model.__name__}.{key} has no meaning"
            else:
                yield f"{model.__module__}.{model.__name__}.{key}", field.description


def refusal(key, value, preset="quick"):
    with pytest.raises(ConfigError) as caught:
        check(as_the_workflow_merges(preset, nested(key, value)), PAPERS)
    return str(caught.value)


@pytest.mark.parametrize("preset", PRESETS)
def test_presets_pass(preset):
    config = as_the_workflow_merges(preset)
    check(config, PAPERS)
    assert preset_only(preset, CONFIG) == config


def test_the_preset_paper_changes_nothing():
    assert yaml.safe_load((CONFIG / "preset" / "paper.yaml").read_text()) == {}


VGG = "collapse.pairs.vgg_mnist"
REFUSALS = [
    # type and range
    ("npf.nu.network.width", 0, "0 is refused; it must be greater than or equal to 1"),
    ("npf.kvf.gate.beta", -1, "-1 is refused; it must be greater than 0 (slope beta of the gates)"),
    ("npf.nu.step_size", "1e-3", "'1e-3' is refused; it must be a number"),
    ("npf.nu.epochs", "1e3", "in YAML write 0.001, not 1e-3, which is text"),
    ("npf.nu.epochs", 2.0, "2.0 is refused; it must be a whole number"),
    ("npf.nu.runs", True, "True is refused; it must be a whole number"),
    ("npf.nu.runs", 10**400, "is refused; it must be less than or equal to 1000"),
    ("npf.nu.step_size", float("nan"), "nan is refused; it must be a finite number"),
    ("data", 3, "3 is refused; it must be a mapping"),
    ("npf.nu.classes", [4], "[4] is refused; it must have at least 2 entries"),
    ("npf.nu.classes", [4, 4], "[4, 4] is refused; its entries must differ"),
    ("npf.nu.classes", deep(50), "[[[["),
    ("npf.nu.optimiser", "adamw", "'adamw' is refused; it must be 'sgd', 'adam' or 'rmsprop'"),
    ("npf.theory.variance.widths", [6], "it must be a multiple of 4"),
    (f"{VGG}.network.kind", ["a"], "['a'] is refused; it must be one of 'vgg', 'resnet'"),
    (f"{VGG}.network.convolutions", ["N"], "it must be a whole number, or it must be 'M'"),
    ("collapse.maps.resnet_mnist_ce", {}, "it must be null"),
    ("device", "gpu", "'gpu' is refused; it must be 'cpu', 'cuda' or 'auto'"),
    # what could reach a shell
    ("preset", "$(touch canary)", "'$(touch canary)' is refused; String should match"),
    ("name", "../mine", "'../mine' is refused; String should match"),
    ("name", "data", "write a name other than data and those of the presets"),
    ("data.mnist", "My Data", "'My Data' is refused; String should match pattern '^[a-z]"),
    ("data.root", "/data/$(date)", "'/data/$(date)' is refused; String should match"),
    ("data.imagefolder.mine", "../x", "write a path below data.root"),
    # unknown keys
    ("npf.nu.rnus", 1, "unknown key (did you mean runs?)"),
    ("dgn.mnist.network.hidden", 3, "unknown key; known keys are kind, widths"),
    ("npf.regmies", 1, "unknown key (did you mean regimes?)"),
    ("beyond.shapes.layers.lambda_", 1, "unknown key (did you mean lambda?)"),
    # contradictions
    ("npf.stages.network", "gcon", "(did you mean gconv?); it must be one of fc, vconv, gconv"),
    ("npf.stages.optimiser", "rmsprop", "gconv_rmsprop, which is no row of npf.regimes.rows"),
    ("npf.nu.every", 51, "51 is refused; it must be at most epochs, 50"),
    ("npf.concepts.toy.width", 2, "every layer needs as many gates as width, 2"),
    ("dgn.sweep.in_text.eps", 0.2, "0.2 is refused; it must be one of"),
    ("dgn.concepts.convolution.layers", 4, None),
    ("dgn.concepts.convolution.kernel", 3, "kernel times layers must be at most 8"),
    ("beyond.diagonal.near.banded", [1.7], "all of it must be in sigma_w2"),
    ("beyond.theory.architectures.narrow", 500, "it must be below wide, 500"),
    ("beyond.training.times", [1, 2], "it must rise from 0"),
    ("beyond.training.maps", [1], "write at most 4 of beyond.training.times"),
    ("beyond.shapes.maps.max_lambda", 0.001, "it must give 3 layers at least"),
    ("thesis.classical.largest_degree", 20, "it must be below samples, 20"),
    ("thesis.risk.ratios", [1.0], "one at least must differ from 1"),
    ("thesis.risk.doubled", [2000, 3000], "each number must be twice the one before"),
    ("trust.descent_tanh.width", 7, "7 is refused; it must be among the widths"),
    ("trust.descent_relu.times", [10**7], "[10000000] is refused; they must be at most steps"),
    ("thesis.concepts.convolution.window", 6, None),
    ("thesis.concepts.convolution.size", 2, "it must be at most size, 2"),
    ("thesis.risk.ratios", [0.501], "it must be a whole number of parameters"),
    ("thesis.risk.descent.ratios", [1], "where descent takes millions of steps"),
    ("collapse.flow.frozen.other_class", [0.01, 0.1], "[0.2, 0.1, 0.1] is refused; the values"),
    ("trust.descent_relu.mode", "flow", "it is accurate for tanh only"),
    (f"{VGG}.pair", "vgg_cifar", "'vgg_cifar' is refused; it must be vgg_mnist, its key"),
    (f"{VGG}.dataset", "cifar10", "it must be mnist; data.mnist says which images"),
    (f"{VGG}.network.convolutions", ["M", 3], "the first must be a convolution"),
    (f"{VGG}.rates", {"values": None, "indices": [30]}, "they must be below points, 30"),
    (f"{VGG}.inits", ["he"], "it must be among inits, ['he']"),
    (f"{VGG}.measure_every", 401, "401 is refused; it must be at most epochs"),
    (f"{VGG}.kernel_per_class", 99, "kernels are of images of the last batch"),
    ("collapse.models.smoothing.window", 12, "12 is refused; it must be odd"),
    ("collapse.flow.features", 9, "9 is refused; it must be at least classes, 10"),
    ("collapse.flow.steps.time", 0.0007, "must be a multiple of it"),
    ("collapse.block_kernel.kernel", [1, 3, 7], "[1, 3, 7] is refused; the values must fall"),
]


@pytest.mark.parametrize(
    ("key", "value", "words"),
    REFUSALS,
    ids=lambda part: None if isinstance(part, list) else str(part)[:40],
)
def test_a_mistake_has_one_line_with_key_value_and_what_is_allowed(key, value, words):
    if words is None:
        check(as_the_workflow_merges("quick", nested(key, value)), PAPERS)
        return
    message = refusal(key, value)
    section = key.rpartition(".")[0]
    assert f"\n  {section}" in message
    assert words in message
    assert message.count("\n") == 1
    assert len(message) < 900


def test_all_mistakes_are_named_at_once():
    config = as_the_workflow_merges("quick", {"npf": {"nu": {"runs": 0}, "kvf": {"runs": 0}}})
    with pytest.raises(ConfigError, match=r"npf\.kvf\.runs: 0 .*\n.*npf\.nu\.runs: 0 "):
        check(config, PAPERS)


def test_missing_keys_are_named():
    config = as_the_workflow_merges("quick")
    del config["npf"]["nu"]["runs"], config["npf"]["nu"]["every"]
    missing = r"npf\.nu\.every: is missing\n  npf\.nu\.runs: is missing"
    with pytest.raises(ConfigError, match=missing):
        check(config, PAPERS)


def test_a_key_that_is_given_twice_is_refused_and_merge_keys_are_not(tmp_path):
    file = tmp_path / "npf.yaml"
    file.write_text("a: {x: 1}\nb: 2\na: 3\n")
    with pytest.raises(ConfigError, match=r"npf\.yaml, line 3: the key a is given twice"):
        read_yaml(file)
    file.write_text("a: &a {x: 1}\nb: &b\n  c: {<<: *a, x: 2}\nd: {<<: [*a, *b], x: 3}\n")
    assert read_yaml(file)["d"] == {"x": 3, "c": {"x": 2}}


@pytest.mark.parametrize(
    ("preset", "hint"), [("laptpo", "did you mean laptop?"), (None, "must be one of"), ([], "[]")]
)
def test_unknown_presets(preset, hint):
    with pytest.raises(ConfigError) as caught:
        preset_only(preset, CONFIG)
    assert str(caught.value).startswith(f"preset: {preset!r} is unknown")
    assert hint in str(caught.value)
    assert "smoke, quick, laptop, paper" in str(caught.value)


SOURCES = sources_of(preset_only("paper", CONFIG), PAPERS)


def test_every_setting_of_the_papers_has_a_source():
    papers = {path for path in leaves(preset_only("paper", CONFIG)) if path[0] in PAPERS}
    assert set(SOURCES) == papers


def test_every_meaning_says_what_the_setting_is():
    """A phrase of four words or more that begins with a noun: "time at which the flow ends"."""
    for name, meaning in meanings():
        words = meaning.split()
        assert len(words) >= 4, f"{name}: {meaning!r} is too short"
        assert words[0] not in ("of", "that", "at", "as", "for"), f"{name}: {meaning!r} has no noun"


def test_a_value_that_a_source_accepts_is_one_that_a_run_can_have():
    paper = preset_only("paper", CONFIG)
    for path, source in SOURCES.items():
        for value in (*source.paper_also, *source.code_also):
            default = reduce(lambda inner, key: inner[key], path, paper)
            assert value != default
            assert source.accepts(default, value)
            check(merged(paper, nested(".".join(path), value)), PAPERS)


@pytest.mark.parametrize(
    ("source", "default", "value", "accepted"),
    [
        (Source("paper"), 4, 4.0, True),
        (Source("paper"), 1, True, False),
        (Source("paper"), [1, 2], [1, 2], True),
        (Source("ours"), 4, 4, False),
        (Source("ours", paper_also=[5]), 4, 5, True),
        (Source("code", paper_also=[None]), 4, None, True),
        (Source("paper", or_more=True), 200, 500, True),
        (Source("paper", or_more=True), 200, 199, False),
    ],
)
def test_accepted_are_the_values_of_the_paper_and_its_code(source, default, value, accepted):
    assert source.accepts(default, value) is accepted


@pytest.mark.parametrize("preset", PRESETS)
def test_the_json_schema_takes_every_preset_and_refuses_a_misspelt_key(preset):
    validator = jsonschema.Draft202012Validator(json.loads(json_schema(PAPERS)))
    config = preset_only(preset, CONFIG)
    assert validator.is_valid(config)
    assert validator.is_valid(read_yaml(CONFIG / f"preset/{preset}.yaml"))
    assert not validator.is_valid(merged(config, {"npf": {"nu": {"rnus": 3}}}))
    assert not validator.is_valid(merged(config, {"npf": {"nu": {"runs": 0}}}))


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
)
TREES = st.dictionaries(
    st.sampled_from("abc"),
    st.recursive(
        LEAVES,
        lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
        max_leaves=5,
    ),
)


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


# --- presets of the user -------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    """The folder ``config`` with a preset of the user, and one that changes that."""
    shutil.copytree(ROOT / "config", tmp_path / "config")
    presets = tmp_path / "config/preset"
    (presets / "mine.yaml").write_text("preset: quick\nnpf: {nu: {runs: 5}}\n")
    (presets / "other.yaml").write_text("preset: mine\nnpf: {nu: {per_class: 7}}\n")
    return tmp_path / "config"


def test_a_preset_of_the_user_changes_another(folder):
    quick = preset_only("quick", folder)
    other = preset_only("other", folder)
    assert preset_names(folder) == [*PRESETS, "mine", "other"]
    assert other["preset"] == "other"
    assert (other["npf"]["nu"]["runs"], other["npf"]["nu"]["per_class"]) == (5, 7)
    assert other["trust"] == quick["trust"]
    assert completed({"preset": "mine"}, folder)["npf"]["nu"]["runs"] == 5


@pytest.mark.parametrize("text", ["npf: {}", "preset: circle", "preset: nowhere", "preset: [1]"])
def test_a_preset_that_leads_to_none_of_ours_is_refused(folder, text):
    (folder / "preset/circle.yaml").write_text(text)
    with pytest.raises(ConfigError, match=r"circle\.yaml: preset: .* names the preset"):
        preset_only("circle", folder)


def test_a_run_with_a_name_has_a_folder_of_its_own():
    assert plan("quick", name="mine", seed=3).results == "results/mine"
    assert results_folder("quick", 3, ["tree"], "mine") == "results/mine"
