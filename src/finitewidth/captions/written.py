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
        claims: a text for each claim that the artifact carries, without markup but for formulas,
            which are LaTeX between dollar signs.
        footer: the line below it, with a full stop.
    """

    text: str = ""
    claims: Sequence[str] = ()
    footer: str = ""

    def as_file(self) -> str:
        """All parts as reStructuredText."""
        claims = [in_lines(_as_rst(claim)) for claim in self.claims]
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
        claims=tuple(map(_from_rst, paragraphs)),
        footer=" ".join(footer.split()),
    )


def _as_rst(text: str) -> str:
    parts = text.split("$")
    for place, part in enumerate(parts[1::2]):
        before, after = parts[2 * place][-1:], parts[2 * place + 2][:1]
        opened = "" if before in " ([" else r"\ "  # otherwise no markup begins or ends there
        closed = "" if after in " .,;:)]" else r"\ "
        parts[2 * place + 1] = f"{opened}:math:`{part}`{closed}"
    parts[::2] = [re.sub(r"([\\*`|_])", r"\\\1", part) for part in parts[::2]]
    return "".join(parts)


def _from_rst(text: str) -> str:
    parts = re.split(r"(?:\\ )?:math:`([^`]*)`(?:\\ )?", text)
    parts[::2] = [re.sub(r"\\([\\*`|_])", r"\1", part) for part in parts[::2]]
    return "$".join(parts)
