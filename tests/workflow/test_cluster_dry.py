"""What preset paper would submit to a cluster: few jobs, each with all that it asks for."""

import re

import pytest
from tests.helpers.workflow_checkout import counted
from tests.helpers.workflow_plans import ROOT, plan

PLAN = plan("paper")
EXPERIMENTS = {experiment.name for paper in PLAN.papers for experiment in paper.experiments}
# they ask for training_minutes at most, and continue in the next attempt
RESUMING = {each.name for paper in PLAN.papers for each in paper.experiments if each.resumes}
MOST = 100  # jobs a run may submit
pytestmark = [pytest.mark.workflow, pytest.mark.usefixtures("fork_server")]


@pytest.fixture(scope="module")
def announced(make_checkout):
    """What a dry run through the Slurm profile announces."""
    checkout = make_checkout("announced")
    answer = checkout.run("--dry-run", "--profile", "profiles/slurm", preset="paper")
    assert answer.returncode == 0, answer.stdout
    return answer.stdout


def test_the_dry_run_is_complete(announced):
    jobs = counted(announced)
    assert jobs["train"] == len(PLAN.jobs.trainings) > 0
    assert {artifact.artifact for artifact in PLAN.artifacts} <= set(jobs)


def submitted(text: str) -> list[str]:
    """The groups and the single jobs that a dry run announces, one of Slurm's jobs each."""
    return re.findall(r"Group job \w+ \(jobs|^rule \w+:", text, re.M)


def test_a_run_submits_few_jobs(announced):
    assert len(submitted(announced)) <= MOST
    alone = re.findall(r"^rule (\w+):", announced, re.M)
    assert all(PLAN.costs[rule].seconds >= 300 for rule in alone if rule in EXPERIMENTS)
    renderers = {rule for rule in alone if re.search(r"_(fig|table|extra)", rule)}
    assert not renderers


def test_the_commands_of_the_document_count_jobs(announced):
    """docs/cluster.md names a command for the jobs of Slurm and a line for those of Snakemake."""
    pattern = re.search(r"grep -cE '(.+)'", (ROOT / "docs/cluster.md").read_text()).group(1)
    assert len(re.findall(pattern, announced, re.M)) == len(submitted(announced))
    total = int(re.search(r"^total +(\d+)", announced, re.M).group(1))
    assert total == sum(counted(announced).values())


def test_every_job_says_its_memory_and_time_and_has_enough(announced):
    for job in re.split(r"^ *rule ", announced, flags=re.M)[1:]:  # those in groups included
        name = job.split(":")[0]
        asked = re.search(r"resources: .*mem_mb=(\d+).*runtime=(\d+)", job)
        assert asked, job
        if name in EXPERIMENTS and name not in RESUMING:
            assert int(asked.group(2)) >= 2 * PLAN.costs[name].seconds / 60, name
