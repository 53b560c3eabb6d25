"""Seeds are frozen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finitewidth.records.provenance import base_seed, fingerprint, fixed_seed_for, seed_for

WORDS = st.lists(st.text(max_size=4) | st.integers(-5, 5), max_size=4)


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
