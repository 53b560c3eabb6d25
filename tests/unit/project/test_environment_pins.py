"""The lock files pin everything with digests; environments, container, workflow agree with them."""

import re
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from tests.helpers.project import ROOT

LOCK_FILES = [f"requirements{part}.lock" for part in ("", "-build", "-cpu", "-cuda", "-audit")]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = PYPROJECT["project"]
DIGEST = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def entries(text):
    """Requirements of a lock file with their digests."""
    joined = re.sub(r"\\\n", " ", text)
    lines = [line for line in joined.splitlines() if line.strip() and line.strip()[0] != "#"]
    return [(Requirement(line.split(" --hash")[0]), DIGEST.findall(line)) for line in lines]


def pins(lock):
    """Canonical name -> version, on this system."""
    found = {}
    for requirement, _ in LOCKS[lock]:
        if requirement.marker is None or requirement.marker.evaluate():
            (specifier,) = requirement.specifier
            name = canonicalize_name(requirement.name)
            assert name not in found, f"{name} is pinned twice"
            found[name] = specifier.version
    return found


def declared():
    """Every dependency of pyproject.toml, the optional ones included."""
    groups = (PROJECT["dependencies"], *PROJECT["optional-dependencies"].values())
    return [Requirement(text) for group in groups for text in group]


LOCKS = {file: entries((ROOT / file).read_text()) for file in LOCK_FILES}
LOCK = pins("requirements.lock")


@pytest.mark.parametrize("file", LOCK_FILES)
def test_every_requirement_is_pinned_and_has_digests(file):
    assert LOCKS[file]
    for requirement, digests in LOCKS[file]:
        assert [specifier.operator for specifier in requirement.specifier] == ["=="], requirement
        assert requirement.url is None
        assert digests, requirement
        assert len(set(digests)) == len(digests), requirement


def test_the_installed_packages_are_those_of_the_lock():
    """Other tests then speak about the pinned versions; torch may carry the name of its build."""
    from importlib.metadata import distributions

    installed = {canonicalize_name(d.name): d.version.partition("+")[0] for d in distributions()}
    assert {name: installed.get(name) for name in LOCK} == LOCK


@pytest.mark.parametrize("requirement", declared(), ids=lambda requirement: requirement.name)
def test_a_range_of_the_project_admits_the_pin(requirement):
    assert requirement.specifier.contains(LOCK[canonicalize_name(requirement.name)])
