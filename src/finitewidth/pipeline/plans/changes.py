"""What has changed since results were made, in words: settings, code, versions of packages."""

from collections.abc import Iterable, Mapping
from typing import Any

from finitewidth.records.code import changed_code
from finitewidth.settings.nested import leaves

LONGEST_VALUE = 40  # characters of a setting
MOST_NAMES = 3  # in one reason
# parameters that follow from the settings of other jobs
FOLLOWING = ("footer", "mark", "captions", "packages", "jobs")
NOT_COMPARED = ("snakemake",)  # a package that makes no numbers


def changed_settings(then: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return the settings that differ, as ``draws 200 → 60``."""
    before = leaves(then)
    after = leaves(now)
    changed = []
    for path in {**before, **after}:
        if before.get(path, ...) != after.get(path, ...):
            changed.append(f"{_name(path)} {_value(before, path)} → {_value(after, path)}")
    return changed


def _name(path: tuple[str, ...]) -> str:
    """The name of a setting; Snakemake's parameters have those of the job below one key."""
    if path[0] == "settings" and len(path) > 1:
        path = path[1:]
    return ".".join(path)


def _value(values: Mapping[tuple[str, ...], Any], path: tuple[str, ...]) -> str:
    text = str(values[path]) if path in values else "none"
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"


def changed_parameters(then: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return the settings of a job that differ, without what follows from those of others."""
    before = {key: value for key, value in then.items() if key not in FOLLOWING}
    after = {key: value for key, value in now.items() if key not in FOLLOWING}
    return changed_settings(before, after)


def changed_files_of_code(then: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return the short names of the files of code that differ, from two records of code."""
    return [_short_name(module) for module in changed_code(now, then)]


def _short_name(module: str) -> str:
    """``npf/nu.py`` of ``finitewidth.papers.npf.nu``; a file is named as it is."""
    if "/" in module:
        return module
    return f"{'/'.join(module.split('.')[-2:])}.py"


def other_versions(then: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Return the packages whose versions differ, as ``torch 2.9.1 → 2.10.0``."""
    changed = []
    for package, version in now.items():
        if package not in NOT_COMPARED and then.get(package) != version:
            changed.append(f"{package} {then.get(package, 'none')} → {version}")
    return changed


def listed_names(names: Iterable[str]) -> str:
    """Return the first few names, and how many more there are."""
    every = list(names)
    words = ", ".join(every[:MOST_NAMES])
    more = len(every) - MOST_NAMES
    return f"{words} and {more} more" if more > 0 else words
