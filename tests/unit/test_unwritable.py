"""Full disks are found before a run starts, and named with a remedy."""

import errno
from types import SimpleNamespace

import pytest

from finitewidth.common import unwritable
from finitewidth.common.errors import ResultError


@pytest.fixture
def full(monkeypatch):
    """Every disk refuses new files; returns what it says of its inodes."""

    def refused(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    inodes = SimpleNamespace(f_files=0, f_favail=0)
    monkeypatch.setattr(unwritable.tempfile, "TemporaryFile", refused)
    monkeypatch.setattr(unwritable.os, "statvfs", lambda _: inodes)
    return inodes


def test_a_full_folder_is_refused(tmp_path, full):
    with pytest.raises(ResultError, match=f"{tmp_path}: the disk is full; free some space"):
        unwritable.refuse_full(tmp_path)
    full.f_files = 1000
    with pytest.raises(ResultError, match=r"no free inodes\); delete some files"):
        unwritable.refuse_full(tmp_path)
    full.f_favail = 1
    with pytest.raises(ResultError, match="the disk is full"):
        unwritable.refuse_full(tmp_path)


@pytest.mark.usefixtures("full")
def test_a_full_folder_for_temporary_files_is_refused_by_its_variable(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with pytest.raises(ResultError, match=f"{tmp_path}: the disk is full.* as TMPDIR says; or set"):
        unwritable.refuse_full_temporary_folder()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "absent"))  # Snakemake makes it
    unwritable.refuse_full_temporary_folder()
    for name in ("TMPDIR", "TEMP", "TMP"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ResultError, match=r"/tmp: the disk is full.* as TMPDIR is not set"):
        unwritable.refuse_full_temporary_folder()


def test_folders_with_room_are_accepted_and_left_empty(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    unwritable.refuse_full(tmp_path)
    unwritable.refuse_full_temporary_folder()
    assert not list(tmp_path.iterdir())
