"""A run that may not open enough files, or start enough processes, is refused with a remedy."""

import resource
import threading

import pytest

from finitewidth.common.errors import ResultError
from finitewidth.pipeline import limits


def test_enough_is_enough():
    before = threading.active_count()
    limits.refuse_low_limits(cores=8)
    assert threading.active_count() == before


def test_few_open_files_are_refused(monkeypatch):
    monkeypatch.setattr(resource, "getrlimit", lambda _: (20, 4096))
    with pytest.raises(ResultError, match=r"allows 20 open files, .*: ulimit -n 1024"):
        limits.refuse_low_limits(cores=1)


def test_no_limit_is_no_low_limit(monkeypatch):
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY,) * 2)
    limits.refuse_low_limits(cores=1)


def test_few_threads_are_refused_and_none_is_left(monkeypatch):
    start, before, room = threading.Thread.start, threading.active_count(), iter(range(3))

    def limited(thread):
        if next(room, None) is None:
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", limited)
    with pytest.raises(ResultError, match=r"6 threads cannot be started: .*ulimit -u is -?\d+"):
        limits.refuse_low_limits(cores=2)
    assert threading.active_count() == before
