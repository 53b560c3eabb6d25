"""Check every link, image, script and style of the report or the site, without a browser."""

from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bs4 import BeautifulSoup

LOADED = {"img": "src", "script": "src", "link": "href"}  # loaded with the page


@cache
def soup(page: Path) -> BeautifulSoup:
    """Parse a page."""
    return BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")


@cache
def marks(page: Path) -> frozenset[str]:
    """Return the anchors of a page."""
    return frozenset(element["id"] for element in soup(page).find_all(id=True))


def faults(folder: Path) -> list[str]:
    """Return one line per dead link, file from another server, and image without a text."""
    folder = folder.resolve()
    found = []
    for page in sorted(set(folder.rglob("*.html")) - set(folder.rglob("_static/*.html"))):
        for element in soup(page).find_all(["a", *LOADED]):
            address = element.get(LOADED.get(element.name, "href"))
            if address:
                found += _faults(folder, page, element.name, address)
        for picture in soup(page).find_all("img"):
            if not picture.get("alt", "").strip():
                found.append(f"{page.name}: no alternative text for {picture.get('src')}")
    return found


def _faults(folder: Path, page: Path, kind: str, address: str) -> list[str]:
    parts = urlsplit(address)
    where = f"{page.name}: {address}"
    if parts.scheme in ("http", "https") or parts.netloc:
        return [f"{where} is loaded from another server"] if kind in LOADED else []
    if parts.scheme:
        return [f"{where} is not a relative address"]
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if not target.is_file() or folder not in target.parents:
        return [f"{where} does not exist"]
    if parts.fragment and target.suffix == ".html" and parts.fragment not in marks(target):
        return [f"{where}: there is no such anchor"]
    return []
