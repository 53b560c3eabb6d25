"""Quotes of texts: where words stand, and which copies are recognised. The texts are made up."""

import hashlib

import pytest

from finitewidth.common import texts
from finitewidth.common.texts import Quote, Text, copies, stands_there

LINES = ["The kernel", "", "of a   wide network", "$$a + b$$ and", "  c. The kernel", "grows"]


def quote(line, words):
    """A quote of any text, since only its line and words are compared."""
    return Quote(text="trust", line=line, words=words)


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


@pytest.mark.parametrize(
    ("text", "line", "words"), [("none", 1, "a"), ("trust", 0, "a"), ("trust", 1, " ")]
)
def test_a_quote_needs_a_known_text_a_line_and_words(text, line, words):
    with pytest.raises(ValueError, match=r"one of the texts|needs words"):
        Quote(text=text, line=line, words=words)


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
