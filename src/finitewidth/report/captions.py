"""Captions, reStructuredText in our words: as HTML, and as plain text in place of a figure."""

import re
from pathlib import Path


def read_caption(file: str | Path, footer: str) -> str:
    """The caption as the run wrote it, without the footer at its end; empty if there is none."""
    if not Path(file).is_file():
        return ""
    return Path(file).read_text(encoding="utf-8").strip().removesuffix(f"{footer}.").strip()


def as_html(caption: str) -> str:
    """The caption as paragraphs of HTML."""
    from docutils.core import publish_parts

    settings = {"report_level": 5, "file_insertion_enabled": False, "raw_enabled": False}
    return publish_parts(caption, writer="html5", settings_overrides=settings)["body"]


def as_text(caption: str) -> str:
    """The caption as one line of plain text, for those who do not see the figure."""
    text = re.sub(r":\w+:`([^`]*)`", r"\1", caption)
    return " ".join(text.replace("``", "").replace("*", "").split())
