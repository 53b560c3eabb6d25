"""The papers' titles, authors and years, from ``CITATION.cff``."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import yaml

from finitewidth.common.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class Citation:
    """What a reader needs to find a paper."""

    title: str
    authors: str
    year: int
    url: str
    note: str


def read_citations(file: str | Path, papers: Collection[str]) -> dict[str, Citation]:
    """The reference of each of our papers' short names, which stand in its ``notes``.

    Raises:
        ConfigError: the file lacks a paper.
    """
    whole = yaml.safe_load(Path(file).read_text(encoding="utf-8"))
    found = {}
    for reference in whole["references"]:
        for name in re.findall(r"\w+", reference.get("notes", "")):
            if name in papers:
                found[name] = _citation(reference)
    if missing := set(papers) - set(found):
        raise ConfigError(f"{file}: no reference notes {', '.join(sorted(missing))}")
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
