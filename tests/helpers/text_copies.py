"""The reader's copies of the papers' texts, with which quotes are compared.

A copy is recognised by the digest of its content, because lines are numbered as in that copy; its
name does not matter.
"""

import hashlib
import os
from pathlib import Path

from finitewidth.declarations.paper_files import COPIES, Quote, known_texts


def copies() -> dict[str, list[str]]:
    """Key of a known text -> its lines, for every copy in the folder of ``FINITEWIDTH_PAPERS``."""
    folder = os.environ.get(COPIES)
    if not folder or not Path(folder).is_dir():
        return {}
    known = {text.sha256: key for key, text in known_texts().items()}
    contents = [file.read_bytes() for file in sorted(Path(folder).iterdir()) if file.is_file()]
    digests = [hashlib.sha256(content).hexdigest() for content in contents]
    return {
        known[digest]: content.decode("utf-8").split("\n")
        for digest, content in zip(digests, contents, strict=True)
        if digest in known
    }


def stands_there(quote: Quote, lines: list[str], span: int = 12) -> bool:
    """Whether the words begin on their line, and end there or within ``span`` lines that follow.

    All white space counts as one blank. A line behind the last one has no words.
    """
    if quote.line > len(lines):
        return False
    words = " ".join(quote.words.split())
    first = " ".join(lines[quote.line - 1].split())
    rest = " ".join(" ".join(lines[quote.line : quote.line + span]).split())
    start = f"{first} {rest}".find(words)
    return 0 <= start <= len(first)
