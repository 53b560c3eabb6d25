"""Chains of jobs, and what jobs rest on."""

from tests.helpers.job_chain import NEEDS, SECONDS

from finitewidth.pipeline.graph import behind, chains, length


def test_the_longest_chain_and_what_a_job_rests_on():
    longest = chains(NEEDS, SECONDS)
    assert longest["data"] == ["data", "long", "fig", "report"]
    assert longest["text"] == ["text", "report"]
    assert length(longest["data"], SECONDS) == 58
    assert behind(NEEDS, ["fig"]) == {"fig", "short", "long", "data"}
