"""What a job that fails leaves in its log and says on stderr."""

import os

import pytest

from finitewidth.common.errors import ResultError
from finitewidth.common.progress import LOG, SHOWN, logged_to


def fails(log, error):
    with logged_to(log):
        LOG.info("so far")
        raise error


def test_an_error_that_says_all_ends_the_job_with_its_message(tmp_path):
    with pytest.raises(SystemExit, match=r"^delete it$"):
        fails(tmp_path / "new/job.log", ResultError("delete it"))
    lines = (tmp_path / "new/job.log").read_text().splitlines()
    assert [line.split(maxsplit=2)[2] for line in lines] == ["INFO so far", "ERROR delete it"]


def test_the_message_is_not_said_twice_where_the_terminal_shows_the_log(tmp_path, monkeypatch):
    monkeypatch.setenv(SHOWN, "1")
    with pytest.raises(SystemExit, match=r"^1$"):
        fails(tmp_path / "job.log", ResultError("delete it"))
    assert "delete it" in (tmp_path / "job.log").read_text()


def test_any_other_error_keeps_its_traceback(tmp_path):
    with pytest.raises(ZeroDivisionError):
        fails(tmp_path / "job.log", ZeroDivisionError("by 0"))
    assert "Traceback" in (tmp_path / "job.log").read_text()
    assert not LOG.handlers


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
@pytest.mark.parametrize("shown", [True, False])
def test_a_log_on_a_full_disk_keeps_silent(capfd, monkeypatch, shown):
    if shown:
        monkeypatch.setenv(SHOWN, "1")
    with pytest.raises(SystemExit, match="free some space"):
        fails("/dev/full", ResultError("free some space"))
    assert capfd.readouterr().err == ""
