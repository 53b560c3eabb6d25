"""The lock files pin everything with digests; environments, container, workflow agree with them."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
ENVIRONMENTS = ("environment.yml", "workflow/envs/finitewidth.yaml")
LOCK_FILES = [f"requirements{part}.lock" for part in ("", "-build", "-cpu", "-cuda", "-audit")]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = PYPROJECT["project"]
MAKEFILE = (ROOT / "Makefile").read_text()
CONTAINER = (ROOT / "containers/finitewidth.def").read_text()
DIGEST = re.compile(r"--hash=sha256:([0-9a-f]{64})")
# the pythons and systems for which the lock files must be complete
PYTHONS = ("3.11.0", "3.11.9", "3.12.4", "3.13.1")
SYSTEMS = {
    "Linux": {"sys_platform": "linux", "platform_machine": "x86_64", "os_name": "posix"},
    "Linux on ARM": {"sys_platform": "linux", "platform_machine": "aarch64", "os_name": "posix"},
    "macOS": {"sys_platform": "darwin", "platform_machine": "arm64", "os_name": "posix"},
}


def entries(text):
    """Requirements of a lock file with their digests."""
    joined = re.sub(r"\\\n", " ", text)
    lines = [line for line in joined.splitlines() if line.strip() and line.strip()[0] != "#"]
    return [(Requirement(line.split(" --hash")[0]), DIGEST.findall(line)) for line in lines]


def pins(lock, python="3.11.9", system="Linux"):
    """Canonical name -> version, for one Python on one system."""
    version = {"python_version": python.rpartition(".")[0], "python_full_version": python}
    where = default_environment() | version | SYSTEMS[system]
    found = {}
    for requirement, _ in LOCKS[lock]:
        if requirement.marker is None or requirement.marker.evaluate(where):
            (specifier,) = requirement.specifier
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


@pytest.mark.parametrize("file", LOCK_FILES)
def test_a_lock_file_has_only_requirements_and_names_no_index(file):
    text = (ROOT / file).read_text()
    assert "://" not in text
    kinds = re.compile(r"#|\s+#|\s+--hash=|[A-Za-z0-9._-]+==|$")
    assert [line for line in text.splitlines() if not kinds.match(line)] == []


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("python", PYTHONS)
def test_the_lock_is_complete_for_other_pythons_and_systems(python, system):
    found = pins("requirements.lock", python, system)
    assert {canonicalize_name(requirement.name) for requirement in declared()} <= found.keys()
    cuda = pins("requirements-cuda.lock", python, system)
    assert bool(cuda) == (SYSTEMS[system]["sys_platform"] == "linux")
    assert not cuda.keys() & found.keys()


def test_the_installed_packages_are_those_of_the_lock():
    """Other tests then speak about the pinned versions; torch may carry the name of its build."""
    from importlib.metadata import distributions

    installed = {canonicalize_name(d.name): d.version.partition("+")[0] for d in distributions()}
    assert {name: installed.get(name) for name in LOCK} == LOCK


@pytest.mark.parametrize("requirement", declared(), ids=lambda requirement: requirement.name)
def test_a_range_of_the_project_admits_the_pin(requirement):
    assert requirement.specifier.contains(LOCK[canonicalize_name(requirement.name)])


def test_the_build_backend_is_pinned_and_locked():
    (required,) = PYPROJECT["build-system"]["requires"]
    ((locked, digests),) = LOCKS["requirements-build.lock"]
    assert str(locked) == required
    assert LOCK["setuptools"] == pins("requirements-build.lock")["setuptools"]
    (same,) = [found for one, found in LOCKS["requirements.lock"] if one.name == "setuptools"]
    assert same == digests


def test_the_tools_of_the_audit_are_locked():
    group = [Requirement(text) for text in PYPROJECT["dependency-groups"]["audit"]]
    locked = pins("requirements-audit.lock")
    assert all(tool.specifier.contains(locked[canonicalize_name(tool.name)]) for tool in group)
    assert {"cyclonedx-bom", "pip-audit"} <= locked.keys()


@pytest.fixture
def commands(tmp_path):
    """What make would run in a clone that is not set up yet, as one line per command."""
    for file in ("Makefile", "pyproject.toml", *LOCK_FILES):
        shutil.copy(ROOT / file, tmp_path)

    def planned(target, *options):
        command = ["make", "--dry-run", *options, target]
        done = subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60
        )
        return re.sub(r"\s*\\\n\s*", " ", done.stdout).splitlines()

    return planned


def test_set_up_installs_only_files_with_digests_and_builds_without_fetching(commands):
    installs = [line for line in commands("setup") if " install " in line]
    assert len(installs) == 5
    for line in installs:
        assert "--no-build-isolation" in line
        assert "--no-deps" in line
        assert "--require-hashes" in line or line.endswith("--editable .")
    order = [re.findall(r"requirements\S*\.lock|--editable", line)[0] for line in installs]
    assert order == ["requirements-build.lock", "requirements-cpu.lock", "requirements.lock",
                     "--editable", "requirements-cuda.lock"]  # fmt: skip
    assert re.match(r"\S+ .*check >/dev/null \|\| \{ ", installs[-1])  # only if packages miss


@pytest.mark.parametrize("changed", [False, True])
def test_the_options_of_set_up_refuse_a_file_that_was_exchanged(commands, changed, tmp_path):
    about = "Metadata-Version: 2.1\nName: nothing\nVersion: 1\n"
    wheel = tmp_path / "nothing-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("nothing-1.dist-info/METADATA", about)
        archive.writestr("nothing-1.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr("nothing-1.dist-info/RECORD", "")
    digest = hashlib.sha256(wheel.read_bytes() + b"." * changed).hexdigest()
    lock = tmp_path / "requirements.lock"
    lock.write_text(f"nothing==1 --hash=sha256:{digest}\n")
    (line,) = [
        line for line in commands("setup") if line.endswith("--requirement requirements.lock")
    ]
    options = [word for word in line.split()[1:-1] if word != "--quiet"]
    done = subprocess.run(
        [sys.executable, "-m", "pip", *options, lock, "--dry-run", "--no-index",
         "--find-links", tmp_path],
        capture_output=True, text=True, timeout=60,
        env={key: value for key, value in os.environ.items() if not key.startswith("PIP_")},
    )  # fmt: skip
    assert (done.returncode != 0) == changed, done.stderr
    assert ("DO NOT MATCH THE HASHES" in done.stderr) == changed


def test_tools_are_installed_only_from_files_with_digests(commands):
    (line,) = [line for line in commands("build/audit/installed") if " install " in line]
    for option in ("--require-hashes", "--no-deps", "--only-binary :all:"):
        assert option in line


def test_the_audit_asks_about_every_pinned_version_and_installs_nothing(commands):
    planned = " ".join(commands("audit"))
    asked = re.findall(r"\S+\.lock", re.search(r"for lock in (.*?); do", planned)[1])
    asked_versions = {(name, pin) for file in asked for name, pin in pins(file).items()}
    for file in LOCK_FILES:
        without_build = {name: pin.partition("+")[0] for name, pin in pins(file).items()}
        assert without_build.items() <= asked_versions, file
    assert {"--require-hashes", "--disable-pip", "--strict"} <= set(planned.split())


def test_nothing_is_built_that_has_a_wheel():
    """One package has a source file only, and it must be the one that is named."""
    (named,) = set(re.findall(r"--no-binary (\S+)", MAKEFILE))
    (entry,) = [digests for one, digests in LOCKS["requirements.lock"] if one.name == named]
    assert len(entry) == 1  # a wheel would have a second digest
    assert re.findall(r"--no-binary (\S+?)\"", CONTAINER) == [named]


@pytest.mark.parametrize("file", ENVIRONMENTS)
def test_a_conda_environment_installs_the_locks_with_digests_and_nothing_else(file):
    first, *others = conda_and_pip(file)[1]
    assert first == "--require-hashes"
    folder = (ROOT / file).parent
    found = [(folder / line.removeprefix("-r ")).resolve() for line in others]
    assert found == [ROOT / "requirements.lock", ROOT / "requirements-cuda.lock"]


def test_both_environments_take_the_same_from_conda():
    first, second = (conda_and_pip(file)[0] for file in ENVIRONMENTS)
    assert first == second


def test_the_container_starts_from_a_digest_and_installs_only_files_with_digests():
    (base,) = re.findall(r"^From: (.*)$", CONTAINER, re.M)
    assert re.fullmatch(r"python@sha256:[0-9a-f]{64}", base)
    copied = re.findall(r"^    (\S+\.lock) /opt/\1$", CONTAINER, re.M)
    assert sorted(copied) == sorted(
        set(LOCK_FILES) - {"requirements-audit.lock", "requirements-cpu.lock"}
    )
    assert sorted(re.findall(r"--requirement /opt/(\S+)", CONTAINER)) == sorted(copied)
    (options,) = re.findall(r'locked="pip install (.*?)"', CONTAINER, re.S)
    (makefile,) = re.findall(r"^LOCKED := install (.*?[^\\])$", MAKEFILE, re.M | re.S)
    words = set(makefile.replace("\\", "").split()) - {"--no-compile"}
    assert set(options.split()) - {"--no-cache-dir"} == words
    assert "pip install" not in CONTAINER.replace('locked="pip install', "")


def test_the_python_versions_agree():
    (first,) = re.findall(r"sys\.version_info\[:2\] < \((\d+), (\d+)\)", MAKEFILE)
    (lowest,) = set(re.findall(r"--python-version ([\d.]+)", MAKEFILE))
    (container,) = re.findall(r"^# The base is python:(\d+\.\d+)\.\d+-", CONTAINER, re.M)
    (conda,) = [entry for entry in conda_and_pip("environment.yml")[0] if "python" in entry]
    assert conda == f"python ={container}"
    assert lowest == ".".join(first)
    assert SpecifierSet(PROJECT["requires-python"]) == SpecifierSet(f">={lowest}")
    assert container in SpecifierSet(PROJECT["requires-python"])


def test_actions_of_the_workflow_are_named_by_their_commit():
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())
    used = [step["uses"] for job in workflow["jobs"].values() for step in job["steps"]
            if "uses" in step]  # fmt: skip
    assert used
    assert [action for action in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action)] == []


def test_the_build_of_torch_for_cpus_has_the_pinned_version_and_a_digest_for_every_file():
    ((_, digests),) = LOCKS["requirements-cpu.lock"]
    assert pins("requirements-cpu.lock") == {"torch": f"{LOCK['torch']}+cpu"}
    assert not pins("requirements-cpu.lock", system="macOS")
    text = (ROOT / "requirements-cpu.lock").read_text()
    named = re.findall(r"^#   (cp3\d+)-\1-manylinux_[\d_]+_(x86_64|aarch64)$", text, re.M)
    assert len(set(named)) == len(named) == len(digests)
    assert {"cp311", "cp312", "cp313"} == {python for python, _ in named}
