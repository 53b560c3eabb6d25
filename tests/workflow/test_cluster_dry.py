"""Every preset dry-runs; what it would submit to a cluster: few jobs, each with all it asks for."""

import re
from pathlib import Path

import pytest

from finitewidth.common.declarations import artifacts_of, read_papers
from finitewidth.common.settings import preset_only
from finitewidth.pipeline.plan import Plan

from .conftest import counted, trainings_planned

ROOT = Path(__file__).parents[2]
PRESETS = ("paper",)
PAPERS = read_papers(ROOT / "workflow/papers")
EXPERIMENTS = {experiment.name for paper in PAPERS for experiment in paper.experiments}
# they ask for training_minutes at most, and continue in the next attempt
RESUMING = {each.name for paper in PAPERS for each in paper.experiments if each.resumes}
MOST = 100  # jobs a run may submit
pytestmark = [pytest.mark.workflow, pytest.mark.usefixtures("fork_server")]


@pytest.fixture(scope="module")
def checkout(make_checkout):
    return make_checkout("announced")


def dry_runs(checkout, *settings):
    """By preset, what a dry run through the Slurm profile announces."""
    answers = {}
    for preset in PRESETS:
        answer = checkout.run("--dry-run", *settings, "--profile", "profiles/slurm", preset=preset)
        assert answer.returncode == 0, answer.stdout
        answers[preset] = answer.stdout
    return answers


@pytest.fixture(scope="module")
def announced(checkout):
    return dry_runs(checkout)


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_dry_runs_completely(announced, preset):
    jobs = counted(announced[preset])
    assert jobs["train"] == trainings_planned(preset) > 0
    artifacts = artifacts_of(PAPERS)
    assert {artifact.artifact for artifact in artifacts} <= set(jobs)


def submitted(text: str) -> list[str]:
    """The groups and the single jobs that a dry run announces, one of Slurm's jobs each."""
    return re.findall(r"Group job \w+ \(jobs|^rule \w+:", text, re.M)


def jobs_of(text: str) -> list[str]:
    """The text of each job, those in groups included."""
    return re.split(r"^ *rule ", text, flags=re.M)[1:]


@pytest.mark.parametrize("preset", PRESETS)
def test_a_run_submits_few_jobs(announced, preset):
    assert len(submitted(announced[preset])) <= MOST
    alone = re.findall(r"^rule (\w+):", announced[preset], re.M)
    costs = Plan(preset_only(preset, ROOT / "config"), ROOT).costs
    assert all(costs[rule].seconds >= 300 for rule in alone if rule in EXPERIMENTS)
    renderers = {rule for rule in alone if re.search(r"_(fig|table|extra)", rule)}
    assert not renderers


def test_the_commands_of_the_document_count_jobs(announced):
    """docs/cluster.md names a command for the jobs of Slurm and a line for those of Snakemake."""
    pattern = re.search(r"grep -cE '(.+)'", (ROOT / "docs/cluster.md").read_text()).group(1)
    for said in announced.values():
        assert len(re.findall(pattern, said, re.M)) == len(submitted(said))
        total = int(re.search(r"^total +(\d+)", said, re.M).group(1))
        assert total == sum(counted(said).values())


@pytest.mark.parametrize("preset", PRESETS)
def test_every_job_says_its_memory_and_time_and_has_enough(announced, preset):
    costs = Plan(preset_only(preset, ROOT / "config"), ROOT).costs
    for job in jobs_of(announced[preset]):
        name = job.split(":")[0]
        asked = re.search(r"resources: .*mem_mb=(\d+).*runtime=(\d+)", job)
        assert asked, job
        if name in EXPERIMENTS and name not in RESUMING:
            assert int(asked.group(2)) >= 2 * costs[name].seconds / 60, name
