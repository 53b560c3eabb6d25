"""Tags in comments of the papers' settings: what each says of a leaf, and what is refused."""

import re
from functools import reduce
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from finitewidth.common.errors import ConfigError
from finitewidth.common.settings import check, merged, preset_only
from finitewidth.pipeline.sources import Source, accepts, read_sources

ROOT = Path(__file__).resolve().parents[2]
PAPERS = ROOT / "config" / "papers"
REAL = read_sources(PAPERS)
BARE = re.compile(r"# \[(P|C|choice)\]")


def read(folder, text, name="a.yaml"):
    (folder / name).write_text(text, encoding="utf-8")
    return read_sources(folder)


def flattened(settings, path=()):
    """Path -> value of every leaf of parsed settings."""
    if not isinstance(settings, dict):
        return {path: settings}
    parts = (flattened(value, (*path, key)) for key, value in settings.items())
    return reduce(lambda one, other: one | other, parts, {})


def real_settings():
    texts = [path.read_text(encoding="utf-8") for path in sorted(PAPERS.glob("*.yaml"))]
    return {key: value for text in texts for key, value in yaml.safe_load(text).items()}


@pytest.mark.parametrize(
    ("comment", "source"),
    [
        ("[P]", Source("paper", ("P",))),
        ("[C] two of them", Source("paper", ("C",))),
        ("[P] [C]", Source("paper", ("P", "C"))),
        ("[choice] f(x) in [0, 1]", Source("choice", ("choice",))),
        ("[C] [P=0] the code", Source("paper", ("C", "P=0"), (0,))),
        ("[P] [P=8] [C=[64, 128]]", Source("paper", ("P", "P=8", "C=[64, 128]"), (8, [64, 128]))),
        ("[P][C=null]", Source("paper", ("P", "C=null"), (None,))),
        (
            "[choice] [C=softmax_sum]",
            Source("choice", ("choice", "C=softmax_sum"), ("softmax_sum",)),
        ),
        ("[P or more]", Source("paper", ("P or more",))),
    ],
)
def test_a_comment_gives_the_source_of_the_leaf_on_its_line(tmp_path, comment, source):
    assert read(tmp_path, f"a:\n  b: 1  # {comment}\n") == {("a", "b"): source}


def kinds(sources):
    return {".".join(path): " ".join(source.tags) for path, source in sources.items()}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a:\n  # [P] above\n  b: 1\n", {"a.b": "P"}),
        ("a:\n  # prose\n  # [P] above,\n  # in three lines\n  b: 1\n", {"a.b": "P"}),
        ("a:\n  # [C] above\n  b: 1  # [P] beside wins\n  c: 2  # [P]\n", None),
        ("# a legend with [P] in it\na:  # [C]\n  b: 1\n  c: {d: 2}\n", {"a.b": "C", "a.c.d": "C"}),
        ("a:\n  # [C] above\n  b:\n    c: 1\n    d: 2  # [P]\n", {"a.b.c": "C", "a.b.d": "P"}),
        ("a: {b: 1, c: [1, 2]}  # [choice]\n", {"a.b": "choice", "a.c": "choice"}),
        ("a: {b: 1,  # [P]\n    c: 2}  # [choice]\n", {"a.b": "P", "a.c": "choice"}),
        ("a: [1, 2,\n    3]  # [P] a list on two lines\n", {"a": "P"}),
        ("a:  # [P]\n  - [1, 2]\n  - {x: 3}\nb: 1  # [C]\n", {"a": "P", "b": "C"}),
        ("a: 'no # [P] comment'  # [C]\n", {"a": "C"}),
        (
            "a: 1  # [P] continued\n      # on a line of its own\nb: 2  # [C]\n",
            {"a": "P", "b": "C"},
        ),
        ("a: null  # [P]\nb:  # [C]\n", {"a": "P", "b": "C"}),
        ("a: 1  # [P]\nb: {}\n", {"a": "P"}),
        ("a: 1# [P]  # [C]\n", {"a": "C"}),
    ],
)
def test_the_nearest_comment_counts(tmp_path, text, expected):
    if expected is None:
        with pytest.raises(ConfigError, match=r"line 2: \[C\] belongs to no setting"):
            read(tmp_path, text)
    else:
        assert kinds(read(tmp_path, text)) == expected


