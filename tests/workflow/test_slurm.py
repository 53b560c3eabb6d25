"""A part of the workflow on a real Slurm: its results, and its behaviour if jobs fail."""

import json
import os
import re
import subprocess

import pytest

from . import slurm_cluster
from .slurm_cluster import Cluster

pytestmark = pytest.mark.slurm
PROFILE = (
    "--profile",
    "profiles/slurm",
    "--slurm-status-command",
    "squeue",
    "--slurm-init-seconds-before-status-checks",
    "5",
    "--latency-wait",
    "10",
)
TARGETS = ("beyond_fig5", "npf_fig3")
COMPARED = (".csv", ".md", ".tex", ".pdf", ".svg", ".png")
LONG = "npf={kvf: {epochs: 60, every: 20}}"
KVF = "results/smoke/npf/experiments/kvf_curves.csv"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A Slurm cluster of one node."""
    if reason := slurm_cluster.missing():
        pytest.skip(reason)
    os.environ.pop("FORK_SERVER", None)  # jobs are to be children of the scheduler
    one = Cluster(tmp_path_factory.mktemp("slurm"))
    one.start()
    yield one
    one.stop()


def through_slurm(checkout, *arguments):
    return checkout.run(*arguments, *PROFILE, cores=1)


def compared_files(checkout, preset):
    """The results of a checkout, without what depends on its times."""
    contents = checkout.contents(*COMPARED, preset=preset)
    return {name: content for name, content in contents.items() if "benchmarks" not in name}


def same_results(one, other, preset="smoke"):
    """Compare tables and figures byte by byte, without benchmarks, which contain times."""
    mine = compared_files(one, preset)
    others = compared_files(other, preset)
    assert mine
    assert set(mine) == set(others)
    assert [name for name in mine if mine[name] != others[name]] == []


def stamp(checkout, name, preset="smoke"):
    return json.loads((checkout.path / f"results/{preset}/{name}provenance.json").read_text())


@pytest.fixture(scope="module")
def preset(full):
    """Preset of the runs; `quick` takes a quarter of an hour twice."""
    return "quick" if full else "smoke"


@pytest.fixture(scope="module")
def by_slurm(cluster, make_checkout, preset):
    """A checkout with the targets made on Slurm, and the output of Snakemake."""
    checkout = make_checkout("by_slurm")
    finished = checkout.run(*TARGETS, *PROFILE, cores=1, preset=preset)
    assert finished.returncode == 0, finished.stdout
    return checkout, finished.stdout


def test_results_are_those_of_a_local_run(by_slurm, make_checkout, preset):
    checkout, _ = by_slurm
    local = make_checkout("local")
    finished = local.run(*TARGETS, preset=preset)
    assert finished.returncode == 0, finished.stdout
    same_results(checkout, local, preset)


def test_short_jobs_are_submitted_in_groups(by_slurm):
    _, said = by_slurm
    submitted = re.findall(r"has been submitted with SLURM jobid (\d+)", said)
    finished = re.findall(r"^Finished jobid:", said, re.M)
    assert 1 < len(submitted) <= 8 < 12 < len(finished)


def test_provenance_names_the_schedulers_job(by_slurm, preset):
    checkout, said = by_slurm
    submitted = set(re.findall(r"has been submitted with SLURM jobid (\d+)", said))
    for name in ("npf/training/nu/", "npf/experiments/kvf_", "beyond/experiments/theory_"):
        assert stamp(checkout, name, preset)["machine"]["scheduler_job"] in submitted


def test_logs_are_kept_by_artifact_and_by_the_schedulers_job(by_slurm, preset):
    checkout, said = by_slurm
    assert (checkout.path / f"results/{preset}/logs/npf/npf_fig3.log").is_file()
    logs = re.findall(r"\(log: (\S+\.log)\)", said)
    assert logs
    for log in logs:
        assert "Finished jobid" in (checkout.path / log).read_text()


def test_a_cancelled_training_continues_from_its_checkpoint(cluster, make_checkout):
    checkout = make_checkout("cancelled")
    undisturbed = make_checkout("uncancelled")
    fast = "checkpoint_seconds=0.001"
    process = checkout.start(KVF, LONG, fast, *PROFILE, "--retries", "0", cores=1)
    log = checkout.path / "results/smoke/logs/npf/training/kvf.log"
    slurm_cluster.wait_for(
        lambda: log.is_file() and "checkpoint after" in log.read_text(), 240, "no checkpoint"
    )
    subprocess.run(["scancel", *running(checkout)], check=True, timeout=30)
    said, _ = process.communicate(timeout=180)
    assert process.returncode != 0
    assert "Error in group" in said
    assert "CANCELLED" in slurm_logs(checkout)
    finished = through_slurm(checkout, KVF, LONG, fast)
    assert finished.returncode == 0, finished.stdout
    assert "continuing after" in log.read_text()
    assert undisturbed.run(KVF, LONG).returncode == 0
    same_results(checkout, undisturbed)


def running(checkout):
    """Slurm's ids of the running jobs of a checkout."""
    command = ["squeue", "--noheader", "--states=R", "--format=%i %Z"]
    answer = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30)
    jobs = [line.split() for line in answer.stdout.splitlines()]
    return [job for job, folder in jobs if folder == str(checkout.path)]


def slurm_logs(checkout):
    logs = (checkout.path / ".snakemake/slurm_logs").rglob("*.log")
    return "".join(log.read_text() for log in logs)


def test_a_job_that_exceeds_its_memory_is_repeated_with_more(cluster, make_checkout):
    checkout = make_checkout("starved")
    target = "results/smoke/beyond/experiments/theory_limits.csv"
    # a job step of Snakemake alone needs 200 MB, which is more than the first attempt requests
    little = ("--set-resources", "beyond_theory:mem_mb=100*20**(attempt-1)", "--retries", "1")
    finished = through_slurm(checkout, target, *little)
    assert finished.returncode == 0, finished.stdout
    assert "Trying to restart job" in finished.stdout
    assert "exceeded memory limit" in slurm_logs(checkout)
    jobs = re.findall(r"has been submitted with SLURM jobid (\d+)", finished.stdout)
    assert [memory_of(job) for job in jobs] == ["100M", "2000M"]


def test_a_rejected_submission_can_be_repeated_by_hand(cluster, make_checkout):
    """For a group Snakemake does not print the message of sbatch; --verbose prints the call."""
    checkout = make_checkout("refused")
    target = "results/smoke/beyond/experiments/theory_limits.csv"
    nowhere = ("--set-resources", "beyond_theory:slurm_partition=nowhere", "--retries", "0")
    finished = through_slurm(checkout, target, *nowhere, "--verbose")
    assert finished.returncode != 0
    assert "Error in group" in finished.stdout
    assert re.search(r"sbatch call: sbatch .*nowhere", finished.stdout)


def memory_of(job):
    answer = subprocess.run(
        ["scontrol", "--oneliner", "show", "job", job],
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    return re.search(r"MinMemoryNode=(\w+)", answer.stdout).group(1)


def test_the_profile_for_other_schedulers(cluster, make_checkout):
    checkout = make_checkout("generic")
    finished = checkout.run(
        "beyond_fig5", "--profile", "profiles/cluster-generic", "--latency-wait", "10", cores=1
    )
    assert finished.returncode == 0, finished.stdout
    assert stamp(checkout, "beyond/experiments/theory_")["machine"]["scheduler_job"]
    assert len(list((checkout.path / ".snakemake/cluster_logs").glob("*.log"))) == 2
