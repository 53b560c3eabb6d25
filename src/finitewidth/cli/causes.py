"""Why two runs differ: settings, code, packages and data, by the provenances of their jobs."""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from finitewidth.pipeline.plans.changes import changed_settings, other_versions
from finitewidth.records.code import changed_code
from finitewidth.records.verification import Provenances

MOST = 8  # lines of one kind
SAME = "Settings, code, packages and data are the same."


def causes(one: Path, other: Path) -> list[str]:
    """Return lines on what differs between the jobs that two runs have in common.

    Settings come first, then code, packages and data. Only jobs that compute count: the parameters
    of figures and claims follow from these.
    """
    first = _by_job(one)
    second = _by_job(other)
    common = [job for job in first if job in second]
    pairs = [(first[job], second[job]) for job in common]
    lines = [
        *_listed("settings", _settings(common, pairs)),
        *_listed("code", _code(pairs)),
        *_listed("packages", _packages(pairs)),
        *_listed("data", _data(pairs)),
    ]
    alone = len(first.keys() ^ second.keys())
    if alone:
        lines.append(f"{alone} experiments and trainings are in one of the two runs only.")
    return lines or [SAME]


def _by_job(folder: Path) -> dict[str, dict[str, Any]]:
    """Job -> provenance, of the experiments and trainings of a run."""
    stamps = Provenances(folder).stamps.values()
    computing = [stamp for stamp in stamps if "seed" in stamp["parameters"]]
    return {stamp["job"]: stamp for stamp in computing}


Pairs = Iterable[tuple[Mapping[str, Any], Mapping[str, Any]]]


def _settings(jobs: Iterable[str], pairs: Pairs) -> Counter[str]:
    changes: Counter[str] = Counter()
    for job, (before, after) in zip(jobs, pairs, strict=True):
        for change in changed_settings(before["parameters"], after["parameters"]):
            is_seed = change.startswith("seed ")  # that of the whole run
            changes[change if is_seed else f"{job}: {change}"] += 1
    return changes


def _code(pairs: Pairs) -> Counter[str]:
    changes: Counter[str] = Counter()
    for before, after in pairs:
        changes.update(changed_code(after["code"], before["code"]))
    return changes


def _packages(pairs: Pairs) -> Counter[str]:
    changes: Counter[str] = Counter()
    for before, after in pairs:
        changes.update(other_versions(before["versions"], after["versions"]))
    return changes


def _data(pairs: Pairs) -> Counter[str]:
    """Datasets that were read in one run and not in the other, by name or by content."""
    changes: Counter[str] = Counter()
    for first, second in pairs:
        before = _datasets(first)
        after = _datasets(second)
        if before.keys() != after.keys():
            changes[f"{', '.join(before) or 'none'} → {', '.join(after) or 'none'}"] += 1
            continue
        for name in before:
            if before[name] != after[name]:
                changes[f"{name} has other images"] += 1
    return changes


def _datasets(stamp: Mapping[str, Any]) -> dict[str, str]:
    """Name -> digest of the datasets that a job has read."""
    datasets = {}
    for file, digest in stamp["digests"]["inputs"].items():
        if file.startswith("results/data/"):
            datasets[Path(file).stem] = digest
    return datasets


def _listed(kind: str, changes: Counter[str]) -> list[str]:
    """Lines on what differs, that of most jobs first."""
    lines = []
    for change, count in changes.most_common(MOST):
        line = f"{kind}: {change}"
        if count > 1:
            line += f" ({count} jobs)"
        lines.append(line)
    if len(changes) > MOST:
        lines.append(f"{kind}: and {len(changes) - MOST} more")
    return lines
