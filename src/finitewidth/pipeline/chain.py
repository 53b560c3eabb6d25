"""The chain from the data to the report: do all results come from today's settings and code?

Every job leaves a provenance with the digests of what it read and made, and with its identity, a
digest of all its parameters (`finitewidth.common.recorded`). A job holds if the identity is that of
today and every file has the digest that the provenance says. Since the inputs of one job are the
outputs of another, all jobs that hold form a chain back to the data.

Snakemake keeps records of its own of what was made with which parameters, and asks nobody for a
file without a record. `settle` asks the chain: what holds is accepted as it is, and what does not
hold gets a record that says so, whereupon Snakemake plans it again.
"""

import contextlib
import json
import os
import re
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from finitewidth.common.announced import job_name
from finitewidth.common.recorded import identity_of, provenance_of
from finitewidth.common.seals import TIMESTAMP, digest_of

UNKNOWN = "the chain of digests does not hold"  # the parameters in a record of ours
RECORD_FORMAT = 6  # of Snakemake's records; their parameters are compared from this version on
WILDCARD = re.compile(r"\{(\w+)[^{}]*\}")  # {paper} or {paper,[a-z]+}


@dataclass(frozen=True)
class Link:
    """One job of the chain.

    Attributes:
        name: as `finitewidth.common.announced.job_name` names it.
        outputs: its files, without the provenance.
        recorded: all files that Snakemake keeps a record of: the outputs of the rule.
        benchmark: the file with its time and memory; Snakemake counts it among what the job makes.
        provenance: the file.
        identity: returns the digest of the parameters that the job has today.
    """

    name: str
    outputs: tuple[str, ...]
    recorded: tuple[str, ...]
    benchmark: str
    provenance: str
    identity: Callable[[], str]

    @property
    def dated(self) -> list[str]:
        """The files of the job whose times Snakemake looks at."""
        inside = [os.path.join(file, TIMESTAMP) for file in self.recorded]
        files = (*self.recorded, *inside, self.benchmark)
        return [file for file in files if file and Path(file).exists()]

    @property
    def made(self) -> bool:
        """Whether any output exists."""
        return any(os.path.lexists(file) for file in self.outputs)


@dataclass(frozen=True)
class Break:
    """A place where the chain is broken: the job, the file, what is wrong, and the remedy."""

    job: str
    file: str
    problem: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.job}: {self.file} {self.problem}; {self.remedy}"


def links_of(rules: Iterable[Any], jobs: Mapping[str, Sequence[Mapping[str, str]]]) -> list[Link]:
    """Return all jobs of a workflow that make files.

    Args:
        rules: those of Snakemake.
        jobs: rule with wildcards -> the wildcards of each of its jobs. Rules that are missing here
            have no jobs.
    """
    found = []
    for rule in rules:
        every = jobs.get(rule.name, ()) if rule.has_wildcards() else ({},)
        found += [_link(rule, wildcards) for wildcards in every if len(rule.output)]
    return found


def _link(rule: Any, wildcards: Mapping[str, str]) -> Link:
    def filled(pattern: Any) -> str:
        return WILDCARD.sub(lambda found: wildcards[found[1]], str(pattern))

    outputs = [filled(file) for file in rule.output]
    named = {name: filled(file) for name, file in rule.output.items()}
    provenance = provenance_of(named, filled(rule.log[0]))

    def identity() -> str:
        told = SimpleNamespace(**wildcards)
        return identity_of({
            name: value(told) if callable(value) else value for name, value in rule.params.items()
        })  # fmt: skip

    return Link(
        name=job_name(rule.name, dict(wildcards)),
        outputs=tuple(file for file in outputs if file != provenance),
        recorded=tuple(outputs),
        benchmark=filled(rule.benchmark or ""),
        provenance=provenance,
        identity=identity,
    )


def wildcards_of(plan: Any) -> dict[str, list[dict[str, str]]]:
    """Return the jobs of the rules with wildcards, as `links_of` takes them.

    Args:
        plan: a `finitewidth.pipeline.plan.Plan`.
    """
    papers = [{"paper": paper.name} for paper in plan.papers]
    trainings = [dict(zip(("paper", "training"), name.split("/"), strict=True))
                 for name in plan.trainings()]  # fmt: skip
    jobs = [*plan.declared(), *(plan.jobs[name] for name in plan.trainings())]
    reads = (read for job in jobs for read in job.reads if read.reference.startswith("data/"))
    files = dict.fromkeys(file for read in reads for file in read.files)
    datasets = [{"source": Path(file).stem} for file in files]
    return {"dataset": datasets, "train": trainings, "claims": papers, "robustness_claims": papers}


