# What all rules share: the checked configuration and the folder its results go to.
import sys
from functools import partial

from snakemake.persistence.file import FilePersistence

from finitewidth.common.announced import Run, announce, job_name
from finitewidth.common.settings import typed
from finitewidth.pipeline.finished_checkpoints import clear_finished
from finitewidth.pipeline.job_commands import (
    refuse_active_words,
    relative_interpreter,
    send_in_a_file,
)
from finitewidth.pipeline.limits import refuse_low_limits
from finitewidth.pipeline.plan import Plan
from finitewidth.pipeline.scheduling import look_when_jobs_end
from finitewidth.pipeline.shared_folder import alone, keep_locks_of_others
from finitewidth.pipeline.source_copies import copy_sources
from finitewidth.pipeline.startup_checks import (
    is_dry_run,
    keep_records_with_results,
    refuse_braces,
    refuse_files_of_others,
    refuse_unreadable_records,
    refuse_unwritable,
    release_stale_locks,
)

config.update(typed(config))
plan = Plan(config, workflow.basedir)
results = plan.results
# Snakemake starts scripts and jobs with it, and does not quote it
sys.executable = relative_interpreter(sys.executable, os.getcwd())

# the jobs of a run, on a cluster or not, leave this to the run itself
if workflow.is_main_process:
    refuse_braces(workflow.basedir)
    keep_locks_of_others(FilePersistence)
    wet = not is_dry_run(sys.argv)
    # Snakemake writes there in a dry run, too
    refuse_unwritable(".snakemake", ".snakemake/iocache")
    refuse_unreadable_records("results/.records")
    if wet:
        refuse_low_limits(min(workflow.resource_settings.cores or 1, 64))
        refuse_unwritable("results", results)
        refuse_files_of_others(
            ".snakemake", "results/.records", "results/data", results
        )
        # held until this process ends
        share = release_stale_locks(".snakemake", "results")
        send_in_a_file(workflow, ".snakemake")  # the settings, to jobs on a cluster
    keep_records_with_results(".snakemake", "results", make=wet)


# what the terminal shows of this run (finitewidth.cli.terminal)
announce(
    Run(
        results,
        lambda: {
            name: plan.seconds(name)
            for job in workflow.dag.needrun_jobs()
            if not job.is_norun  # a target, such as `all`
            for name in [job_name(job.rule.name, job.wildcards_dict)]
        },
    )
)


onstart:
    look_when_jobs_end(workflow.scheduler)
    refuse_active_words(workflow)
    copy_sources(workflow)


onsuccess:
    if alone(share):  # the jobs of another run may be about to end
        clear_finished(results)


onerror:
    if alone(share):  # the jobs of another run may be about to end
        clear_finished(results)


report: "../report/workflow.rst"


wildcard_constraints:
    source="[A-Za-z0-9_-]+",
    paper="[a-z0-9]+",
    training="[A-Za-z0-9_-]+",
