"""environment.yml, Snakemake's own environment, pyproject.toml and requirements.lock agree."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
ASKED_FOR = {"snakemake", "torch", "torchvision", "pandas", "matplotlib", "seaborn"}
ENVIRONMENTS = ("environment.yml", "workflow/envs/finitewidth.yaml")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def pins(lines):
    """Canonical name -> version of every line ``name==version``; options are left out."""
    found = {}
    for line in lines:
        if line.strip() and not line.startswith(("#", "-")):
            requirement = Requirement(line)
            (specifier,) = requirement.specifier
            assert specifier.operator == "==", line
            name = canonicalize_name(requirement.name)
            assert name not in found, f"{name} is pinned twice"
            found[name] = specifier.version
    return found


def conda_and_pip(file):
    """The packages that a conda environment takes from conda, and its lines for pip."""
    *conda, last = yaml.safe_load((ROOT / file).read_text())["dependencies"]
    return conda, last["pip"]


def declared():
    """Every dependency of pyproject.toml, the optional ones included."""
    groups = (PROJECT["dependencies"], *PROJECT["optional-dependencies"].values())
    return [Requirement(text) for group in groups for text in group]


LOCK = pins((ROOT / "requirements.lock").read_text().splitlines())


def test_the_packages_asked_for_are_in_all_three_files():
    named = {canonicalize_name(Requirement(text).name) for text in PROJECT["dependencies"]}
    assert named >= ASKED_FOR
    assert LOCK.keys() >= ASKED_FOR
    assert pins(conda_and_pip("environment.yml")[1]).keys() >= ASKED_FOR


@pytest.mark.parametrize("file", ENVIRONMENTS)
def test_pins_of_an_environment_are_those_of_the_lock(file):
    found = pins(conda_and_pip(file)[1])
    assert found == {name: LOCK.get(name) for name in found}


@pytest.mark.parametrize("file", ENVIRONMENTS)
def test_an_environment_installs_the_lock_and_the_project(file):
    options = dict(line.split(" ") for line in conda_and_pip(file)[1] if line.startswith("-"))
    assert options.keys() == {"-r", "-e"}
    folder = (ROOT / file).parent
    assert (folder / options["-r"]).resolve() == ROOT / "requirements.lock"
    assert (folder / options["-e"]).resolve() == ROOT


def test_both_environments_take_the_same_from_conda():
    first, second = (conda_and_pip(file)[0] for file in ENVIRONMENTS)
    assert first == second


@pytest.mark.parametrize("requirement", declared(), ids=lambda requirement: requirement.name)
def test_a_range_of_the_project_admits_the_pin(requirement):
    assert requirement.specifier.contains(LOCK[canonicalize_name(requirement.name)])


def test_the_python_versions_agree():
    makefile = (ROOT / "Makefile").read_text()
    recipe = (ROOT / "containers/finitewidth.def").read_text()
    (first,) = re.findall(r"sys\.version_info\[:2\] < \((\d+), (\d+)\)", makefile)
    (container,) = re.findall(r"^From: python:([\d.]+)-", recipe, re.M)
    (conda,) = [entry for entry in conda_and_pip("environment.yml")[0] if "python" in entry]
    assert conda == f"python ={container}"
    assert SpecifierSet(PROJECT["requires-python"]) == SpecifierSet(f">={'.'.join(first)}")
    assert container in SpecifierSet(PROJECT["requires-python"])
