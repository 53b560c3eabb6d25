"""How the tests render a caption, and what no rendered caption may look like."""

import io
import re
from pathlib import Path

from docutils.core import publish_doctree

from finitewidth.captions.facts import facts_of
from finitewidth.captions.render import Context, Judged, render

ROOT = Path(__file__).parents[2]
FOOTER = "preset test · 3 runs"


def template_of(artifact):
    """The text of a template."""
    return (ROOT / f"workflow/report/{artifact}.rst").read_text(encoding="utf-8")


def caption_of(artifact, tables, verdicts=()):
    """The caption of an artifact with these tables and verdicts (words, or `Judged`)."""
    told = {
        claim: verdict if isinstance(verdict, Judged) else Judged(verdict)
        for claim, verdict in dict(verdicts).items()
    }
    context = Context(facts_of(artifact, tables), told, FOOTER)
    return render(template_of(artifact), artifact, context)


def refuse_flaws(caption):
    """No trace of a missing number or of a template, and no fault that docutils sees."""
    assert not re.search(r"\b(nan|inf|None|True|False|np\.)\b|[{}]|\[\]", caption), caption
    for paragraph in caption.split("\n\n"):
        flat = paragraph.replace("\n", " ")
        assert not re.search(r" [.,;:)]|\( |  |\.\.|,,", flat), flat
    assert caption.endswith(f"\n\n{FOOTER}.\n")
    heard = io.StringIO()
    publish_doctree(caption, settings_overrides={"warning_stream": heard, "report_level": 1})
    assert not heard.getvalue()
