"""What the search of the report reads: the text of every section, claim and erratum."""

import json
import re
from collections.abc import Iterable
from html.parser import HTMLParser
from pathlib import Path

from finitewidth.report.page import Page

SKIPPED = {"pre", "script", "style", "svg"}
# a word ends where one of these begins
BLOCKS = {"p", "div", "li", "dt", "dd", "td", "th", "tr", "summary", "h2", "h3", "figcaption",
          "span", "code", "a", "strong", "button", "details"}  # fmt: skip


class _Text(HTMLParser):
    """Cut the text of a piece of HTML at its articles: a list of (id, label, text)."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str, list[str]]] = [("", "", [])]
        self.skipped = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = dict(attrs)
        if tag == "article" and told.get("id"):
            self.found.append((str(told["id"]), str(told.get("aria-label") or ""), []))
        elif tag == "math":
            self.found[-1][2].append(str(told.get("alttext") or ""))
        if tag in SKIPPED or tag == "math":
            self.skipped += 1
        elif tag in BLOCKS:
            self.found[-1][2].append(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag in SKIPPED or tag == "math":
            self.skipped -= 1
        elif tag == "code":
            self.found[-1][2].append(" ")
        elif tag == "article":
            self.found.append(("", "", []))

    def handle_data(self, data: str) -> None:
        if not self.skipped:
            self.found[-1][2].append(data)


def pieces(html: str) -> list[tuple[str, str, str]]:
    """Return (id, label, text) of every article in a piece of HTML, and of what is outside."""
    parser = _Text()
    parser.feed(html)
    parser.close()
    found, outside = [], []
    for anchor, label, texts in parser.found:
        text = re.sub(r"\s+", " ", "".join(texts)).strip()
        text = re.sub(r" ([,.;:)])", r"\1", text)
        if anchor:
            found.append((anchor, label, text))
        else:
            outside.append(text)
    rest = " ".join(outside).strip()
    return [("", "", rest), *found] if rest else found


def entries(page: Page) -> list[dict[str, str]]:
    """Return what can be found on a page: address, title, page and text of each piece."""
    found = []
    for section in page.sections:
        for mark, label, text in pieces(section.html):
            place = mark or section.anchor
            found.append({
                "href": f"{page.name}.html#{place}" if place else f"{page.name}.html",
                "title": label or section.title or page.title, "page": page.title, "text": text,
            })  # fmt: skip
    return found


def write_index(file: Path, found: Iterable[dict[str, str]]) -> None:
    """Write the entries as a script, since browsers read no data from files on disk."""
    text = json.dumps(list(found), ensure_ascii=False, separators=(",", ":"))
    file.write_text(f"window.searchEntries = {text};\n", encoding="utf-8")