def breaks_of(link: Link, digest: Callable[[str], str] = digest_of) -> Iterator[Break]:
    """Yield what is wrong with a job whose outputs exist, at least in part.

    Args:
        link: the job.
        digest: file -> digest; raises FileNotFoundError.
    """
    stamp = _read(link.provenance)
    if stamp is None:
        file = next(file for file in link.outputs if os.path.lexists(file))
        yield Break(link.name, file, f"has no provenance ({link.provenance})", "run again")
        return
    digests = stamp["digests"]
    for file in link.outputs:
        if problem := _compared(file, digests["outputs"].get(file), digest):
            yield Break(link.name, file, f"{problem} what its job wrote", "delete it and run again")
    for file, recorded in digests["inputs"].items():
        if problem := _compared(file, recorded, digest):
            yield Break(link.name, file, f"{problem} what this job read", "run again")
    if stamp.get("identity") != link.identity():
        what = "was made with other settings or other code"
        yield Break(link.name, link.outputs[0], what, "run again")


def _compared(file: str, recorded: str | None, digest: Callable[[str], str]) -> str | None:
    try:
        return None if digest(file) == recorded else "differs from"
    except FileNotFoundError:
        return "is missing and differs from"
    except OSError as error:
        return f"cannot be read ({error.strerror}) and compared with"


def _read(provenance: str) -> dict[str, Any] | None:
    """Read a provenance; None if it is missing, damaged or without digests."""
    try:
        stamp = json.loads(Path(provenance).read_text(encoding="utf-8"))
        whole = all(isinstance(stamp["digests"][kind], dict) for kind in ("inputs", "outputs"))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return stamp if whole else None


def verify(links: Iterable[Link]) -> tuple[list[str], int]:
    """Check all jobs whose outputs exist.

    Returns:
        A line for each break of the chain, and the number of jobs that were checked. A file that
        differs from what its job wrote is named once, not again by every job that read it.
    """
    digest = _once(digest_of)
    made = [link for link in links if link.made]
    found = [each for link in made for each in breaks_of(link, digest)]
    makers = {file: link.name for link in made for file in link.outputs}
    at_fault = {each.file for each in found if makers.get(each.file) == each.job}
    told = [e for e in found if e.file not in at_fault or makers.get(e.file) == e.job]
    return list(map(str, told)), len(made)


def settle(links: Iterable[Link], folder: str | Path) -> list[str]:
    """Let Snakemake plan again what has no record and does not hold.

    Args:
        links: all jobs.
        folder: ``.snakemake/metadata``, Snakemake's records.

    Returns:
        The names of the jobs that are planned again.
    """
    digest, accepted, again = _once(digest_of), [], []
    for link in links:
        records = [_record(folder, file) for file in link.recorded]
        if not link.made or all(map(_is_record, records)):
            continue
        holds = next(breaks_of(link, digest), None) is None
        (accepted if holds else again).append(link)
        for record in records:
            # what cannot be written lies in a folder of somebody else, and is only looked at
            with contextlib.suppress(OSError):
                _note(record, holds)
    _make_equally_old(accepted)
    return [link.name for link in again]


def _note(record: Path, holds: bool) -> None:
    """Write that an output does not hold, or remove the note of an earlier start."""
    if holds:
        if not _is_record(record):
            record.unlink(missing_ok=True)
        return
    record.parent.mkdir(parents=True, exist_ok=True)
    content = {"params": [UNKNOWN], "record_format_version": RECORD_FORMAT}
    record.write_text(json.dumps(content), encoding="utf-8")


def _make_equally_old(links: Sequence[Link]) -> None:
    """Set the times of the outputs of some jobs to the present if an input is newer than an output.

    Snakemake has no digests of inputs to compare where it has no record, and goes by the time. A
    copy of a folder may have set the times in any order.
    """

    def time_of(file: str) -> float:
        return os.stat(file).st_mtime

    with contextlib.suppress(OSError):
        stamps = [(link, _read(link.provenance)) for link in links]
        if any(max(map(time_of, stamp["digests"]["inputs"]), default=0)
               > min(map(time_of, link.dated)) for link, stamp in stamps):  # fmt: skip
            now = time.time()
            for file in (file for link in links for file in link.dated):
                os.utime(file, (now, now))


def _once(digest: Callable[[str], str]) -> Callable[[str], str]:
    """The same function, computed once for each file."""
    known: dict[str, str] = {}

    def remembered(file: str) -> str:
        if file not in known:
            known[file] = digest(file)
        return known[file]

    return remembered


def _record(folder: str | Path, file: str) -> Path:
    """Return the file in which Snakemake keeps its record of an output."""
    try:
        longest = os.pathconf(folder, "PC_NAME_MAX") or 255
    except (OSError, ValueError):
        longest = 255
    name = urlsafe_b64encode(file.encode()).decode()
    parts = [name[start : start + longest - 1] for start in range(0, len(name), longest - 1)]
    return Path(folder, *(f"@{part}" for part in parts[:-1]), parts[-1])


def _is_record(record: Path) -> bool:
    """Whether there is a record of Snakemake, and not one of ours."""
    try:
        found = json.loads(record.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(found, dict) and found.get("params") != [UNKNOWN]
