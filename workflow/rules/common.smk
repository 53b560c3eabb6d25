# What all rules share: the checked configuration, the plan of all jobs, and the functions from which the
# rules take the input and the params of a job.
import sys
from functools import cache, partial
from pathlib import Path

from finitewidth.common.errors import ConfigError
from finitewidth.declarations.titles import title_of
from finitewidth.pipeline.job_names import job_name
from finitewidth.pipeline.plan import Plan
from finitewidth.pipeline.plans.plan_files import PlanFiles
from finitewidth.pipeline.plans.planned_jobs import plans_of_jobs
from finitewidth.pipeline.runs import announced, other_runs, surroundings
from finitewidth.pipeline.runs.finished import clear_finished

surroundings.refuse_other_package(Path(project))
surroundings.refuse_braces(os.getcwd(), project)
surroundings.name_user()
# Snakemake starts the jobs with it
sys.executable = surroundings.interpreter(sys.executable, os.getcwd())

paths = workflow.modifier.path_modifier
if paths.prefix or paths.modifies_prefixes:
    raise ConfigError(
        "a module of finitewidth cannot have a prefix, since some jobs name their files in "
        "`results` themselves; leave it out, and start Snakemake in the folder for its results"
    )

plan = Plan(config, project)
results = plan.results
checkpoint_folder = f"{results}/.checkpoints"
job_plans = plans_of_jobs(plan)
plan_files = PlanFiles(job_plans)

if workflow.is_main_process:
    surroundings.refuse_unwritable(".snakemake", "results", results)


def experiments(stage):
    """The experiments of a stage: theory, sampling, training or evaluation."""
    declared = [job for job in plan.jobs.declared() if job.kind == "experiment"]
    return [job for job in declared if job.declared.stage == stage]


def artifacts(kind):
    """All figures, or all tables."""
    return [job for job in plan.jobs.declared() if job.kind == kind]


# --- input and params of a job --------------------------------------------------------------------


def in_project(files):
    """Files of the project, such as captions: elsewhere if this is a module of a workflow."""
    if isinstance(files, dict):
        return {name: in_project(values) for name, values in files.items()}
    if not isinstance(files, str):
        return [in_project(file) for file in files]
    is_of_project = files.startswith(("config/", "workflow/", "src/", "CITATION.cff"))
    return f"{project}/{files}" if is_of_project and project != os.getcwd() else files


@cache
def refuse_other_runs():
    """Let a run start only if it disturbs no other one; a dry run disturbs none."""
    settings = workflow.execution_settings
    if settings is not None and not workflow.dryrun:
        other_runs.refuse(results, locked=settings.lock)
        return True
    return False


def inputs_of(name, wildcards=None):
    """The input of a job by name, and the file with its plan, which alone decides whether it reruns.

    Dates of the other files say nothing: they are `ancient`, unless this job or one of those that make
    them has a reason to run. Snakemake passes over a job whose inputs are all `ancient` when a job
    before it runs, even if its own results are missing.
    """
    job_plans.forced = workflow.dag_settings.forcerun  # -R
    files = in_project(job_plans[name].inputs)
    if not workflow.is_main_process:
        # the process of a job finds what the first one has written
        return {**files, "plan": plan_files.written(name)}
    starts = refuse_other_runs()
    if not job_plans.runs_after_others(name):
        files = {key: ancient(values) for key, values in files.items()}
    if starts and name.startswith("dataset ") and not job_plans.is_done(name):
        other_runs.refuse_dataset(job_plans[name].outputs[0], results)
    return {**files, "plan": plan_files.write(name)}


def parameter(name, key, wildcards=None):
    """One of the params of a job."""
    return job_plans[name].parameters[key]


# --- names of rules, which a module of another workflow changes -----------------------------------

prefix, suffix = workflow.modifier.modify_rulename("*").split("*")


def unmodified(name):
    """The name of a rule in these files; `use rule * from finitewidth as fw_*` gives another."""
    return name.removeprefix(prefix).removesuffix(suffix)


def rules_by_name():
    """The rules of these files, in their order, which may be a module of another workflow."""
    return {
        unmodified(each.name): each
        for each in workflow.rules
        if each in workflow.modifier.rules
    }


titles = {job.name: title_of(job.declared, project) for job in plan.jobs.declared()}
titles |= {paper.name: paper.title for paper in plan.papers}
titles |= {
    f"captions_{paper.name}": f"Captions of {paper.name}" for paper in plan.papers
}


# --- what the terminal shows of this run (finitewidth.cli.terminal) -------------------------------


def forecast():
    """Job that has to run, as the terminal names it -> what is known of it before it runs."""
    # a dry run may be over before the terminal asks
    planned = workflow.dag.needrun_jobs(exclude_finished=False)
    jobs = [job for job in planned if not job.is_norun]
    names = {
        job_name(unmodified(job.rule.name), job.wildcards_dict): job_name(
            job.rule.name, job.wildcards_dict
        )
        for job in jobs
    }
    return {name: plan.forecast.step(planned, names) for planned, name in names.items()}


def reasons(name):
    """Why a job runs again, by its name as the terminal has it."""
    first, *wildcards = name.split(" ")
    return job_plans.reasons(" ".join([unmodified(first), *wildcards]))


announced.forecast = forecast
announced.reasons = reasons
announced.packages = lambda: job_plans.other_packages
announced.folders = (results, "results/data")
announced.report = f"{results}/report/index.html"


onsuccess:
    clear_finished(results, plans=plan_files.used)


onerror:
    clear_finished(results, plans=plan_files.used)


report: "../report/workflow.rst"


wildcard_constraints:
    source="[A-Za-z0-9_-]+",
    paper="[a-z0-9]+",
    training="[A-Za-z0-9_-]+",
