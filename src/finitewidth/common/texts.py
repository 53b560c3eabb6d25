"""The texts of the papers that quotes are taken from, and where a reader's copies of them lie.

The texts are not part of this project; ``src/finitewidth/papers/<paper>/text.yaml`` describes one.
If the environment variable ``FINITEWIDTH_PAPERS`` names a folder with them, tests compare every
quote with its line (``tests/copies.py``).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from finitewidth.common.provenance import SOURCE_ROOT
from finitewidth.common.settings import read_yaml

FOLDER = "FINITEWIDTH_PAPERS"


@dataclass(frozen=True, kw_only=True)
class Text:
    """One copy of one or several papers as plain text.

    Attributes:
        title: what it is a copy of, in words.
        papers: keys of the papers that it contains, or of another version of which it is one.
        transcribed: whether it was read from pictures of pages, so that a wrong sign, index, bar or
            power in it may be a mistake of the transcription.
        sha256: digest of its bytes.
    """

    title: str
    papers: tuple[str, ...]
    transcribed: bool
    sha256: str


@cache
def known_texts() -> Mapping[str, Text]:
    """All texts: the paper whose folder has a file ``text.yaml`` -> what this file says."""
    texts = {}
    for file in sorted((SOURCE_ROOT / "finitewidth/papers").glob("*/text.yaml")):
        paper = file.parent.name
        values = {"papers": (paper,), **read_yaml(file)}
        texts[paper] = Text(**{**values, "papers": tuple(values["papers"])})
    return texts


@dataclass(frozen=True, kw_only=True)
class Quote:
    """Words of a paper, and where they stand.

    Attributes:
        text: key of `known_texts`.
        line: number of the line that the words begin on, from 1.
        words: the words as that copy has them, markup included. They may go on in later lines; all
            white space counts as one blank.

    Raises:
        ValueError: the text is unknown, the line is below 1, or there are no words.
    """

    text: str
    line: int
    words: str

    def __post_init__(self) -> None:
        if self.text not in known_texts():
            raise ValueError(f"{self.text!r} is not one of the texts {', '.join(known_texts())}")
        if self.line < 1 or not self.words.strip():
            raise ValueError(f"a quote needs words and a line from 1: {self}")
