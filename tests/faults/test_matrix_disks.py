"""The fault matrix: disks that become full while the job of a stage works."""

import os

import pytest

from .conftest import Cell
from .matrix import SmallDisk, cells, jobs_of, lost_by
from .reliability import said

pytestmark = [
    pytest.mark.faults,
    pytest.mark.workflow,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount small disks"),
]


def small_disk(place):
    """Mount a small disk; skips the test where that is not possible."""
    try:
        return SmallDisk(place)
    except OSError as error:
        pytest.skip(f"a small disk cannot be mounted here: {error}")


@pytest.fixture
def disk(tmp_path):
    """The disk on which the whole project will lie."""
    disk = small_disk(tmp_path / "disk")
    yield disk
    disk.unmount()


@pytest.fixture
def on_disk(disk, cell_at) -> Cell:
    """As `cell`, with the project on a disk of its own."""
    return cell_at(disk.place / "project")


def fills(cell: Cell, disk: SmallDisk, kind: str, words: str) -> str:
    """Fill the disk while the job works, and start once more; returns what the user is told."""
    held = cell.hold(written=False)
    disk.fill(kind)
    held.go_on()
    assert held.end() != 0, held.output
    cell.told(held.output)
    message = said(rf"cannot write [^\n]*{words}[^\n]*", held.output)
    disk.fill(kind)  # what the job left may have been removed
    again = cell.checkout.make(*cell.stage.targets)
    assert again.returncode != 0, again.stdout
    cell.told(again.stdout)
    said(rf"cannot write [^\n]*{words}[^\n]*", again.stdout)
    disk.free()
    return message


@cells("Disk full")
def test_the_disk_becomes_full(on_disk, disk, stage):
    on_disk.survives(fills(on_disk, disk, "space", "is full; free some space"), lost_by(stage))


@cells("No free inodes")
def test_the_disk_can_take_no_more_files(on_disk, disk, stage):
    message = fills(on_disk, disk, "inodes", r"no free inodes\); delete")
    on_disk.survives(message, lost_by(stage))


@cells("TMPDIR full")
def test_the_folder_for_temporary_files_becomes_full(cell, stage, tmp_path):
    disk = small_disk(tmp_path / "temporary")
    try:
        held = cell.hold(TMPDIR=str(disk.place))
        disk.fill("space")
        held.go_on()
        assert held.end() == 0, held.output  # the jobs need no space there
        cell.told(held.output)
        assert jobs_of(held.output) == [stage.job]
        disk.fill("space")  # the folder of the run that has ended is gone
        again = cell.checkout.make(*stage.targets, TMPDIR=str(disk.place))
        assert again.returncode != 0, again.stdout
        cell.told(again.stdout)
        message = said(r"cannot write [^\n]*TMPDIR[^\n]*", again.stdout)
    finally:
        disk.unmount()
    cell.survives(message, "nothing", again=())
