"""Counts of verdicts and outcomes, and facts that are counted once."""

from finitewidth.claims import facts


def claim(name, verdict="contradicted"):
    return {"claim": name, "verdict": verdict}


def number(row, outcome="off"):
    return {"artifact": "trust_text", "quantity": "edge", "row": row, "outcome": outcome}


def erratum(name, claims="", numbers="", outcome="misprint confirmed"):
    return {"id": name, "claims": claims, "numbers": numbers, "outcome": outcome}


def test_linked_entries_are_one_fact():
    found = facts.facts_of(
        [claim("B01"), claim("B02", "contradicted in part"), claim("B03", "supported")],
        [number("relu"), number("tanh", "reproduced")],
        [
            erratum("beyond-3", claims="B01 B02"),
            erratum("trust-12", numbers="trust_text/edge/relu"),
            erratum("beyond-16", numbers="trust_text/edge/relu"),
            erratum("npf-1"),
        ],
    )
    assert found == [
        facts.Fact(errata=("beyond-3",), claims=("B01", "B02")),
        facts.Fact(errata=("beyond-16", "trust-12"), numbers=("trust_text/edge/relu",)),
        facts.Fact(errata=("npf-1",)),
    ]


def test_what_holds_and_what_is_not_confirmed_is_no_fact():
    assert not facts.facts_of(
        [claim("B03", "supported"), claim("B04", "not seen on the stand-in")],
        [number("tanh", "reproduced")],
        [erratum("beyond-3", claims="B03", outcome="not computed")],
    )


def test_an_unconfirmed_entry_joins_the_claims_that_it_explains():
    found = facts.facts_of(
        [claim("B01"), claim("B02")], [], [erratum("beyond-3", "B01 B02", outcome="not computed")]
    )
    assert found == [facts.Fact(claims=("B01", "B02"))]


def test_chains_of_links_are_one_fact():
    found = facts.facts_of(
        [claim("B01"), claim("B02"), claim("B05")],
        [],
        [
            erratum("a-1", "B01"),
            erratum("a-3", "B05"),
            erratum("a-2", "B01 B02"),
            erratum("a-4", "B02 B05"),
        ],
    )
    assert found == [facts.Fact(errata=("a-1", "a-2", "a-3", "a-4"), claims=("B01", "B02", "B05"))]
