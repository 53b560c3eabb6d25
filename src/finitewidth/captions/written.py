"""The written caption of an artifact: what is drawn, verdicts on its claims, and its footer.

It is reStructuredText. The comments ``.. claims`` and ``.. footer`` separate the three parts, so
that the report and the data package can show each in its place.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from finitewidth.captions.template import in_lines


def written(text: str, claims: Sequence[str], footer: str) -> str:
    """Return the file of a caption.

    Args:
        text: what is drawn, reStructuredText.
        claims: a text for each claim that the artifact carries, without markup but for formulas,
            which are LaTeX between dollar signs.
        footer: the line below it, with a full stop.
    """
    parts = [text]
    parts += [".. claims", *(in_lines(_as_rst(claim)) for claim in claims)] if claims else []
    return "\n\n".join([*parts, ".. footer", in_lines(footer)]) + "\n"


def what_is_drawn(file: str | Path) -> str:
    """Return the first part of a caption of a run; empty if there is no such file."""
    return _parts(file)[0]


def claims_below(file: str | Path) -> list[str]:
    """Return the claims below a caption of a run, each as it was given to `written`."""
    return [_from_rst(" ".join(claim.split())) for claim in _parts(file)[1].split("\n\n") if claim]


def _parts(file: str | Path) -> tuple[str, str]:
    """What is drawn, and the claims; empty if there is no such file."""
    if not Path(file).is_file():
        return "", ""
    above = Path(file).read_text(encoding="utf-8").partition("\n.. footer\n")[0]
    text, _, claims = above.partition("\n.. claims\n")
    return text.strip(), claims.strip()


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
