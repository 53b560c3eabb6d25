"""Of temporary folders, only those with our own mark are deleted, and links are not followed."""

import os
import shutil
import time

import pytest

from finitewidth.common import temporary
from finitewidth.common.temporary import MARK, remove_left, temporary_folder
from finitewidth.data import original

PREFIX = ".finitewidth-fetch-"
OLD = time.time() - 25 * 3600


def left(place, age=OLD):
    """A marked folder that a killed job left, with a file in it."""
    with temporary_folder(place, "fetch") as folder:
        (folder / "half").write_text("fetched")
        copy = place / "copy"
        shutil.copytree(folder, copy)
    copy.rename(folder)
    return aged(folder, age)


def aged(folder, age):
    os.utime(folder / MARK, (age, age))
    return folder


def interrupted(place):
    with temporary_folder(place, "fetch") as folder:
        assert (folder / MARK).is_file()
        assert folder.parent == place
        raise KeyboardInterrupt


def test_a_temporary_folder_ends_with_its_block(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        interrupted(tmp_path)
    assert not list(tmp_path.iterdir())


def test_two_names_differ(tmp_path):
    with temporary_folder(tmp_path, "fetch") as one, temporary_folder(tmp_path, "fetch") as other:
        assert one != other


def test_marked_folders_of_another_machine_go_after_a_day(tmp_path, monkeypatch):
    monkeypatch.setattr(temporary, "this_machine", lambda: "abcdef")
    old, new = left(tmp_path), left(tmp_path, time.time() - 23 * 3600)
    monkeypatch.undo()
    remove_left(tmp_path, "fetch")
    assert not old.exists()
    assert (new / "half").is_file()


def test_marked_folders_of_this_machine_go_unless_somebody_writes_them(tmp_path):
    gone = left(tmp_path, time.time() - 5)
    with temporary_folder(tmp_path, "fetch") as held, temporary_folder(tmp_path, "fetch") as fresh:
        aged(held, time.time() - 5)
        remove_left(tmp_path, "fetch")
        assert held.is_dir()
        assert fresh.is_dir()
    assert not gone.exists()


@pytest.mark.parametrize("mine", [".fetch-notes", f"{PREFIX}notes", "notes", MARK])
def test_folders_of_the_user_stay(tmp_path, mine):
    folder = tmp_path / mine
    folder.mkdir()
    (folder / "a.txt").write_text("mine")
    os.utime(folder, (OLD, OLD))
    remove_left(tmp_path, "fetch")
    assert (folder / "a.txt").read_text() == "mine"


@pytest.mark.parametrize("change", ["renamed", "other mark", "no mark", "linked mark", "long mark"])
def test_a_mark_belongs_to_one_folder(tmp_path, change):
    folder = left(tmp_path)
    mark = folder / MARK
    if change == "renamed":
        folder = folder.rename(tmp_path / f"{PREFIX}mine")
    elif change == "other mark":
        mark.write_text("0" * 64)
    elif change == "no mark":
        mark.unlink()
    elif change == "linked mark":
        mark.rename(tmp_path / "token")
        mark.symlink_to(tmp_path / "token")
    else:
        mark.write_text("0" * 10_000)
    for path in (folder, folder / MARK):
        if path.exists():
            os.utime(path, (OLD, OLD))
    remove_left(tmp_path, "fetch")
    assert (folder / "half").is_file()


def test_a_link_to_a_marked_folder_is_not_followed(tmp_path):
    data, elsewhere = tmp_path / "data", tmp_path / "elsewhere"
    data.mkdir()
    elsewhere.mkdir()
    target = left(elsewhere)
    (data / target.name).symlink_to(target)
    (target / "out").symlink_to(tmp_path)
    remove_left(data, "fetch")
    assert (target / "half").is_file()
    remove_left(elsewhere, "fetch")  # removes the link in the folder, not what it leads to
    assert not target.exists()
    assert data.is_dir()


def test_a_fetch_replaces_no_file_of_the_user(tmp_path):
    fetched, root = tmp_path / "fetched", tmp_path / "root"
    for place, text in ((fetched, "new"), (root, "mine")):
        (place / "raw").mkdir(parents=True)
        (place / "raw" / "a.gz").write_text(text)
    (fetched / "raw" / "a").write_text("new")
    original._move(fetched, root, "raw/a")
    assert (root / "raw" / "a").read_text() == "new"
    assert (root / "raw" / "a.gz").read_text() == "mine"


def test_folders_of_another_purpose_stay(tmp_path):
    folder = left(tmp_path)
    remove_left(tmp_path, "report")
    assert (folder / "half").is_file()
    name = folder.name.replace("fetch", "report")
    remove_left(folder.rename(tmp_path / name).parent, "report")
    assert not (tmp_path / name).exists()
