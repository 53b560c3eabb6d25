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
    note: str


def read_citations(file: str | Path, papers: Collection[str]) -> dict[str, Citation]:
    """Return the reference of each paper; its ``notes`` must contain the short name.

    Args:
        file: ``CITATION.cff``.
        papers: short names, such as ``npf``.

    Raises:
        ConfigError: the file has no reference for one of the papers.
    """
    whole = yaml.safe_load(Path(file).read_text(encoding="utf-8"))
    found = {}
    for reference in whole["references"]:
        for name in re.findall(r"\w+", reference.get("notes", "")):
            if name in papers:
                found[name] = _citation(reference)
    if missing := set(papers) - set(found):
        raise ConfigError(f"{file}: no reference has {', '.join(sorted(missing))} in its notes")
    return found


def _citation(reference: dict) -> Citation:
    arxiv = [entry["value"].removeprefix("arXiv:") for entry in reference.get("identifiers", ())]
    return Citation(
        title=" ".join(reference["title"].split()),
        authors=", ".join(author["family-names"] for author in reference["authors"]),
        year=reference["year"],
        url=reference.get("url") or (f"https://arxiv.org/abs/{arxiv[0]}" if arxiv else ""),
        note=reference["notes"],
    )
