"""Captions: what an artifact shows, the verdicts on the claims it carries, and its footer.

A template, ``src/finitewidth/papers/<paper>/captions/<artifact>.rst``, is reStructuredText in
paragraphs. ``{{ trust.depth.draws }}`` stands for the value of this setting. There is nothing else
to fill in, and no condition: a caption says nothing about results. Verdicts are added below it. The
comments ``.. claims`` and ``.. footer`` separate the three parts of the written caption, so that
the report and the data package can show each in its place.
"""

import re
import textwrap
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from finitewidth.claims.sentences import sentence_below
from finitewidth.common.number_words import listed
from finitewidth.records import result_files

LINE = 100  # characters
_SETTING = re.compile(r"\{\{\s+([\w.]+)\s+\}\}")


def write_captions(captions: Mapping[str, Mapping[str, Any]], verdicts: Sequence[str]) -> None:
    """Write the captions of a paper's finished artifacts.

    Of each, ``captions`` has ``template`` (a file), ``settings`` (those that the template names),
    ``footer`` (text without a full stop) and ``output`` (the file to write). The tables of
    ``verdicts`` have the claims that these artifacts carry.
    """
    rows = []
    for file in verdicts:
        rows += result_files.read_rows(file, empty=True)
    for artifact, caption in captions.items():
        template = Path(caption["template"]).read_text(encoding="utf-8")
        carried = [row for row in rows if artifact in row["artifacts"].split()]
        claims = [_claim_text(artifact, row) for row in carried]
        text = filled(template, caption["settings"])
        result_files.write_text(caption["output"], written(text, claims, f"{caption['footer']}."))


def _claim_text(artifact: str, row: Mapping[str, Any]) -> str:
    """A claim, its verdict and what decided it, as the caption of an artifact has them."""
    claim = f"Claim {row['claim']} ({row['paper']}, {row['place']}): {row['statement']}"
    return f"{claim} Verdict: {row['verdict']}. {sentence_below(artifact, row)}"


def settings_of(template: str) -> list[str]:
    """The settings that a template names, such as ``trust.depth.draws``, each once."""
    return list(dict.fromkeys(_SETTING.findall(template)))


def filled(template: str, settings: Mapping[str, Any]) -> str:
    """A template with the values of its settings (`settings_of`), its paragraphs wrapped."""
    return in_lines(_SETTING.sub(lambda name: in_words(settings[name[1]]), template))


def in_words(value: Any) -> str:
    """A setting in words: ``20,000``, ``0.00006``, ``100, 200 and 500``; ``none`` of None."""
    if isinstance(value, list | tuple):
        return listed(map(in_words, value)) or "none"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{Decimal(repr(value)).normalize():,f}"
    return "none" if value is None else str(value)


def in_lines(text: str) -> str:
    """Paragraphs wrapped to lines of `LINE` characters, one empty line between them."""
    paragraphs = [" ".join(part.split()) for part in re.split(r"\n\s*\n", text.strip())]
    return "\n\n".join(
        textwrap.fill(part, LINE, break_long_words=False, break_on_hyphens=False)
        for part in paragraphs
    )


def written(text: str, claims: Sequence[str], footer: str) -> str:
    """Return the file of a caption: what is drawn, as reStructuredText, claims and footer.

    Texts of claims have no markup but formulas, which are LaTeX between dollar signs.
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
    """Markup of a text with formulas between dollar signs: words and formulas take turns."""
    parts = text.split("$")
    result = ""
    for index, part in enumerate(parts):
        if index % 2 == 0:
            result += re.sub(r"([\\*`|_])", r"\\\1", part)
            continue
        # an escaped blank where markup could not begin or end otherwise
        before = parts[index - 1][-1:]
        after = parts[index + 1][:1]
        opening = "" if before in " ([" else r"\ "
        closing = "" if after in " .,;:)]" else r"\ "
        result += f"{opening}:math:`{part}`{closing}"
    return result


def _from_rst(text: str) -> str:
    parts = re.split(r"(?:\\ )?:math:`([^`]*)`(?:\\ )?", text)
    parts[::2] = [re.sub(r"\\([\\*`|_])", r"\1", part) for part in parts[::2]]
    return "$".join(parts)
