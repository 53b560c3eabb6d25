"""Seeds are frozen; the code digest sees behaviour, wherever imported from, and no wording."""

import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finitewidth.common import provenance
from finitewidth.common.provenance import (
    base_seed,
    code_digest,
    fingerprint,
    fixed_seed_for,
    seed_for,
)

WORDS = st.lists(st.text(max_size=4) | st.integers(-5, 5), max_size=4)
ROOT = "finitewidth.root"
TREE = {
    "__init__": '"""The package."""\n',
    "root": """
        from finitewidth.inner import middle

        def answer(x):
            return middle.twice(x)
        """,
    "aside": "VALUE = 1\n",
    "inner.__init__": "",
    "inner.middle": """
        from finitewidth.inner import leaf
        from finitewidth.inner.leaf import FACTOR
        from finitewidth.outer import shift

        def twice(x):
            return FACTOR * shift(x)
        """,
    "inner.leaf": """
        import math

        FACTOR = 2


        class Rule:
            '''Of thumb.'''

            def formula(self, x):
                '''Say something.'''
                return math.sqrt(x) + 1  # explained
        """,
    "outer": """
        def shift(x):
            import finitewidth.late

            return finitewidth.late.STEP + x
        """,
    "late": "STEP = 1\n",
}


def forget():
    for name in ("_module_digest", "code_digest"):
        getattr(getattr(provenance, name), "cache_clear", lambda: None)()


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A small package in place of the real one; a call rewrites modules and gives root's digest."""
    monkeypatch.setattr(provenance, "SOURCE_ROOT", tmp_path)
    forget()

    def write(**modules):
        for name, text in modules.items():
            path = tmp_path.joinpath("finitewidth", *name.replace("__init__", "INIT").split("."))
            path = path.with_name(path.name.replace("INIT", "__init__") + ".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text))
        forget()
        return code_digest(ROOT)

    write(**TREE)
    yield write
    forget()


@pytest.mark.parametrize(
    ("words", "seed"),
    [
        ((), 2858069222894195974),
        (("npf",), 4481892563252703326),
        (("npf/table2/fc_sgd", 3, "value weights"), 703814110059263265),
        (("Ω", -1), 4526757358239073569),
    ],
)
def test_known_seeds(words, seed):
    assert seed_for(*words) == seed


@given(WORDS, WORDS)
def test_seeds_differ_where_words_do(one, other):
    """Types and lengths separate words: 1 is not "1", and ("a", "b") is not ("ab",)."""
    assert (seed_for(*one) == seed_for(*other)) == (one == other)
    assert 0 <= seed_for(*one) < 2**63


@given(WORDS, st.integers(1, 2**31 - 1))
def test_another_base_seed_changes_every_seed_but_the_fixed_ones(words, other):
    before = seed_for(*words)
    with base_seed(other):
        assert seed_for(*words) != before
        assert fixed_seed_for(*words) == before
        with base_seed(0):
            assert seed_for(*words) == before
    assert seed_for(*words) == before


def test_fingerprint():
    assert fingerprint({"b": [1, 2.5], "a": None}) == fingerprint({"a": None, "b": [1, 2.5]})
    assert fingerprint([1]) != fingerprint(["1"]) != fingerprint([[1]])
    assert fingerprint({}) == "44136fa355b3678a"
    with pytest.raises(TypeError):
        fingerprint(object())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# explained", "# explained otherwise"),
        ("'''Say something.'''", "'''Say something else.'''"),
        ("'''Of thumb.'''", ""),
        ("FACTOR = 2\n", "FACTOR=2\n\n\n"),
        ("math.sqrt(x) + 1", "(math.sqrt(x)\n            + 1)"),
    ],
)
def test_wording_does_not_change_the_digest(package, old, new):
    before, text = code_digest(ROOT), textwrap.dedent(TREE["inner.leaf"])
    assert old in text
    assert package(**{"inner.leaf": text.replace(old, new)}) == before


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        ("inner.leaf", "+ 1", "+ 2"),
        ("inner.leaf", "FACTOR = 2", "FACTOR = 3"),
        ("inner.middle", "FACTOR * shift(x)", "shift(x) * FACTOR"),
        ("late", "1", "2"),
        ("__init__", '"""The package."""', "import os"),
        ("inner.__init__", "", "X = 1\n"),
    ],
)
def test_behaviour_anywhere_changes_the_digest(package, module, old, new):
    before = code_digest(ROOT)
    assert package(**{module: textwrap.dedent(TREE[module]).replace(old, new)}) != before
    assert package(**{module: TREE[module]}) == before


def test_modules_out_of_reach_do_not_count(package):
    before = code_digest(ROOT)
    assert package(aside="VALUE = 2\n", new="import os\n") == before
