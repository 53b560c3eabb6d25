"""Is a result the one that a run would make now? Plans of jobs, compared with their provenances.

What makes a result what it is are the parameters and the code of its job, and those of all jobs
that it rests on. The `JobPlan` has those of today, and the provenance of a result has those that it
was made with. No date and none of Snakemake's records is asked, so that results can be copied and
clones moved.

Each rule has a file with the plan of its job among its inputs. `JobPlans.write` gives the file an
old date where the results are those of the plan, and a new one where they are not. Snakemake, which
goes by dates, then runs just these jobs. The name of the file has a digest of the plan, so that a
look at other settings, as by a dry run, leaves the files of a run at work alone.
"""

import contextlib
import json
import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from finitewidth.common.errors import ResultError, unwritable
from finitewidth.records.code import Code, changed_code
from finitewidth.records.provenance import TIMESTAMP, digest_of, fingerprint, versions_of
from finitewidth.records.verification import DamagedProvenanceError, read_provenance
from finitewidth.settings.nested import leaves

FOLDER = ".plan"
FIRST_DATE = 1.0  # seconds since 1970
LONGEST_VALUE = 40  # characters of a setting in a reason
MOST_NAMES = 3  # in one reason
FOLLOWING = ("footer", "mark", "captions", "packages", "jobs")
NOT_COMPARED = ("snakemake",)  # a package that makes no numbers
Files = str | Sequence[str]


