"""Titles, authors and years of the papers, from ``CITATION.cff``."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import yaml

from finitewidth.common.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class Citation:
    """The reference of a paper."""

    title: str
    authors: str
    year: int
    url: str


def read_citations(file: str | Path, papers: Collection[str]) -> dict[str, Citation]:
    """Return short name -> reference of each paper, whose ``notes`` must contain the name."""
    whole = yaml.safe_load(Path(file).read_text(encoding="utf-8"))
    found = {}
    for entry in whole["references"]:
        arxiv = [each["value"].removeprefix("arXiv:") for each in entry.get("identifiers", ())]
        citation = Citation(
            title=" ".join(entry["title"].split()),
            authors=", ".join(author["family-names"] for author in entry["authors"]),
            year=entry["year"],
            url=entry.get("url") or (f"https://arxiv.org/abs/{arxiv[0]}" if arxiv else ""),
        )
        names = set(papers).intersection(re.findall(r"\w+", entry.get("notes", "")))
        found |= dict.fromkeys(names, citation)
    if missing := set(papers) - set(found):
        raise ConfigError(f"{file}: no reference has {', '.join(sorted(missing))} in its notes")
    return found
