"""Chains of jobs, and what jobs rest on."""

from finitewidth.pipeline.graph import behind, chains, length

NEEDS = {
    "data": [],
    "short": ["data"],
    "long": ["data"],
    "fig": ["short", "long"],
    "text": ["short"],
    "report": ["fig", "text"],
}
SECONDS = {"data": 1, "short": 2, "long": 50, "fig": 3, "report": 4}


def test_the_longest_chain_and_what_a_job_rests_on():
    longest = chains(NEEDS, SECONDS)
    assert longest["data"] == ["data", "long", "fig", "report"]
    assert longest["text"] == ["text", "report"]
    assert length(longest["data"], SECONDS) == 58
    assert behind(NEEDS, ["fig"]) == {"fig", "short", "long", "data"}
