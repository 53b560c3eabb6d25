"""The written caption of an artifact: what is drawn, verdicts on its claims, and its footer.

It is reStructuredText. The comments ``.. claims`` and ``.. footer`` separate the three parts, so
that the report and the data package can show each in its place.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from finitewidth.captions.template import in_lines

_CLAIMS, _FOOTER = "\n.. claims\n", "\n.. footer\n"


@dataclass(frozen=True, kw_only=True)
class Caption:
    """The parts of a caption.

    Attributes:
        text: what is drawn, reStructuredText.
        claims: a text for each claim that the artifact carries, without markup.
        footer: the line below it, with a full stop.
    """

    text: str = ""
    claims: Sequence[str] = ()
    footer: str = ""

    def as_file(self) -> str:
        """All parts as reStructuredText."""
        claims = [in_lines(re.sub(r"([\\*`|_])", r"\\\1", claim)) for claim in self.claims]
        parts = [self.text]
        parts += [_CLAIMS.strip(), *claims] if claims else []
        return "\n\n".join([*parts, _FOOTER.strip(), in_lines(self.footer)]) + "\n"


def read_caption(file: str | Path) -> Caption:
    """Read a caption that was written by a run; it is empty if there is no such file."""
    if not Path(file).is_file():
        return Caption()
    above, _, footer = Path(file).read_text(encoding="utf-8").partition(_FOOTER)
    text, _, claims = above.partition(_CLAIMS)
    paragraphs = [" ".join(part.split()) for part in claims.strip().split("\n\n") if part]
    return Caption(
        text=text.strip(),
        claims=tuple(re.sub(r"\\([\\*`|_])", r"\1", part) for part in paragraphs),
        footer=" ".join(footer.split()),
    )
