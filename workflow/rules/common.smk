# What all rules share: the checked configuration and the folder its results go to.
import sys
from functools import partial

from finitewidth.pipeline.startup_checks import is_dry_run, refuse_unwritable, release_stale_locks
from finitewidth.pipeline.plan import Plan
from finitewidth.common.provenance import code_digest
from finitewidth.common.settings import typed
from finitewidth.pipeline.finished_checkpoints import clear_finished

config.update(typed(config))
plan = Plan(config, workflow.basedir)
results = plan.results

# jobs of a cluster belong to a run that has done so already
if workflow.is_main_process and not is_dry_run(sys.argv):
    refuse_unwritable(".snakemake", "results", results)
    # held until this process ends
    share = release_stale_locks(".snakemake", "results")


onsuccess:
    clear_finished(results)


onerror:
    clear_finished(results)


def files_of(artifact):
    """The outputs of an artifact's rule; what a reader opens first carries its caption."""
    files = plan.files(artifact)
    shown = "png" if "png" in files else "md"
    files[shown] = report(
        files[shown],
        caption=f"../report/{artifact}.rst",
        category=plan.entry(artifact).paper,
        labels={"artifact": plan.label(artifact)},
    )
    return files


def module(name):
    """The module a job calls, and the digest of all code it reaches: a change reruns the job."""
    layer = name.split(".")[1]
    return {"module": name, "code": code_digest(name, f"finitewidth.{layer}.job")}


report: "../report/workflow.rst"


wildcard_constraints:
    source="[A-Za-z0-9_-]+",
    paper="[a-z0-9]+",
    training="[A-Za-z0-9_-]+",
