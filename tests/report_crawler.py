"""Follows every link, picture, script and style of the report's pages, without a browser."""

from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bs4 import BeautifulSoup

LOADED = {"img": "src", "script": "src", "link": "href"}  # fetched with the page


@cache
def soup(page: Path) -> BeautifulSoup:
    """A page, parsed."""
    return BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")


@cache
def marks(page: Path) -> frozenset[str]:
    """What a link into a page may name."""
    return frozenset(element["id"] for element in soup(page).find_all(id=True))


def faults(folder: Path) -> list[str]:
    """What is broken in a report: a line per dead link, foreign file and picture without words."""
    folder = folder.resolve()
    found = []
    for page in sorted(folder.glob("*.html")):
        for element in soup(page).find_all(["a", *LOADED]):
            address = element.get(LOADED.get(element.name, "href"))
            if address:
                found += _faults(folder, page, element.name, address)
        for picture in soup(page).find_all("img"):
            if not picture.get("alt", "").strip():
                found.append(f"{page.name}: no words for {picture.get('src')}")
    return found


def _faults(folder: Path, page: Path, kind: str, address: str) -> list[str]:
    parts = urlsplit(address)
    where = f"{page.name}: {address}"
    if parts.scheme in ("http", "https") or parts.netloc:
        return [f"{where} is loaded from elsewhere"] if kind in LOADED else []
    if parts.scheme:
        return [f"{where} is no relative address"]
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if not target.is_file() or folder not in target.parents:
        return [f"{where} leads nowhere"]
    if parts.fragment and target.suffix == ".html" and parts.fragment not in marks(target):
        return [f"{where}: no such mark"]
    return []
