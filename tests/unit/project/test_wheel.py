"""The wheel in an environment that has no more than the declared dependencies and their own."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import distribution, distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from tests.helpers.project import ROOT

BUILT_FROM = ("pyproject.toml", "README.md", "LICENSE", "Makefile")
NOT_IN_A_WHEEL = shutil.ignore_patterns("__pycache__", "*.egg-info")

EXAMPLES = """
import doctest, sys
import torch
import finitewidth as fw

print(fw.__file__)
for name in dir(fw):
    thing = getattr(fw, name)
    examples = doctest.DocTestFinder(recurse=False).find(thing, name)
    assert not any(doctest.DocTestRunner().run(each).failed for each in examples), name

images = torch.rand(12, 4), torch.arange(12) % 2
result = fw.study(torch.nn.Linear(4, 2), images, steps=3, progress=False)
result.write(sys.argv[1])
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """What `make wheel` builds in a copy of the project, in which a module was just removed."""
    copy = tmp_path_factory.mktemp("project")
    shutil.copytree(ROOT / "src", copy / "src", ignore=NOT_IN_A_WHEEL)
    for file in BUILT_FROM:
        shutil.copy(ROOT / file, copy)
    (copy / ".venv").symlink_to(sys.prefix)
    removed = copy / "build/lib/finitewidth/removed.py"
    removed.parent.mkdir(parents=True)
    removed.touch()
    # as if it were set up: the environment is that of this test
    command = ["make", "--silent", "--old-file=setup", "wheel"]
    said = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=True)
    return copy / said.stdout.strip()


def with_their_own(requirements: list[str], extra: str = "") -> set[str]:
    """The distributions that the requirements of a package bring, as they are installed here.

    Args:
        requirements: of the package, with their markers.
        extra: of the package; "" for none.
    """
    found: set[tuple[str, str]] = set()  # name and extra
    left = [(text, extra) for text in requirements]
    while left:
        text, extra = left.pop()
        requirement = Requirement(text)
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        for expected in ("", *requirement.extras):
            if (requirement.name, expected) not in found:
                found.add((requirement.name, expected))
                of_its_own = distribution(requirement.name).requires or []
                left += [(each, expected) for each in of_its_own]
    return {canonicalize_name(name) for name, _ in found}


def link(name: str, site: Path) -> None:
    """Let the files of an installed distribution be found in another environment."""
    installed = distribution(name)
    entries = {file.parts[0] for file in installed.files} - {"..", "__pycache__"}
    for entry in entries:
        if not (site / entry).exists():  # packages of NVIDIA share a folder
            (site / entry).symlink_to(installed.locate_file(entry))


@pytest.fixture(scope="module")
def environment(wheel, tmp_path_factory) -> Path:
    """An environment with the wheel, its dependencies, and nothing else."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    install = [sys.executable, "-m", "pip", f"--python={folder}/bin/python", "install", "--quiet"]
    install += ["--no-index", "--no-deps", "--no-compile", wheel]
    subprocess.run(install, check=True)
    bring(folder, "")
    return folder


def bring(environment: Path, extra: str) -> None:
    """Link what the package in the environment requires, with one of its extras or with none."""
    (site,) = environment.glob("lib/python*/site-packages")
    (package,) = distributions(path=[str(site)], name="finitewidth")
    for name in with_their_own(package.requires, extra):
        link(name, site)


def run(*words: str | Path) -> subprocess.CompletedProcess:
    """Run a command that sees no folder of this project."""
    variables = {key: os.environ[key] for key in os.environ if not key.startswith("PYTHON")}
    return subprocess.run(words, env=variables, cwd="/", capture_output=True, text=True)


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    source = wheel.parents[1] / "src"
    files = [file for file in source.rglob("*") if file.is_file()]
    package = {
        file.relative_to(source).as_posix() for file in files if file.parent.suffix != ".egg-info"
    }
    names = zipfile.ZipFile(wheel).namelist()
    assert {name for name in names if ".dist-info/" not in name} == package


def test_every_public_name_works_with_the_dependencies_alone(environment, tmp_path):
    done = run(environment / "bin/python", "-c", EXAMPLES, tmp_path / "study")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith(str(environment))
    assert (tmp_path / "study/training.png").is_file()


def test_results_of_a_project_need_more_and_it_says_what(environment):
    code = "import finitewidth as fw; fw.load('npf_fig3')"
    done = run(environment / "bin/python", "-c", code)
    last = done.stderr.splitlines()[-1]
    assert re.search(r"ConfigError: (pydantic|yaml) is not installed; load needs more", last)
    assert last.endswith("pip install 'finitewidth[papers]'")


@pytest.mark.parametrize("command", [["finitewidth"], ["python", "-m", "finitewidth"]])
def test_the_command_says_in_one_line_what_it_needs(command, environment):
    done = run(environment / "bin" / command[0], *command[1:], "network", "my_net.py:make")
    assert done.returncode == 1
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line == (
        "finitewidth: cyclopts is not installed; the command needs more packages than the "
        "library: pip install 'finitewidth[papers]'"
    )


def test_the_extra_that_the_command_names_suffices_for_it(environment):
    bring(environment, "papers")
    done = run(environment / "bin/finitewidth", "--version")
    assert done.stdout.startswith("finitewidth "), done.stderr