def test_an_alias_and_a_merged_leaf_have_the_source_of_the_place_where_they_are_written(tmp_path):
    text = """
a: &base
  x: 1      # [P]
  y: {z: 2}  # [C]
b:  # [choice]
  <<: *base
  x: 3
c: {w: *base}
d: {<<: [*base], v: 4}  # [choice]
"""
    found = kinds(read(tmp_path, text))
    assert found == {
        "a.x": "P", "a.y.z": "C",
        "b.x": "choice", "b.y.z": "C",
        "c.w.x": "P", "c.w.y.z": "C",
        "d.x": "P", "d.y.z": "C", "d.v": "choice",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a:\n  b: 1\n", r"a\.yaml, line 2: a\.b has no source"),
        ("a:\n  b: 1  # of both\n", r"line 2: a\.b has no source"),
        ("a: {b: 1,  # [P]\n    c: 2}\n", r"line 2: a\.c has no source"),
        ("a: 1  # [P] and [choice]\n", r"line 1: \[choice\] stands inside a comment"),
        ("a: 1  # the value is [P]\n", r"line 1: \[P\] stands inside a comment"),
        ("a: 1  # [P] [choice]\n", r"line 1: \[P\] \[choice\] says both"),
        ("a: 1  # [P=2]\n", r"line 1: \[P=2\] gives a further value only"),
        ("a: 1  # [X]\n", r"line 1: \[X\] is no tag"),
        ("a: 1  # [p]\n", r"line 1: \[p\] is no tag"),
        ("a: 1  # [choice=2]\n", r"line 1: \[choice=2\] is no tag"),
        ("a: 1  # [P=]\n", r"line 1: \[P=\] is no tag"),
        ("a: 1  # [P\n", r"line 1: \[P is no tag"),
        ("a: 1  # [P] [P={]\n", r"line 1: '\{' in a tag is no YAML value"),
        ("a: 1  # [P] [P=1e-4]\n", r"line 1: 1e-4 in a tag is text"),
        ("a: x  # [P or more]\n", r"line 1: a is no number"),
        ("a: 1  # [P]\n# [C] at the end\n", r"line 2: \[C\] belongs to no setting"),
        ("a:\n  b: 1  # [P]\n# [C] for c\n  c: 2  # [P]\n", r"line 3: \[C\] belongs"),
        ("a:  # [C]\n  b: 1  # [P]\n", r"line 1: \[C\] belongs to no setting"),
        ("a: [1\n", r"a\.yaml: cannot be parsed as YAML"),
    ],
)
def test_what_could_be_lost_or_read_in_two_ways_is_refused(tmp_path, text, message):
    with pytest.raises(ConfigError, match=message):
        read(tmp_path, text)


def test_an_empty_file_has_no_leaf(tmp_path):
    assert read(tmp_path, "# nothing\n") == {}


def test_all_files_are_read(tmp_path):
    (tmp_path / "b.yaml").write_text("b: 1  # [C]\n", encoding="utf-8")
    assert kinds(read(tmp_path, "a: 1  # [P]\n")) == {"a": "P", "b": "C"}


PAPER, CHOICE = Source("paper", ("P",)), Source("choice", ("choice",))
MORE = Source("paper", ("P or more",))


@pytest.mark.parametrize(
    ("source", "own", "value", "accepted"),
    [
        (PAPER, 4, 4, True),
        (PAPER, 4, 4.0, True),
        (PAPER, 4, 5, False),
        (PAPER, None, None, True),
        (PAPER, None, 0, False),
        (PAPER, 1, True, False),
        (PAPER, [1, [2, 3]], (1, (2, 3)), True),
        (PAPER, [1, 2], [1], False),
        (PAPER, [{"width": 1}], [{"width": 1.0}], True),
        (PAPER, [{"width": 1}], [{"width": 2}], False),
        (CHOICE, 4, 4, False),
        (Source("choice", ("choice", "P=0"), (0,)), 0.1, 0, True),
        (Source("choice", ("choice", "P=0"), (0,)), 0.1, 0.1, False),
        (Source("paper", ("C", "P=0"), (0,)), 0.1, 0.1, True),
        (Source("paper", ("C", "P=0"), (0,)), 0.1, 0, True),
        (Source("paper", ("C", "P=0"), (0,)), 0.1, False, False),
        (Source("paper", ("C", "P=0"), (0,)), 0.1, 0.2, False),
        (MORE, 200, 200, True),
        (MORE, 200, 40_000, True),
        (MORE, 200, 199, False),
        (MORE, 200, None, False),
        (MORE, 1, True, False),
    ],
)
def test_accepted_are_the_values_of_the_paper_and_its_code(source, own, value, accepted):
    assert accepts(source, own, value) is accepted


