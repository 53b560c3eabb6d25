"""Quotes of texts: where words stand, and which copies are recognised. The texts are made up."""

import hashlib

import pytest

from finitewidth.common import texts
from finitewidth.common.texts import Quote, Text, copies, quoted, stands_there

LINES = ["The kernel", "", "of a   wide network", "$$a + b$$ and", "  c. The kernel", "grows"]


def quote(line, words):
    """A quote of any text, since only its line and words are compared."""
    return Quote(text="trust", line=line, words=words)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (1, "The kernel"),
        (1, "kernel"),
        (3, "of a wide\nnetwork"),  # blanks and line ends count as one blank
        (1, "kernel of a wide network $$a + b$$"),  # goes on in later lines
        (4, "and c."),
        (6, "grows"),
    ],
)
def test_words_stand_where_they_begin(line, words):
    assert stands_there(quote(line, words), LINES)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (2, "of a wide network"),  # begins on the next line
        (3, "kernel of a wide network"),  # begins on an earlier line
        (1, "grows"),
        (4, "$$a - b$$"),  # another sign
        (1, "the kernel"),  # another letter
        (3, "of awide network"),  # a blank is missing
        (7, "grows"),  # there is no such line
    ],
)
def test_words_do_not_stand_elsewhere(line, words):
    assert not stands_there(quote(line, words), LINES)


def test_words_go_on_for_a_few_lines_only():
    lines = ["one", *[""] * 3, "two"]
    assert stands_there(quote(1, "one two"), lines, span=4)
    assert not stands_there(quote(1, "one two"), lines, span=3)


@pytest.mark.parametrize(
    ("text", "line", "words"), [("none", 1, "a"), ("trust", 0, "a"), ("trust", 1, " ")]
)
def test_a_quote_needs_a_known_text_a_line_and_words(text, line, words):
    with pytest.raises(ValueError, match=r"one of the texts|needs words"):
        Quote(text=text, line=line, words=words)


def test_quotes_of_one_text_are_made_from_lines_and_words():
    assert quoted("trust", (1, "a"), (2, "b")) == (quote(1, "a"), quote(2, "b"))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with one known text under an unknown name, and with another file."""
    content = "first\nsécond\n".encode()
    known = Text(
        title="made up",
        papers=("trust",),
        transcribed=False,
        sha256=hashlib.sha256(content).hexdigest(),
    )
    monkeypatch.setattr(texts, "known_texts", lambda: {"made_up": known})
    (tmp_path / "any name.txt").write_bytes(content)
    (tmp_path / "changed.txt").write_bytes(content + b" ")
    (tmp_path / "folder").mkdir()
    return tmp_path


def test_a_copy_is_recognised_by_its_content(folder, monkeypatch):
    monkeypatch.delenv(texts.FOLDER, raising=False)
    assert copies() == {}
    assert copies(folder) == {"made_up": ["first", "sécond", ""]}
    monkeypatch.setenv(texts.FOLDER, str(folder))
    assert copies() == {"made_up": ["first", "sécond", ""]}


def test_a_changed_copy_or_a_missing_folder_has_no_texts(folder):
    (folder / "any name.txt").unlink()
    assert copies(folder) == {}
    assert copies(folder / "nothing") == {}
