"""``finitewidth verify``: what is wrong with the results of a run, and what to do about it.

Nothing is written. Problems are of four kinds: a file is lost, or it is not what its job wrote; a
result was made with other settings, other code or other inputs than a run would use now; or a job
is making it at this moment. What no job makes is named as well.
"""

import os
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from finitewidth.pipeline.job_plans import JobPlans
from finitewidth.pipeline.plan import Plan
from finitewidth.records.verification import REMEDY, Provenances

LOST, ALTERED, OTHER, FOREIGN, WORKING = "lost", "altered", "made otherwise", "foreign", "working"
MAKE_AGAIN = "the next run makes it again"
# folders below results/<run> whose files no provenance has, and the report, which is one output
WITHOUT_DIGESTS = ("logs", "benchmarks", "provenance", "report")


@dataclass(frozen=True)
class Problem:
    """One problem: its kind, and a line that names the file or the job and the remedy."""

    kind: str
    text: str


def problems(plan: Plan, job_plans: JobPlans, working: Collection[str] = ()) -> list[Problem]:
    """Return all problems of the results of a run.

    Args:
        plan: of the run, with the settings that its results should have
        job_plans: its plans of jobs
        working: jobs that run at this moment
    """
    provenances = Provenances(plan.results)
    names = list(plan.needs)
    of_jobs = _of_jobs(names, job_plans, provenances, working)
    made = {file for name in names for file in job_plans[name].outputs}
    return [*of_jobs, *_of_other_files(plan.results, made)]


def _of_jobs(
    names: Iterable[str], job_plans: JobPlans, provenances: Provenances, working: Collection[str]
) -> Iterator[Problem]:
    for name in names:
        if name in working:
            yield Problem(WORKING, f"{name}: is being made now")
            continue
        job = job_plans[name]
        there = [file for file in job.outputs if os.path.exists(file)]
        if not there and not os.path.exists(job.provenance):
            continue  # not made yet
        for file in job.outputs:
            if file not in there:
                yield Problem(LOST, f"{file}: is lost; `finitewidth run {file}` makes it again")
        for file in there:
            if file in provenances.makers and (problem := provenances.problem(file)):
                yield Problem(ALTERED, f"{file}: {problem}; {REMEDY}")
        if reasons := job_plans.reasons(name):
            yield Problem(OTHER, f"{name}: {'; '.join(reasons)}; {MAKE_AGAIN}")


def _of_other_files(results: str, made: Collection[str]) -> Iterator[Problem]:
    """Files that no job of this configuration makes, without hidden ones."""
    for path in sorted(Path(results).rglob("*")):
        below = path.relative_to(results).parts
        hidden = any(part.startswith(".") for part in below)
        if below[0] in WITHOUT_DIGESTS or hidden or path.is_dir():
            continue
        if str(path) not in made and not path.name.endswith("provenance.json"):
            yield Problem(
                FOREIGN, f"{path}: no job of this run makes it; delete it if you do not need it"
            )
