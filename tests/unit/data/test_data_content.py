"""A dataset depends on the content of its folder, which is read again only if its state differs."""

import os

import pytest

from finitewidth.data import content


@pytest.fixture
def insects(tmp_path):
    folder = tmp_path / "insects"
    for split in ("train", "test"):
        for label in ("ant", "bee"):
            (folder / split / label).mkdir(parents=True)
            (folder / split / label / "0.png").write_bytes(b"0")
    return folder


@pytest.fixture
def known(tmp_path, monkeypatch):
    """A store of digests in memory, in place of one that is written when the process ends."""
    digests = {}
    monkeypatch.setattr(content, "remembered", lambda file: digests)
    return digests


def test_other_bytes_of_equal_size_and_time_are_noticed(insects, known):
    before = content.content_of(insects)
    picture = insects / "train" / "ant" / "0.png"
    times = picture.stat().st_atime_ns, picture.stat().st_mtime_ns
    picture.write_bytes(b"1")
    os.utime(picture, ns=times)
    assert content.content_of(insects) != before


def test_other_names_are_noticed_and_other_times_are_not(insects, known):
    before = content.content_of(insects)
    picture = insects / "train" / "ant" / "0.png"
    os.utime(picture, (1, 1))
    assert content.content_of(insects) == before
    picture.rename(picture.with_name("1.png"))
    assert content.content_of(insects) != before


def test_a_pipe_is_not_read(insects, known):
    before = content.content_of(insects)
    os.mkfifo(insects / "train" / "ant" / "1.png")
    assert content.content_of(insects) != before