def test_every_leaf_of_the_papers_settings_has_a_source():
    assert set(REAL) == set(flattened(real_settings()))


@pytest.mark.parametrize(
    ("leaf", "source"),
    [
        ("npf.regimes.gate.beta", Source("paper", ("P", "P=8"), (8,))),
        ("npf.regimes.gate.eps", Source("paper", ("C", "P=0"), (0,))),
        ("npf.regimes.networks.gconv.global_average_pooling", Source("paper", ("P",))),
        ("npf.regimes.networks.gconv.dense", Source("paper", ("P", "P=[256]"), ([256],))),
        ("npf.regimes.rows.fc_adam.step_size", Source("paper", ("C", "P=0.0003"), (0.0003,))),
        ("npf.regimes.rows.fc_adam.epochs", Source("paper", ("C",))),
        ("npf.kvf.per_class", Source("paper", ("P", "C=20"), (20,))),
        ("npf.kvf.output", Source("choice", ("choice", "C=softmax_sum"), ("softmax_sum",))),
        ("npf.cntk.train", CHOICE),
        ("npf.theory.variance.drawn.draws", CHOICE),
        ("npf.concepts.toy.gates", CHOICE),
        ("dgn.gates_only.network.channels", PAPER),
        ("dgn.sweep.in_text.beta", CHOICE),
        ("dgn.planar.loss_half", Source("choice", ("choice", "P=false"), (False,))),
        ("beyond.diagonal.draws", MORE),
        ("beyond.diagonal.points", Source("choice", ("choice", "C=null"), (None,))),
        ("beyond.off_diagonal.phases.widths", Source("paper", ("P", "P=[200]"), ([200],))),
        ("beyond.theorem31.small.width", CHOICE),
        ("trust.heat_biases.draws", MORE),
        ("trust.heat_biases.widths", PAPER),
        ("trust.heat_biases.sigma_b2", CHOICE),
        ("trust.heat_biases.sigma_w2.relu.points", CHOICE),
    ],
)
def test_sources_of_some_settings(leaf, source):
    assert REAL[tuple(leaf.split("."))] == source


def test_draws_that_may_be_more_are_those_the_figures_average():
    named = {".".join(path) for path, source in REAL.items() if source.or_more}
    assert named == {
        "beyond.diagonal.draws", "beyond.off_diagonal.draws", "trust.heat_widths.draws",
        "trust.heat_biases.draws", "trust.depth.draws", "npf.memorisation.runs",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("path", "value"),
    [(path, value) for path, source in REAL.items() for value in source.accepted],
    ids=lambda part: ".".join(part) if isinstance(part, tuple) else str(part),
)
def test_a_value_that_a_tag_accepts_is_one_that_a_run_can_have(path, value):
    own = flattened(real_settings())[path]
    assert value != own
    assert accepts(REAL[path], own, value)
    one = reduce(lambda inner, key: {key: inner}, reversed(path), value)
    check(merged(preset_only("paper", ROOT / "config"), one), ROOT / "workflow" / "schemas")


def header(path):
    """The number of lines of the comment at the top of a file, which tags nothing."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return next(n for n, line in enumerate(lines) if line and not line.startswith("#"))


TAGGED = [
    (path, number)
    for path in sorted(PAPERS.glob("*.yaml"))
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines())
    if BARE.search(line) and number >= header(path)
]


@given(st.sampled_from(TAGGED))
def test_another_tag_changes_what_is_read(tmp_path_factory, place):
    path, number = place
    lines = path.read_text(encoding="utf-8").splitlines()
    other = "P" if "# [choice]" in lines[number] else "choice"
    lines[number] = BARE.sub(f"# [{other}]", lines[number])
    found = read(tmp_path_factory.mktemp("papers"), "\n".join(lines), path.name)
    changed = {leaf for leaf in found if found[leaf].kind != REAL[leaf].kind}
    assert changed
    assert {found[leaf].kind for leaf in changed} == {"paper" if other == "P" else "choice"}