@dataclass(frozen=True, kw_only=True)
class JobPlan:
    """What one job of a run reads and is told.

    Attributes:
        name: of the job, as `finitewidth.pipeline.announced.job_name` has it
        provenance: the file that the job writes last
        outputs: all other files that it writes
        benchmark: the file in which Snakemake writes what it took
        inputs: name -> file or files that it reads, as its rule has them
        makers: file among the inputs -> job that makes it; files of the project have none
        parameters: what its rule tells it, as JSON has it
        code: all modules, scripts and texts that it reaches
    """

    name: str
    provenance: str
    outputs: Sequence[str] = ()
    benchmark: str = ""
    inputs: Mapping[str, Files] = field(default_factory=dict)
    makers: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, Any]
    code: Code

    @property
    def input_files(self) -> Iterator[str]:
        """All files that the job reads."""
        for files in self.inputs.values():
            yield from [files] if isinstance(files, str) else files


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
        self._plan_of, self._root = plan_of, Path(root)
        self._rerun_packages = rerun_packages
        self.forced: Collection[str] = ()
        """Rules and files that the user wants to be made again in any case."""
        self.used = False
        """Whether files with plans were asked for: by a run, but not by ``finitewidth report``."""
        self._plans: dict[str, JobPlan] = {}
        self._identities: dict[str, str] = {}
        self._reasons: dict[str, tuple[str, ...]] = {}
        self._provenances: dict[str, dict[str, Any] | None] = {}
        self.other_packages: dict[str, int] = {}
        """Package with its versions then and now -> number of jobs whose results are kept."""

    def __getitem__(self, name: str) -> JobPlan:
        """The plan of a job."""
        if name not in self._plans:
            self._plans[name] = self._plan_of(name)
        return self._plans[name]

    def identity(self, name: str) -> str:
        """Digest of all that makes the results of a job what they are."""
        if name not in self._identities:
            plan = self[name]
            self._identities[name] = fingerprint(
                {
                    "parameters": plan.parameters,
                    "code": plan.code.as_record(),
                    "inputs": {file: self._origin(plan, file) for file in plan.input_files},
                }
            )
        return self._identities[name]

    def _origin(self, plan: JobPlan, file: str) -> str:
        """What a file is: the identity of the job that makes it, or a digest of its content."""
        if file in plan.makers:
            return self.identity(plan.makers[file])
        return digest_of(self._root / file)

    def reasons(self, name: str) -> tuple[str, ...]:
        """Say why the results of a job are not those of its plan; empty if they are, or not made.

        Results of which nothing is left are no reason: Snakemake makes them where they are needed.
        """
        if name not in self._reasons:
            self._reasons[name] = tuple(self._compared(self[name]))
        return self._reasons[name]

    def runs_after_others(self, name: str) -> bool:
        """Whether a job, or one of those whose files it reads, has a reason to run."""
        makers = self[name].makers.values()
        return any(map(self.reasons, [name, *dict.fromkeys(makers)]))

    def is_done(self, name: str) -> bool:
        """Whether all results of a job are there, and are those of its plan."""
        plan = self[name]
        there = all(map(os.path.exists, [plan.provenance, *plan.outputs]))
        return there and not self.reasons(name)

    def _compared(self, plan: JobPlan) -> Iterator[str]:
        if {*self.forced}.intersection([rule_of(plan.name), plan.provenance, *plan.outputs]):
            yield "it was asked for"
        try:
            made = self._provenance_of(plan.name)
        except DamagedProvenanceError:
            yield f"{plan.provenance} is damaged, or of an earlier version"
            return
        if made is None:
            if any(map(os.path.exists, plan.outputs)):
                yield f"{plan.provenance} is missing"
            return
        if made["plan"] != self.identity(plan.name):
            yield from self._differences(plan, made)
        elif others := self._other_inputs(plan, made):
            yield f"it was made from another {_listed(others)}"
        if again := [job for job in dict.fromkeys(plan.makers.values()) if self.reasons(job)]:
            yield f"runs again: {_listed(again)}"
        packages = other_versions(made["versions"], self._versions)
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

    def _differences(self, plan: JobPlan, made: Mapping[str, Any]) -> list[str]:
        """What differs between a plan and the provenance of results, in words."""
        words = []
        then, now = (_without_footer(each) for each in (made["parameters"], plan.parameters))
        if settings := changed_settings(then, now):
            words.append(f"settings: {_listed(settings)}")
        if modules := changed_code(plan.code.as_record(), made["code"]):
            words.append(f"code: {_listed(_file_of(each) for each in modules)}")
        upstream = self.upstream(plan.name)
        others = {**made["upstream"], **upstream}
        if jobs := [job for job in others if made["upstream"].get(job) != upstream.get(job)]:
            words.append(f"what it rests on: {_listed(jobs)}")
        read = made["digests"]["inputs"]
        texts = self._texts(plan)
        if changed := [file for file in texts if read.get(file) != digest_of(self._root / file)]:
            words.append(f"files: {_listed(changed)}")
        return words or ["its footer or what it tells of others"]

    def _other_inputs(self, plan: JobPlan, made: Mapping[str, Any]) -> list[str]:
        """What a job read and what is another file now, by the provenance of its maker."""
        others = []
        for file, job in plan.makers.items():
            with contextlib.suppress(DamagedProvenanceError):
                maker = self._provenance_of(job)
                now = maker and maker["digests"]["outputs"].get(file)
                if now and now != made["digests"]["inputs"].get(file):
                    others.append(file)
        return others

    def upstream(self, name: str) -> dict[str, str]:
        """Job -> identity, of the jobs whose files a job reads."""
        return {job: self.identity(job) for job in dict.fromkeys(self[name].makers.values())}

    def file(self, name: str) -> str:
        """The file with the plan of a job, an input of its rule."""
        plan = self[name]
        folder = "results/data" if name.startswith("dataset ") else _results_of(plan)
        stem = name.replace("/", ".").replace(" ", ".")
        return f"{folder}/{FOLDER}/{stem}-{self.identity(name)}.json"

    def write(self, name: str) -> str:
        """Write the file with the plan of a job, and date it as Snakemake has to see it.

        Raises:
            ResultError: the file cannot be written.
        """
        self.used = True
        file, reasons = Path(self.file(name)), self.reasons(name)
        try:
            if not reasons and file.exists() and not file.stat().st_mtime:
                return str(file)
            record = self.record(name)
            if reasons:
                # Snakemake passes over a file that is newer but has the content that it knows
                record |= {"reasons": reasons, "written": time.time_ns()}
                # newer than all results, also than those that a wrong clock has dated
                dates = self._date_results(name)
                date = max([time.time(), *(each + 1 for each in dates)])
            else:
                date = 0.0  # older than any result
            file.parent.mkdir(parents=True, exist_ok=True)
            temporary = file.with_suffix(f".{os.getpid()}")
            temporary.write_text(json.dumps(record), encoding="utf-8")
            os.utime(temporary, (date, date))
            os.replace(temporary, file)
        except OSError as error:
            raise unwritable(error, file) from error
        return str(file)

    def _date_results(self, name: str) -> list[float]:
        """The dates of the results of a job, of which none is 1970-01-01 afterwards.

        An archive may have given them this date, which Snakemake takes for none: it would not
        compare them with the file with the plan. It counts the benchmark among the results.
        """
        plan, dates = self[name], []
        results = filter(None, (plan.provenance, plan.benchmark, *plan.outputs))
        for result in map(Path, results):
            file = result / TIMESTAMP if result.is_dir() else result
            if file.exists():
                if file.stat().st_mtime < FIRST_DATE:
                    os.utime(file, (FIRST_DATE, FIRST_DATE))
                dates.append(file.stat().st_mtime)
        return dates

    def written(self, name: str) -> str:
        """The file with the plan of a job, which another process has written.

        Raises:
            ResultError: there is none, since code or settings have changed meanwhile.
        """
        file = self.file(name)
        if not os.path.isfile(file):
            raise ResultError(
                f"the code or the settings of {name} have changed since the run was "
                "planned; start the run again"
            )
        return file

    def record(self, name: str) -> dict[str, Any]:
        """What the file with the plan of a job has: what the job compares, and what it records."""
        plan = self[name]
        return {
            "job": name,
            "plan": self.identity(name),
            "parameters": plan.parameters,
            "code": plan.code.as_record(),
            "upstream": self.upstream(name),
            "makers": {file: self[job].provenance for file, job in plan.makers.items()},
            "files": {file: digest_of(self._root / file) for file in self._texts(plan)},
        }

    @staticmethod
    def _texts(plan: JobPlan) -> list[str]:
        """Files of the project that a job reads, such as printed numbers."""
        return [file for file in plan.input_files if file not in plan.makers]


