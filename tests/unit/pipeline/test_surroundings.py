"""What is looked at before a run: package, path of Python, user, folders, dates of inputs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from finitewidth.cli.main import main
from finitewidth.common.errors import ConfigError, ResultError
from finitewidth.pipeline.runs import surroundings
from finitewidth.pipeline.runs.surroundings import find_project
from finitewidth.records.provenance import SOURCE_ROOT

as_another_user = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


def other_clone(folder: Path) -> Path:
    """What makes a folder a clone, for the commands."""
    (folder / "workflow/papers").mkdir(parents=True)
    (folder / "Snakefile").touch()
    return folder


def output_of_another_user(program: str, **variables: str) -> str:
    """What a program says that becomes a user without an entry in passwd, as in containers."""
    begin = """
import getpass, os, pathlib
from finitewidth.common.errors import ResultError
from finitewidth.pipeline.runs import surroundings
os.setuid(12345)
"""
    answer = subprocess.run(
        [sys.executable, "-c", begin + program],
        env=variables | {"PYTHONPATH": str(SOURCE_ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    return answer.stdout


def test_a_clone_is_not_run_with_the_code_of_another(tmp_path, monkeypatch, capsys):
    clone = other_clone(tmp_path / "clone")
    with pytest.raises(ConfigError, match="PYTHONPATH") as refused:
        find_project(clone)
    for words in (f"imported from {SOURCE_ROOT}", f"not from {clone}/src", "make setup"):
        assert words in str(refused.value)
    monkeypatch.chdir(clone)
    assert main(["list"]) == 1
    assert "\n" not in capsys.readouterr().err.strip()


def test_a_clone_behind_a_link_is_the_same_clone(tmp_path):
    clone = other_clone(tmp_path / "clone")
    package = clone / "src/finitewidth"
    package.mkdir(parents=True)
    (tmp_path / "link").symlink_to(clone)
    surroundings.refuse_other_package(tmp_path / "link", package)
    surroundings.refuse_other_package(clone, tmp_path / "link/src/finitewidth")
    (tmp_path / "link2").symlink_to(tmp_path)
    with pytest.raises(ConfigError):
        surroundings.refuse_other_package(tmp_path / "link2", package)


@pytest.mark.parametrize(
    ("executable", "folder", "used"),
    [
        ("/home/me/clone/.venv/bin/python", "/home/me/clone", "/home/me/clone/.venv/bin/python"),
        ("/home/me/my clone/.venv/bin/python", "/home/me/my clone", ".venv/bin/python"),
        ("/home/it's/clone/.venv/bin/python", "/home/it's/work", "../clone/.venv/bin/python"),
        ("/home/me/my clone/.venv/bin/python", "/home/me/my clone/a b", "../.venv/bin/python"),
    ],
)
def test_a_shell_takes_the_path_of_python_as_it_stands(executable, folder, used):
    assert surroundings.interpreter(executable, folder) == used


def test_python_in_another_folder_with_a_space_is_refused():
    with pytest.raises(ConfigError, match="start in the folder of the clone"):
        surroundings.interpreter("/opt/my env/bin/python", "/home/me/clone")


def test_braces_are_refused():
    surroundings.refuse_braces("/home/me/my clone", Path("/home/me"))
    with pytest.raises(ConfigError, match="placeholders"):
        surroundings.refuse_braces("/home/me", "/home/me/{clone}")


@as_another_user
@pytest.mark.parametrize("variables", [{"HOME": "/"}, {}])
def test_a_user_without_an_entry_gets_a_name_and_a_home(variables):
    program = """
surroundings.name_user()
print(getpass.getuser(), pathlib.Path.home())
"""
    assert output_of_another_user(program, **variables) == "12345 /\n"


def test_a_user_keeps_name_and_home(monkeypatch):
    monkeypatch.setenv("USER", "me")
    monkeypatch.setenv("HOME", "/home/me")
    surroundings.name_user()
    assert (os.environ["USER"], os.environ["HOME"]) == ("me", "/home/me")


def test_a_link_to_a_disk_that_is_not_mounted_is_named(tmp_path):
    link = tmp_path / "results"
    link.symlink_to("/no/such/disk")
    with pytest.raises(ResultError, match="results is a link to /no/such/disk, which is not there"):
        surroundings.refuse_unwritable(link)
    link.unlink()
    link.symlink_to(tmp_path)
    surroundings.refuse_unwritable(link, link / "new", tmp_path / "new/folder")
    assert os.listdir(tmp_path) == ["results"]


@as_another_user
def test_a_folder_of_another_user_is_named(tmp_path):
    program = f"""
try:
    surroundings.refuse_unwritable("{tmp_path}/results")
except ResultError as error:
    print(error)
"""
    message = output_of_another_user(program)
    assert message.startswith("cannot write /")
    assert "no permission to write there" in message
