"""Quotes of texts: where words stand. The texts are made up."""

import pytest
from tests.helpers.text_copies import stands_there

from finitewidth.declarations.paper_files import Quote

LINES = ["The kernel", "", "of a   wide network", "$$a + b$$ and", "  c. The kernel", "grows"]


def quote(line, words):
    """A quote of any text, since only its line and words are compared."""
    return Quote(text="trust", line=line, words=words)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (2, "of a wide network"),  # begins on the next line
        (3, "kernel of a wide network"),  # begins on an earlier line
        (4, "$$a - b$$"),  # another sign
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
