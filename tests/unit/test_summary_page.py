"""The run in one Markdown file: sums of times, and words that Markdown shows as they are."""

import json
from types import SimpleNamespace

from finitewidth.common.usage import Usage
from finitewidth.report import sources, summary_page

JOBS = sources.read_jobs({
    name: {"log": f"logs/{name.removesuffix('_now')}.log", "benchmark": "", "footer": "",
           "paper": "npf", "inputs": inputs, "outputs": outputs}
    for name, inputs, outputs in (
        ("npf_fig3", ["nu.csv", "kvf.csv"], ["npf_fig3.png"]),
        ("npf_nu", ["w.npz"], ["nu.csv", "nu_provenance.json"]),
        ("npf_kvf", ["w.npz"], ["kvf.csv", "kvf_provenance.json"]),
        ("train npf/nu", ["data.npz"], ["w.npz", "provenance.json"]),
        ("npf_fig7", ["other.csv"], ["npf_fig7.png"]),
        ("report", ["npf_fig3.png"], ["report"]),
        ("report_now", [], []),
    )
})  # fmt: skip


def test_the_time_of_an_artifact_counts_each_job_that_it_needs_once():
    usage = {name: Usage(jobs=1, wall=10**place, cpu=2 * 10**place)
             for place, name in enumerate(JOBS)}  # fmt: skip
    figure = SimpleNamespace(artifact="npf_fig3")
    assert summary_page.cost_of(figure, JOBS, usage) == Usage(jobs=4, wall=1111, cpu=2222)
    del usage["npf_kvf"]  # not run
    assert summary_page.cost_of(figure, JOBS, usage) == Usage(jobs=3, wall=1011, cpu=2022)
    planned = SimpleNamespace(artifact="npf_fig9")
    assert summary_page.cost_of(planned, JOBS, usage) == Usage()


def test_times_come_from_the_provenance_of_all_jobs_but_the_report(tmp_path):
    for job, file, wall in (
        ("npf_nu", "npf/experiments/nu_provenance.json", 3),
        ("npf/nu", "npf/training/nu/provenance.json", 9),
        ("npf_fig3", "provenance/npf/npf_fig3.json", 1),
        ("claims npf", "provenance/claims/npf.json", 2),
        ("report", "provenance/report.json", 50),
    ):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(json.dumps({"job": job, "wall_seconds": wall}))
    killed = tmp_path / "npf/experiments/kvf_provenance.json"  # before the job added its name
    killed.write_text(json.dumps({"wall_seconds": 100}))
    usage = sources.usage_of(sources.read_records(tmp_path))
    assert list(usage) == ["train npf/nu", "npf_nu", "claims npf", "npf_fig3"]
    assert [each.wall for each in usage.values()] == [9, 3, 2, 1]
    assert {name for name in usage if " " not in name} | {"train npf/nu"} <= set(JOBS)
