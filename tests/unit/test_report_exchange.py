"""A new report takes the place of the old one, whatever lies there and whoever writes it too."""

from pathlib import Path

import pytest

from finitewidth.report import job


@pytest.fixture
def new(tmp_path):
    """A finished report, and a folder for what it replaces."""
    (tmp_path / "aside/new").mkdir(parents=True)
    (tmp_path / "aside/new/index.html").write_text("new")
    return tmp_path / "aside/new"


@pytest.mark.parametrize("before", ["nothing", "report", "file", "link", "dangling link"])
def test_what_lies_there_is_replaced_and_no_link_is_followed(tmp_path, new, before):
    folder, outside = tmp_path / "report", tmp_path / "outside"
    outside.mkdir()
    (outside / "index.html").write_text("mine")
    if before == "report":
        folder.mkdir()
        (folder / "old.html").write_text("old")
    elif before == "file":
        folder.write_text("old")
    elif before != "nothing":
        folder.symlink_to(outside if before == "link" else tmp_path / "nowhere")
    job._exchange(new, folder, new.parent)
    assert not folder.is_symlink()
    assert [file.name for file in folder.iterdir()] == ["index.html"]
    assert (folder / "index.html").read_text() == "new"
    assert (outside / "index.html").read_text() == "mine"


def test_another_report_may_be_put_there_at_the_same_time(tmp_path, new, monkeypatch):
    folder, rename, others = tmp_path / "report", Path.rename, [1, 2, 3]

    def disturbed(path, target):
        if path == new and others:
            (folder / f"other-{others.pop()}").mkdir(parents=True)
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", disturbed)
    job._exchange(new, folder, new.parent)
    assert [file.name for file in folder.iterdir()] == ["index.html"]
    assert not others
