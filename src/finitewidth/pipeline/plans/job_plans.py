"""Is a result the one that a run would make now? Plans of jobs, compared with their provenances.

What makes a result what it is are the parameters and the code of its job, and those of all jobs
that it rests on. The `JobPlan` has those of today, and the provenance of a result has those that it
was made with. No date and none of Snakemake's records is asked, so that results can be copied and
clones moved.
"""

import contextlib
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from finitewidth.pipeline.job_names import rule_of
from finitewidth.pipeline.plans import changes
from finitewidth.pipeline.plans.changes import listed_names
from finitewidth.pipeline.plans.job_plan import JobPlan
from finitewidth.records.provenance import digest_of, fingerprint, versions_of
from finitewidth.records.verification import DamagedProvenanceError, read_provenance


class JobPlans:
    """The plans of the jobs of one configuration, and why a job has to run."""

    def __init__(
        self, plan_of: Callable[[str], JobPlan], root: str | Path, rerun_packages: bool = False
    ):
        """Compare nothing yet.

        Args:
            plan_of: makes the plan of a job from its name
            root: folder of the project
            rerun_packages: whether other versions of packages are a reason to run again
        """
        self._plan_of = plan_of
        self._root = Path(root)
        self._rerun_packages = rerun_packages
        self.forced: Collection[str] = ()
        """Rules and files that the user wants to be made again in any case."""
        self.other_packages: dict[str, int] = {}
        """Package with its versions then and now -> number of jobs whose results are kept."""
        self._plans: dict[str, JobPlan] = {}
        self._identities: dict[str, str] = {}
        self._reasons: dict[str, tuple[str, ...]] = {}
        self._provenances: dict[str, dict[str, Any] | None] = {}

    def __getitem__(self, name: str) -> JobPlan:
        """The plan of a job."""
        if name not in self._plans:
            self._plans[name] = self._plan_of(name)
        return self._plans[name]

    # --- what a job is ---------------------------------------------------------------------------

    def identity(self, name: str) -> str:
        """Digest of all that makes the results of a job what they are."""
        if name not in self._identities:
            plan = self[name]
            content = {
                "parameters": plan.parameters,
                "code": plan.code.as_record(),
                "inputs": {file: self._origin(plan, file) for file in plan.input_files},
            }
            self._identities[name] = fingerprint(content)
        return self._identities[name]

    def _origin(self, plan: JobPlan, file: str) -> str:
        """What a file is: the identity of the job that makes it, or a digest of its content."""
        if file in plan.makers:
            return self.identity(plan.makers[file])
        return digest_of(self._root / file)

    def record(self, name: str) -> dict[str, Any]:
        """What the file with the plan of a job has: what the job compares, and what it records."""
        plan = self[name]
        return {
            "job": name,
            "plan": self.identity(name),
            "parameters": plan.parameters,
            "code": plan.code.as_record(),
            "upstream": self._upstream(plan),
            "makers": {file: self[job].provenance for file, job in plan.makers.items()},
            "files": self._digests_of_project_files(plan),
        }

    def _upstream(self, plan: JobPlan) -> dict[str, str]:
        """Job -> identity, of the jobs whose files a job reads."""
        return {job: self.identity(job) for job in plan.jobs_before}

    def _digests_of_project_files(self, plan: JobPlan) -> dict[str, str]:
        return {file: digest_of(self._root / file) for file in plan.project_files}

    # --- whether it has to run -------------------------------------------------------------------

    def reasons(self, name: str) -> tuple[str, ...]:
        """Say why the results of a job are not those of its plan; empty if they are, or not made.

        Results of which nothing is left are no reason: Snakemake makes them where they are needed.
        """
        if name not in self._reasons:
            self._reasons[name] = tuple(self._find_reasons(self[name]))
        return self._reasons[name]

    def runs_after_others(self, name: str) -> bool:
        """Whether a job, or one of those whose files it reads, has a reason to run."""
        return any(self.reasons(job) for job in [name, *self[name].jobs_before])

    def is_done(self, name: str) -> bool:
        """Whether all results of a job are there, and are those of its plan."""
        return all(map(os.path.exists, self[name].results)) and not self.reasons(name)

    def _find_reasons(self, plan: JobPlan) -> Iterator[str]:
        if not {rule_of(plan.name), *plan.results}.isdisjoint(self.forced):
            yield "it was asked for"
        try:
            provenance = self._provenance_of(plan.name)
        except DamagedProvenanceError:
            yield f"{plan.provenance} is damaged, or of an earlier version"
            return
        if provenance is None:
            if any(map(os.path.exists, plan.outputs)):
                yield f"{plan.provenance} is missing"
            return
        if provenance["plan"] != self.identity(plan.name):
            yield from self._changes(plan, provenance)
        else:
            others = self._other_inputs(plan, provenance)
            if others:
                yield f"it was made from another {listed_names(others)}"
        again = [job for job in plan.jobs_before if self.reasons(job)]
        if again:
            yield f"runs again: {listed_names(again)}"
        yield from self._compare_packages(provenance)

    def _compare_packages(self, provenance: Mapping[str, Any]) -> Iterator[str]:
        """Count other versions of packages, which are a reason only if the user wants so."""
        packages = changes.other_versions(provenance["versions"], self._versions)
        if packages and self._rerun_packages:
            yield f"packages: {', '.join(packages)}"
        for package in packages:
            self.other_packages[package] = self.other_packages.get(package, 0) + 1

    @cached_property
    def _versions(self) -> dict[str, str]:
        return versions_of()

    def _provenance_of(self, name: str) -> dict[str, Any] | None:
        """The provenance that the job has left; None if there is none."""
        if name not in self._provenances:
            self._provenances[name] = read_provenance(self[name].provenance)
        return self._provenances[name]

    def _changes(self, plan: JobPlan, provenance: Mapping[str, Any]) -> list[str]:
        """What differs between a plan and the provenance of results, in words."""
        settings = changes.changed_parameters(provenance["parameters"], plan.parameters)
        code = changes.changed_files_of_code(provenance["code"], plan.code.as_record())
        jobs = _differing(provenance["upstream"], self._upstream(plan))
        read = provenance["digests"]["inputs"]
        digests = self._digests_of_project_files(plan)
        files = [file for file, digest in digests.items() if read.get(file) != digest]
        parts = {"settings": settings, "code": code, "what it rests on": jobs, "files": files}
        words = [f"{part}: {listed_names(names)}" for part, names in parts.items() if names]
        return words or ["its footer or what it tells of others"]

    def _other_inputs(self, plan: JobPlan, provenance: Mapping[str, Any]) -> list[str]:
        """What a job read and what is another file now, by the provenance of its maker."""
        read = provenance["digests"]["inputs"]
        others = []
        for file, job in plan.makers.items():
            with contextlib.suppress(DamagedProvenanceError):
                maker = self._provenance_of(job)
                digest = maker["digests"]["outputs"].get(file) if maker else None
                if digest and digest != read.get(file):
                    others.append(file)
        return others


def _differing(then: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """The keys whose values differ, in the order of ``then``."""
    return [key for key in {**then, **now} if then.get(key) != now.get(key)]
