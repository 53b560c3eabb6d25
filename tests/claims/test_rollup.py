"""One word for an artifact: the worst of its claims and numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finitewidth.claims import reported, rollup, verdicts

WORDS = st.lists(st.sampled_from(verdicts.VERDICTS)), st.lists(st.sampled_from(reported.OUTCOMES))


@pytest.mark.parametrize(
    ("claims", "numbers", "status"),
    [
        ([], [], "nothing to judge"),
        (["supported"], ["reproduced"], "holds"),
        (["supported", "not run"], [], "undecided"),
        (["supported"], ["not comparable"], "undecided"),
        (["not decidable at this preset", "inconclusive"], ["reproduced"], "inconclusive"),
        (["inconclusive"], ["reproduced", "off"], "off"),
        (["contradicted", "supported", "not run"], ["off"], "contradicted"),
    ],
)
def test_an_artifact_is_as_good_as_its_worst_part(claims, numbers, status):
    assert rollup.roll_up(claims, numbers).status == status


@given(*WORDS)
def test_counts_add_up_and_order_does_not_matter(claims, numbers):
    found = rollup.roll_up(claims, numbers)
    assert sum(found.claims.values()) == len(claims)
    assert sum(found.numbers.values()) == len(numbers)
    assert found == rollup.roll_up(claims[::-1], numbers[::-1])


@given(*WORDS, st.sampled_from(verdicts.VERDICTS))
def test_one_more_claim_never_makes_it_better(claims, numbers, more):
    before = rollup.roll_up(claims, numbers).status
    after = rollup.roll_up([*claims, more], numbers).status
    rank = (*rollup.WORST_FIRST, rollup.NOTHING).index
    assert rank(after) <= rank(before)


def test_an_unknown_word_is_refused():
    with pytest.raises(ValueError, match="'true' is not one of supported"):
        rollup.roll_up(["true"])
    with pytest.raises(ValueError, match="'supported' is not one of reproduced"):
        rollup.roll_up([], ["supported"])
