"""Plans of all jobs of a run, beside the graph of the jobs and the rules of the workflow."""

from tests.helpers.workflow_plans import plan
from tests.helpers.workflow_rules import rules

from finitewidth.pipeline.plans.planned_jobs import plans_of_jobs


def test_plans_of_jobs_have_the_needs_of_the_graph():
    quick = plan()
    plans = plans_of_jobs(quick)
    for name, needs in quick.graph.needs.items():
        job = plans[name]
        assert set(job.makers.values()) == set(needs), name
        assert set(job.makers) <= set(job.input_files), name
        for file, maker in job.makers.items():
            assert file in plans[maker].outputs, file


def test_plans_of_jobs_have_the_outputs_of_the_rules():
    quick = plan()
    plans = plans_of_jobs(quick)
    known = rules()
    for name in known.keys() & quick.graph.needs.keys():
        outputs = set(map(str, known[name].output))
        assert outputs == {*plans[name].outputs, plans[name].provenance}, name
        assert str(known[name].benchmark) == plans[name].benchmark, name


def test_every_rule_is_of_a_job_a_target_or_a_pattern():
    quick = plan()
    known = set(rules())
    jobs = known.intersection(quick.graph.needs)
    targets = {"all", "report_now", *(paper.name for paper in quick.papers)}
    patterns = {"train", "dataset", "claims"}
    assert known == jobs | targets | patterns
