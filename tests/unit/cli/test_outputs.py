"""What a command writes is tried before its work, and nothing is left of the attempt."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.helpers.project import ROOT

from finitewidth.cli import network
from finitewidth.cli.main import main
from finitewidth.cli.outputs import try_file, try_folder, written
from finitewidth.common.errors import ConfigError, ResultError

NETWORK = "from torch import nn\ndef make(shape, classes): return nn.Flatten()\n"


@pytest.fixture
def folder(tmp_path):
    """A folder with a file, a link to nowhere and a network."""
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path / "nowhere/else")
    (tmp_path / "my_net.py").write_text(NETWORK)
    return tmp_path


def test_a_new_folder_is_tried_and_left_unmade(folder):
    try_folder(folder / "a/b/c", "--output")
    try_folder(folder, "--output")
    assert sorted(os.listdir(folder)) == ["file", "link", "my_net.py"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("file", "/file is no folder; name another"),
        ("/dev/null", "/dev/null is no folder; name another"),
        ("file/below", "file/below cannot be made; name another"),
        ("link", "link cannot be made; name another"),
        ("/proc/new/folder", "/proc/new/folder cannot be made; name another"),
    ],
)
@pytest.mark.parametrize("command", ["network", "kernel"])
def test_a_place_that_is_no_folder_is_refused_before_the_work(
    command, name, message, folder, monkeypatch, capsys
):
    monkeypatch.setattr(network, "dataset_of", lambda *_: pytest.fail("images were read"))
    monkeypatch.chdir(folder)
    options = ["--project", str(ROOT), "--output", name, "--data", "digits"]
    assert main([command, "my_net.py:make", *options]) == 1
    said = capsys.readouterr().err
    assert message in said or "name a folder; the kernel is kernel.npy in it" in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nowhere/errata.md", "/nowhere; make it, or name another"),
        (".", " is a folder; name a file in it"),
        ("/proc/errata.md", "/proc/errata.md cannot be made; name another"),
    ],
)
def test_errata_need_a_file_that_can_be_written(name, message, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    assert main(["errata", "--project", str(ROOT), "--write", name]) == 1
    assert message in capsys.readouterr().err


def test_files_are_tried_without_a_change(folder):
    try_file(folder / "new.md", "--write")
    try_file(folder / "file", "--write")
    try_file(Path("/dev/null"), "--write")
    assert sorted(os.listdir(folder)) == ["file", "link", "my_net.py"]


TRY = """
import os, sys
from pathlib import Path
from finitewidth.cli.outputs import try_file, try_folder
folder = Path(sys.argv[1])
os.setuid(65534)
for attempt in (try_folder, try_file):
    for place in (folder / "file", folder / "closed/new"):
        try: attempt(place, "--to")
        except ValueError as error: print(error)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="root becomes another user")
def test_no_permission_is_said_in_words(folder):
    (folder / "closed").mkdir(mode=0o711)
    for place in (folder, *folder.parents[:3]):
        place.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-c", TRY, folder], capture_output=True, text=True, check=True
    )
    lines = done.stdout.splitlines()
    assert lines[0] == f"--to: {folder}/file is no folder; name another"
    assert len(lines) == 4
    for line in lines[1:]:
        assert line.startswith("--to: cannot write ")
        assert "no permission to write there; change the folder's owner or mode" in line


def test_a_disk_that_fills_meanwhile_is_said_in_words(folder):
    with pytest.raises(ResultError, match=r"cannot write .*: the disk is full"), written(folder):
        raise OSError(28, "No space left on device")
    with pytest.raises(ConfigError):
        try_folder(folder / "file", "--output")
