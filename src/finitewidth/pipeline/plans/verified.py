"""``finitewidth verify``: what is wrong with the results of a run, and what to do about it.

Nothing is written. Problems are of four kinds: a file is lost, or it is not what its job wrote; a
result was made with other settings, other code or other inputs than a run would use now; or a job
is making it at this moment. What no job makes is named as well.
"""

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from finitewidth.pipeline.plans.job_plans import JobPlans
from finitewidth.records.verification import REMEDY, Provenances

LOST = "lost"
ALTERED = "altered"
OTHER = "made otherwise"
FOREIGN = "foreign"
WORKING = "working"
MAKE_AGAIN = "the next run makes it again"
# folders below results/<run> whose files no provenance has, and the report, which is one output
WITHOUT_DIGESTS = ("logs", "benchmarks", "provenance", "report")


@dataclass(frozen=True)
class Problem:
    """One problem: its kind, and a line that names the file or the job and the remedy."""

    kind: str
    text: str


def problems(
    results: str, names: Collection[str], job_plans: JobPlans, working: Collection[str] = ()
) -> list[Problem]:
    """Return all problems of the results of a run.

    Args:
        results: folder of the results
        names: of all jobs of the run
        job_plans: their plans, with the settings that the results should have
        working: jobs that run at this moment
    """
    provenances = Provenances(results)
    problems_of_jobs: list[Problem] = []
    for name in names:
        if name in working:
            problems_of_jobs.append(Problem(WORKING, f"{name}: is being made now"))
        else:
            problems_of_jobs += _problems_of_job(name, job_plans, provenances)
    outputs: set[str] = set()
    for name in names:
        outputs.update(job_plans[name].outputs)
    return [*problems_of_jobs, *_foreign_files(results, outputs)]


def _problems_of_job(name: str, job_plans: JobPlans, provenances: Provenances) -> Iterator[Problem]:
    plan = job_plans[name]
    if not any(map(os.path.exists, plan.results)):
        return  # not made yet
    existing = [file for file in plan.outputs if os.path.exists(file)]
    for file in plan.outputs:
        if file not in existing:
            yield Problem(LOST, f"{file}: is lost; `finitewidth run {file}` makes it again")
    for file in existing:
        problem = provenances.problem(file) if file in provenances.makers else None
        if problem:
            yield Problem(ALTERED, f"{file}: {problem}; {REMEDY}")
    reasons = job_plans.reasons(name)
    if reasons:
        yield Problem(OTHER, f"{name}: {'; '.join(reasons)}; {MAKE_AGAIN}")


def _foreign_files(results: str, outputs: Collection[str]) -> Iterator[Problem]:
    """Files that no job of this configuration makes, without hidden ones."""
    for path in sorted(Path(results).rglob("*")):
        parts = path.relative_to(results).parts
        is_hidden = any(part.startswith(".") for part in parts)
        if parts[0] in WITHOUT_DIGESTS or is_hidden or path.is_dir():
            continue
        if str(path) not in outputs and not path.name.endswith("provenance.json"):
            yield Problem(
                FOREIGN, f"{path}: no job of this run makes it; delete it if you do not need it"
            )
