"""Footers follow from the jobs upstream: a setting changes exactly those that rest on it."""

import pytest
from tests.helpers.workflow_evidence import evidence, footer

FEWER = "fewer runs or draws than the paper's"


def test_runs_of_all_jobs_upstream_are_counted():
    assert "· 1 run ·" in footer("dgn_fig6", npf={"nu": {"runs": 1}})
    assert "· (a) 3, (c) 4, (d) 5 runs ·" in footer("npf_fig3", npf={"nu": {"runs": 4}})
    assert "· 2 to 5 runs ·" in footer("npf_extra_text", "laptop")


@pytest.mark.parametrize(
    ("artifact", "over", "amount"),
    [
        ("npf_fig7", {}, "20 runs drawn, 10 shown"),
        ("npf_fig7", {"npf": {"memorisation": {"runs": 8}}}, "8 runs"),
        ("dgn_fig10", {}, "200 runs drawn, 5 shown"),
        ("beyond_fig5", {}, "computed exactly, no draws"),
        ("thesis_fig2_1", {}, "a drawing, shows no result"),
        ("npf_table3", {}, "equations, shows no result"),
    ],
)
def test_what_a_figure_shows_of_the_runs(artifact, over, amount):
    assert footer(artifact, "paper", **over).split(" · ")[1] == amount


# ---- what a figure or table shows, and no other part of the experiments behind it


def descents(**changed):
    return {"npf": {"memorisation": {"descent": changed}}}


@pytest.mark.parametrize("artifact", ["dgn_fig1", "dgn_fig2"])
def test_figures_without_descents_are_judged_without_them(artifact):
    unchanged = footer(artifact, "paper")
    few = descents(wide={"runs": 1, "steps": 3}, narrow={"runs": 2}, rate=0.05)
    assert footer(artifact, "paper", **few) == unchanged
    assert evidence("paper", **few).status(artifact) == "at the paper's sizes"
    assert FEWER not in unchanged
    fewer = {"npf": {"memorisation": {"runs": 4}}}
    assert footer(artifact, "paper", **fewer).endswith(FEWER)


def test_a_figure_is_judged_by_its_own_number_of_runs():
    """More runs for verdicts, or more in another figure, change nothing in this one."""

    def split_footer(over, artifact):
        return footer(artifact, "paper", **over).split(" · ", 1)

    for over in ({"runs": 5}, {"runs": 6}):
        head, rest = split_footer({"dgn": {"deep_linear": over}}, "dgn_fig10")
        assert FEWER not in rest
        assert "modified" not in head
    assert split_footer({"dgn": {"deep_linear": {"shown": 4}}}, "dgn_fig10")[1].endswith(FEWER)
    others = {"npf": {"memorisation": {"shown": {"npf_fig7": 3}}}}
    assert "modified" not in split_footer(others, "dgn_fig1")[0]
    assert split_footer(others, "npf_fig7")[1].endswith(FEWER)
    first = {"beyond": {"training": {"runs": 1}}}
    assert FEWER not in footer("thesis_fig2_5", "paper", **first)