def rule_of(name: str) -> str:
    """The name of the rule of a job."""
    if "/" in name:
        return "train"
    return name.split(" ")[0]


def plain(value: Any) -> Any:
    """Return parameters as JSON has them: what a provenance holds of them."""
    return json.loads(json.dumps(value, default=str))


def _results_of(plan: JobPlan) -> str:
    """The folder of the results of a run, in which the provenance of a job lies."""
    return "/".join(plan.provenance.split("/")[:2])


def changed_settings(then: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return the settings that differ, as ``draws 200 → 60``."""
    before, after = leaves(then), leaves(now)
    changed = []
    for path in {**before, **after}:
        if before.get(path, ...) != after.get(path, ...):
            # what Snakemake calls a parameter has the settings of the job below this key
            name = ".".join(path[1:] if path[0] == "settings" and len(path) > 1 else path)
            changed.append(f"{name} {_value(before, path)} → {_value(after, path)}")
    return changed


def _without_footer(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters without those that follow from the settings of other jobs."""
    return {key: value for key, value in parameters.items() if key not in FOLLOWING}


def _value(values: Mapping[tuple[str, ...], Any], path: tuple[str, ...]) -> str:
    text = str(values[path]) if path in values else "none"
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"


def _file_of(module: str) -> str:
    """The short name of a module's file, or of a file: the end of its path."""
    return module if "/" in module else f"{'/'.join(module.split('.')[-2:])}.py"


def _listed(names: Iterable[str]) -> str:
    every = list(names)
    shown, more = every[:MOST_NAMES], len(every) - MOST_NAMES
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def other_versions(then: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Return the packages whose versions differ, as ``torch 2.9.1 → 2.10.0``."""
    return [
        f"{package} {then.get(package, 'none')} → {version}"
        for package, version in now.items()
        if package not in NOT_COMPARED and then.get(package) != version
    ]
