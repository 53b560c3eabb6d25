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

    Settings come first, then code, packages and data. Only jobs that compute count: what figures
    and claims are told follows from these.
    """
    first, second = _by_job(one), _by_job(other)
    common = [job for job in first if job in second]
    pairs = [(first[job], second[job]) for job in common]
    lines = [
        *_listed("settings", _settings(common, pairs)),
        *_listed("code", _code(pairs)),
        *_listed("packages", _packages(pairs)),
        *_listed("data", _data(pairs)),
    ]
    if alone := len(first.keys() ^ second.keys()):
        lines.append(f"{alone} experiments and trainings are in one of the two runs only.")
    return lines or [SAME]


def _by_job(folder: Path) -> dict[str, dict[str, Any]]:
    """Job -> provenance, of the experiments and trainings of a run."""
    stamps = Provenances(folder).stamps.values()
    computing = [stamp for stamp in stamps if "seed" in stamp["parameters"]]
    return {stamp["job"]: stamp for stamp in computing}


Pairs = Iterable[tuple[Mapping[str, Any], Mapping[str, Any]]]


def _settings(jobs: Iterable[str], pairs: Pairs) -> Counter[str]:
    found: Counter[str] = Counter()
    for job, (then, now) in zip(jobs, pairs, strict=True):
        changed = changed_settings(then["parameters"], now["parameters"])
        # the seed is that of the whole run
        found.update(text if text.startswith("seed ") else f"{job}: {text}" for text in changed)
    return found


def _code(pairs: Pairs) -> Counter[str]:
    found: Counter[str] = Counter()
    for then, now in pairs:
        found.update(changed_code(now["code"], then["code"]))
    return found


def _packages(pairs: Pairs) -> Counter[str]:
    found: Counter[str] = Counter()
    for then, now in pairs:
        found.update(other_versions(then["versions"], now["versions"]))
    return found


def _data(pairs: Pairs) -> Counter[str]:
    """Datasets that were read in one run and not in the other, by name or by content."""
    found: Counter[str] = Counter()
    for then, now in pairs:
        before, after = _datasets(then), _datasets(now)
        if before.keys() != after.keys():
            found[f"{', '.join(before) or 'none'} → {', '.join(after) or 'none'}"] += 1
        else:
            found.update(
                f"{name} has other images" for name in before if before[name] != after[name]
            )
    return found


def _datasets(stamp: Mapping[str, Any]) -> dict[str, str]:
    """Name -> digest of the datasets that a job has read."""
    inputs = stamp["digests"]["inputs"].items()
    return {Path(file).stem: digest for file, digest in inputs if file.startswith("results/data/")}


def _listed(kind: str, found: Counter[str]) -> list[str]:
    """Lines on what differs, that of most jobs first."""
    lines = [
        f"{kind}: {text}" + (f" ({count} jobs)" if count > 1 else "")
        for text, count in found.most_common(MOST)
    ]
    if len(found) > MOST:
        lines.append(f"{kind}: and {len(found) - MOST} more")
    return lines
