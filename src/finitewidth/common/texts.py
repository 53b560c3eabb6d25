"""The texts of the papers that quotes are taken from, and where a reader's copies of them lie.

The texts are not part of this project. If the environment variable ``FINITEWIDTH_PAPERS`` names a
folder with them, tests compare every quote with its line. A copy is recognised by the digest of its
content, because lines are numbered as in that copy; its name does not matter.
"""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

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


TEXTS = {
    "npf": Text(
        title="npf, final version (2020), with the paper's LaTeX",
        papers=("npf", "npf0"),
        transcribed=False,
        sha256="806d7530e574cdef0e44a6f6f2ca0529a4b48a785a8dbc022c4d5927e9a4be74",
    ),
    "npf0": Text(
        title="npf, earlier version (2020), with the paper's LaTeX",
        papers=("npf", "npf0"),
        transcribed=False,
        sha256="769bac91ca5f33181407d6114e4bd0309b5d7f04dece61d4c5321752b935b7b4",
    ),
    "dgn": Text(
        title="dgn (2020), from the text layer of its pages, formulas broken over lines",
        papers=("dgn",),
        transcribed=False,
        sha256="0e273fc6066b07ed7935e286466190d0caf0c32ce18c67fecda59d90ab23fe4a",
    ),
    "trust": Text(
        title="trust (2021), with the paper's LaTeX",
        papers=("trust",),
        transcribed=False,
        sha256="25a0f4da860a32fcf7d2c6e1f1311958a4f13ad60ee763440220ee62b4b2ef3d",
    ),
    "thesis": Text(
        title="thesis (2024), with trust, beyond and collapse as published; character recognition",
        papers=("thesis", "trust", "beyond", "collapse"),
        transcribed=True,
        sha256="7a50ab7b1672e38e7a46fb73c4893d2cea6b218389142681a06ba5c773099229",
    ),
}


@dataclass(frozen=True, kw_only=True)
class Quote:
    """Words of a paper, and where they stand.

    Attributes:
        text: key of `TEXTS`.
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
        if self.text not in TEXTS:
            raise ValueError(f"{self.text!r} is not one of the texts {', '.join(TEXTS)}")
        if self.line < 1 or not self.words.strip():
            raise ValueError(f"a quote needs words and a line from 1: {self}")


def quoted(text: str, *places: tuple[int, str]) -> tuple[Quote, ...]:
    """Quotes of one text, each given as its line and its words."""
    return tuple(Quote(text=text, line=line, words=words) for line, words in places)


def copies(folder: str | Path | None = None) -> Mapping[str, list[str]]:
    """The lines of the texts that a folder has.

    Args:
        folder: with the copies; if it is None, that of ``FINITEWIDTH_PAPERS``.

    Returns:
        Key of `TEXTS` -> lines, for every text with a copy of the right content.
    """
    folder = folder or os.environ.get(FOLDER)
    if not folder or not Path(folder).is_dir():
        return {}
    known = {text.sha256: key for key, text in TEXTS.items()}
    found = {}
    for file in sorted(Path(folder).iterdir()):
        if file.is_file():
            content = file.read_bytes()
            key = known.get(hashlib.sha256(content).hexdigest())
            if key:
                found[key] = content.decode("utf-8").split("\n")
    return found


def stands_there(quote: Quote, lines: list[str], span: int = 12) -> bool:
    """Whether the words begin on their line, and end there or within ``span`` lines that follow.

    All white space counts as one blank. A line behind the last one has no words.
    """
    if quote.line > len(lines):
        return False
    wanted = " ".join(quote.words.split())
    first = " ".join(lines[quote.line - 1].split())
    rest = " ".join(" ".join(lines[quote.line : quote.line + span]).split())
    start = f"{first} {rest}".find(wanted)
    return 0 <= start <= len(first)
