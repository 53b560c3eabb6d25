"""The run in one Markdown file: sums of times, and words that Markdown shows as they are."""

from types import SimpleNamespace

from finitewidth.common.usage import Usage
from finitewidth.report import findings, summary_page

JOBS = {
    name: findings.Job(name=name, paper="npf", inputs=inputs, outputs=outputs)
    for name, inputs, outputs in (
        ("npf_fig3", ["nu.csv", "kvf.csv"], ["npf_fig3.png"]),
        ("npf_nu", ["w.npz"], ["nu.csv", "nu_provenance.json"]),
        ("npf_kvf", ["w.npz"], ["kvf.csv", "kvf_provenance.json"]),
        ("train npf/nu", ["data.npz"], ["w.npz", "provenance.json"]),
        ("npf_fig7", ["other.csv"], ["npf_fig7.png"]),
        ("report", ["npf_fig3.png"], ["report"]),
        ("report_now", [], []),
    )
}


def test_the_time_of_an_artifact_counts_each_job_that_it_needs_once():
    usage = {name: Usage(jobs=1, wall=10**place, cpu=2 * 10**place)
             for place, name in enumerate(JOBS)}  # fmt: skip
    figure = SimpleNamespace(artifact="npf_fig3")
    assert summary_page.cost_of(figure, JOBS, usage) == Usage(jobs=4, wall=1111, cpu=2222)
    del usage["npf_kvf"]  # not run
    assert summary_page.cost_of(figure, JOBS, usage) == Usage(jobs=3, wall=1011, cpu=2022)
    planned = SimpleNamespace(artifact="npf_fig9")
    assert summary_page.cost_of(planned, JOBS, usage) == Usage()


def test_the_longest_job_comes_first():
    walls = {"npf_nu": 3, "npf/nu": 9, "npf_fig3": 1, "claims npf": 2}
    usage = findings.usage_of({"job": job, "wall_seconds": wall} for job, wall in walls.items())
    assert list(usage) == ["train npf/nu", "npf_nu", "claims npf", "npf_fig3"]
    assert [each.wall for each in usage.values()] == [9, 3, 2, 1]
