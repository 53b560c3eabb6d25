"""What is kept from one start to the next, and what a damaged or read-only place costs: time."""

import json

import pytest

from finitewidth.common import disk_cache as module
from finitewidth.common.disk_cache import remembered


@pytest.fixture
def ending(monkeypatch):
    """Ends the process as far as memory is concerned."""
    registered = []
    monkeypatch.setattr(module.atexit, "register", lambda *call: registered.append(call))

    def end():
        for function, *arguments in registered:
            function(*arguments)
        registered.clear()

    return end


def test_what_is_added_is_known_at_the_next_start(tmp_path, ending):
    file = tmp_path / "new" / "known.json"
    remembered(file)["question"] = ["answer", 1]
    assert not file.exists()
    ending()
    assert remembered(file) == {"question": ["answer", 1]}
    assert [each.name for each in file.parent.iterdir()] == ["known.json"]


def test_nothing_is_written_without_news(tmp_path, ending):
    remembered(tmp_path / "known.json")
    ending()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("content", ["", "{", "3", "[[1]]", "\x00"])
def test_a_damaged_file_is_nothing_known(tmp_path, ending, content):
    file = tmp_path / "known.json"
    file.write_text(content)
    known = remembered(file)
    assert known == {}
    known["q"] = 1
    ending()
    assert json.loads(file.read_text()) == {"q": 1}


def test_a_place_that_cannot_be_written_stops_nobody(tmp_path, ending):
    (tmp_path / "file").write_text("")
    remembered(tmp_path / "file" / "known.json")["q"] = 1
    ending()


def test_the_oldest_go_when_there_are_too_many(tmp_path, ending, monkeypatch):
    monkeypatch.setattr(module, "MOST", 2)
    remembered(tmp_path / "known.json").update(a=1, b=2, c=3)
    ending()
    assert remembered(tmp_path / "known.json") == {"b": 2, "c": 3}
