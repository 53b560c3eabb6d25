"""Links in the results that lead elsewhere: what deletes there leaves their targets alone."""

import json
import os
import time

import pytest

from finitewidth.common import result_files
from finitewidth.common.progress import logged_to
from finitewidth.pipeline.finished_checkpoints import clear_finished
from finitewidth.training.checkpoints import CheckpointStore

IDENTITY = "0123456789abcdef"


@pytest.fixture
def outside(tmp_path):
    """A folder of the user, whose files look like ours."""
    folder = tmp_path / "outside"
    (folder / IDENTITY).mkdir(parents=True)
    for name in ("000000000001.pt", "000000000002.pt", "notes.txt", "a.csv"):
        (folder / name).write_text("mine")
        (folder / IDENTITY / name).write_text("mine")
    yield folder
    for place in (folder, folder / IDENTITY):
        for name in ("000000000001.pt", "000000000002.pt", "notes.txt", "a.csv"):
            assert (place / name).read_text() == "mine", f"{place / name} was touched"


@pytest.mark.parametrize("linked", ["all", "one"])
def test_checkpoints_of_finished_jobs(tmp_path, outside, linked):
    results = tmp_path / "results"
    stamp = results / "npf/training/nu/provenance.json"
    result_files.write_text(stamp, json.dumps({"fingerprint": IDENTITY}))
    if linked == "all":
        (results / ".checkpoints").symlink_to(outside)
    else:
        (results / ".checkpoints").mkdir()
        (results / ".checkpoints" / IDENTITY).symlink_to(outside)
    clear_finished(results)


def test_checkpoints_of_a_job(tmp_path, outside):
    (tmp_path / "job").symlink_to(outside)
    store = CheckpointStore(tmp_path, "job")
    for number in (3, 4, 5):
        store.save(number, {"step": number})
    store.keep_newest()


def test_what_is_no_checkpoint_stays(tmp_path):
    store = CheckpointStore(tmp_path, "job")
    store.save(1, {"step": 1})
    (store.folder / "notes.txt").touch()
    store.keep_newest()
    assert (store.folder / "notes.txt").exists()


def test_a_file_that_is_a_link_is_replaced_itself(tmp_path, outside):
    link = tmp_path / "a.csv"
    link.symlink_to(outside / "a.csv")
    result_files.write_rows(link, [{"a": 1}])
    assert not link.is_symlink()


def test_a_log_that_is_a_link_is_replaced_itself(tmp_path, outside):
    link = tmp_path / "a.log"
    link.symlink_to(outside / "notes.txt")
    with logged_to(link):
        pass
    assert not link.is_symlink()


def test_temporary_files_that_are_links(tmp_path, outside):
    old = time.time() - 2 * result_files.LEFT
    link = tmp_path / ".a-12345678.csv"
    link.symlink_to(outside / "a.csv")
    os.utime(outside / "a.csv", (old, old))
    result_files.write_text(tmp_path / "a.csv", "new")
    assert not os.path.lexists(link)


def test_a_folder_named_like_a_temporary_file_stays(tmp_path):
    old = time.time() - 2 * result_files.LEFT
    folder = tmp_path / ".a-12345678.csv"
    folder.mkdir()
    os.utime(folder, (old, old))
    result_files.write_text(tmp_path / "a.csv", "new")
    assert folder.is_dir()
