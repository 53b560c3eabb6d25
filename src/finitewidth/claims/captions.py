"""Captions: what an artifact shows, its result, the verdicts on its claims, and its footer.

A template, ``src/finitewidth/papers/<paper>/captions/<artifact>.rst``, is reStructuredText in
paragraphs. ``{{ trust.depth.draws }}`` stands for the value of this setting. There is nothing else
to fill in, and no condition: a template says nothing about results. What this artifact shows is a
sentence that ``result(rows, settings)`` writes from its data file, in the module
``finitewidth.papers.<paper>.results.<renderer>``. Verdicts are added below. The comments
``.. result``, ``.. claims`` and ``.. footer`` separate the parts of the written caption, so that
the report and the data package can show each in its place.
"""

import re
import textwrap
from collections.abc import Mapping, Sequence
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any

from finitewidth.claims.sentences import sentence_below
from finitewidth.common.number_words import listed
from finitewidth.records import result_files, tables
from finitewidth.settings.typed import settings_for

LINE = 100  # characters
PARTS = ("text", "result", "claims", "footer")
_SETTING = re.compile(r"\{\{\s+([\w.]+)\s+\}\}")


def write_captions(captions: Mapping[str, Mapping[str, Any]], verdicts: Sequence[str]) -> None:
    """Write the captions of a paper's finished artifacts.

    Of each, ``captions`` has ``template`` (a file), ``settings`` (those that the template names),
    ``footer`` (text without a full stop), ``output`` (the file to write) and, if the artifact has a
    sentence of result, ``result`` (arguments of `result_of`). The tables of ``verdicts`` have the
    claims that these artifacts carry.
    """
    rows = []
    for file in verdicts:
        rows += result_files.read_rows(file, empty=True)
    for artifact, caption in captions.items():
        template = Path(caption["template"]).read_text(encoding="utf-8")
        carried = [row for row in rows if artifact in row["artifacts"].split()]
        claims = [_claim_text(artifact, row) for row in carried]
        text = filled(template, caption["settings"])
        result = result_of(**caption["result"]) if "result" in caption else ""
        footer = f"{caption['footer']}."
        result_files.write_text(caption["output"], written(text, claims, footer, result))


def result_of(module: str, renderer: str, data: str, settings: Mapping[str, Any]) -> str:
    """The sentence on what an artifact shows, from its data file.

    Args:
        module: with the function ``result``.
        renderer: of the artifact.
        data: its data file.
        settings: those of the renderer.
    """
    rows = tables.read(data, import_module(renderer).TABLE)
    function = import_module(module).result
    return function(rows, settings_for(function, settings))


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


def written(text: str, claims: Sequence[str], footer: str, result: str = "") -> str:
    """Return the file of a caption: text as reStructuredText, result, claims and footer.

    The result and the claims have no markup but formulas, which are LaTeX between dollar signs.
    """
    parts = [text]
    parts += [".. result", in_lines(_as_rst(result))] if result else []
    parts += [".. claims", *(in_lines(_as_rst(claim)) for claim in claims)] if claims else []
    return "\n\n".join([*parts, ".. footer", in_lines(footer)]) + "\n"


def what_is_drawn(file: str | Path) -> str:
    """Return the first part of a caption of a run; empty if there is no such file."""
    return _parts(file)["text"]


def result_below(file: str | Path) -> str:
    """Return the sentence of result of a caption of a run; empty if it has none."""
    return _from_rst(" ".join(_parts(file)["result"].split()))


def claims_below(file: str | Path) -> list[str]:
    """Return the claims below a caption of a run, each as it was given to `written`."""
    claims = _parts(file)["claims"].split("\n\n")
    return [_from_rst(" ".join(claim.split())) for claim in claims if claim]


def _parts(file: str | Path) -> dict[str, str]:
    """Name -> part of a caption of a run: ``text``, ``result``, ``claims``, ``footer``."""
    parts = dict.fromkeys(PARTS, "")
    if not Path(file).is_file():
        return parts
    name = "text"
    for line in Path(file).read_text(encoding="utf-8").splitlines():
        if line.startswith(".. ") and line[3:] in PARTS:
            name = line[3:]
        else:
            parts[name] += f"{line}\n"
    return {name: part.strip() for name, part in parts.items()}


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
