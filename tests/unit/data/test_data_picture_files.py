"""What lies among the pictures of a folder is looked at before anything is opened."""

import errno
import os
import socket
from functools import partial

import pytest

from finitewidth.common.errors import DataError
from finitewidth.data.imagefolder import load_imagefolder
from finitewidth.data.picture_files import LARGEST_FILE, picture_files
from finitewidth.data.places import content_of


@pytest.fixture
def tree(tmp_path):
    for split in ("train", "test"):
        for label in ("ant", "bee"):
            folder = tmp_path / "tree" / split / label
            folder.mkdir(parents=True)
            for name in ("0.png", "2.png"):
                (folder / name).write_bytes(b"0")
    return tmp_path / "tree"


def sparse(file):
    with file.open("wb") as stream:
        stream.truncate(4 * 2**40)


def listening(file, monkeypatch):
    monkeypatch.chdir(file.parent)  # the path of a socket has at most 108 characters
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(file.name)


def circle(file):
    file.symlink_to(file.name)


def test_pictures_are_sorted_by_class_and_name(tree):
    (tree / "train/ant/10.PNG").write_bytes(b"1")
    (tree / "train/readme.md").write_text("two classes")
    assert picture_files(tree / "train") == {
        "ant": ["0.png", "10.PNG", "2.png"],
        "bee": ["0.png", "2.png"],
    }
    assert picture_files(tree / "nowhere") == picture_files(tree / "train/readme.md") == {}


def test_what_is_no_picture_by_its_name_is_never_opened(tree):
    before = content_of(tree, known=None)
    os.mkfifo(tree / "train/ant/notes.txt")
    os.mkfifo(tree / "train/ant/.0.png")
    os.mkfifo(tree / "train/pipe")
    sparse(tree / "train/bee/notes.txt")
    circle(tree / "train/bee/circle")
    (tree / "train/bee/.cache").mkdir()
    assert content_of(tree, known=None) == before
    assert picture_files(tree / "train")["bee"] == ["0.png", "2.png"]


REFUSED = {
    "pipe": (os.mkfifo, "is a named pipe and no picture; remove it"),
    "device": (lambda file: file.symlink_to("/dev/zero"), "is a device and no picture; remove it"),
    "sparse": (sparse, "has 4,398,046,511,104 bytes, a picture has at most 67,108,864; make it"),
    "circle": (circle, r"is a broken link \(Too many levels of symbolic links\); put its target"),
    "nowhere": (
        lambda file: file.symlink_to("nowhere.png"),
        r"is a broken link \(No such file or directory\); put its target there or remove",
    ),
    "folder": (lambda file: file.mkdir(), "is a folder inside a class folder; put its pictures"),
}


@pytest.mark.parametrize("place", ["train/ant", "test/bee"])
@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_no_picture_is_refused_by_its_name_before_it_is_opened(tree, kind, place):
    make, words = REFUSED[kind]
    file = tree / place / "1.png"
    make(file)
    for use in (partial(content_of, known=None), partial(load_imagefolder, "tree", "tree")):
        with pytest.raises(DataError, match=f"^{file} {words}"):
            use(tree)


def test_a_socket_is_refused(tree, monkeypatch):
    listening(tree / "train/ant/1.png", monkeypatch)
    with pytest.raises(DataError, match=r"1\.png is a socket and no picture"):
        content_of(tree, known=None)


def test_a_picture_of_the_largest_size_is_taken(tree):
    with (tree / "train/ant/0.png").open("wb") as stream:
        stream.truncate(LARGEST_FILE)
    assert len(picture_files(tree / "train")["ant"]) == 2


@pytest.mark.parametrize("make", [circle, lambda file: file.symlink_to("nowhere")])
def test_a_broken_link_in_place_of_a_class_is_refused(tree, make):
    make(tree / "train/cat")
    with pytest.raises(DataError, match=r"train/cat is a broken link"):
        content_of(tree, known=None)


def test_a_folder_without_permission_is_refused_by_its_name(tree, monkeypatch):
    """Permissions do not stop root, so the system's answer is made up."""

    listed = os.listdir

    def answer(folder):
        if os.path.basename(folder) == "ant":
            raise PermissionError(errno.EACCES, "Permission denied")
        return listed(folder)

    monkeypatch.setattr(os, "listdir", answer)
    with pytest.raises(DataError, match=r"train/ant cannot be listed \(Permission denied\); ch"):
        content_of(tree, known=None)
