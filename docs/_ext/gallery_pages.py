"""The gallery: every table and figure of the last quick run, with its verdicts."""

import csv
import html
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from finitewidth.captions.written import read_caption
from finitewidth.claims.sentences import decisive_sentence
from finitewidth.common.declarations import Artifact, Paper, read_papers
from finitewidth.report import captions
from finitewidth.report.citations import read_citations
from finitewidth.report.formatting import sign, tone
from finitewidth.report.formulas import in_html, label_in_html
from finitewidth.report.tables import markdown_in_html

PICTURES = "pictures"  # in the folder of generated pages; kept from build to build
WIDTH, SMALL = 1300, 480  # pixels of the pictures on the pages and of the thumbnails
ABSENT = (
    "There is no run at preset `quick` in `results/quick`, so there is nothing to show here. "
    "Run `make`, or `finitewidth run` for some artifacts, and build the documentation again.\n"
)


@dataclass(frozen=True)
class Shown:
    """An artifact of the run.

    Attributes:
        artifact: its declaration.
        picture: PNG file of a figure; None for a table.
        table: Markdown file of a table; None for a figure.
        caption: what is drawn, and the footer, as reStructuredText; empty if there is none.
        claims: the rows of the verdicts that refer to it.
    """

    artifact: Artifact
    picture: Path | None
    table: Path | None
    caption: str
    claims: tuple[dict[str, str], ...]

    @property
    def href(self) -> str:
        """Address on the page of its paper."""
        return f"{self.artifact.paper}.html#{self.artifact.artifact.replace('_', '-')}"


def shown(paper: Paper, results: Path) -> list[Shown]:
    """Return the artifacts of a paper that the run has made, in the order of the declarations."""
    claims = _claims(results / "claims" / f"{paper.name}_verdicts.csv")
    found = []
    for artifact in paper.artifacts:
        name, folder = artifact.artifact, results / paper.name
        picture = folder / "figures" / f"{name}.png"
        table = folder / "tables" / f"{name}.md"
        if not (picture.is_file() or table.is_file()):
            continue
        caption = read_caption(folder / "captions" / f"{name}.rst")
        found.append(Shown(
            artifact=artifact, picture=picture if picture.is_file() else None,
            table=table if table.is_file() else None,
            caption=f"{caption.text}\n\n{caption.footer}".strip(),
            claims=tuple(row for row in claims if name in row["artifacts"].split()),
        ))  # fmt: skip
    return found


def _claims(file: Path) -> list[dict[str, str]]:
    if not file.is_file():
        return []
    with file.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def write(root: Path, folder: Path, results: Path) -> None:
    """Write ``gallery/index.md`` and one page per paper; a sentence where there is no run."""
    gallery = folder / "gallery"
    gallery.mkdir(exist_ok=True)
    papers = [(p, found) for p in read_papers(root / "workflow/papers")
              if (found := shown(p, results))]  # fmt: skip
    if not papers:
        (gallery / "index.md").write_text(f"# Gallery\n\n{ABSENT}", encoding="utf-8")
        return
    citations = read_citations(root / "CITATION.cff", [paper.name for paper, _ in papers])
    pictures = folder / PICTURES
    pictures.mkdir(exist_ok=True)
    titles = {paper.name: citations[paper.name].title for paper, _ in papers}
    for paper, found in papers:
        for each in found:
            if each.picture:
                _shrink(each.picture, pictures)
        text = "\n".join(_page(paper, titles[paper.name], found))
        (gallery / f"{paper.name}.rst").write_text(text, encoding="utf-8")
    (gallery / "index.rst").write_text("\n".join(_index(papers, titles)), encoding="utf-8")


def _shrink(picture: Path, folder: Path) -> None:
    """Write a picture for the page and a thumbnail, unless they are newer than the picture."""
    from PIL import Image

    wanted = {folder / f"{picture.stem}.webp": WIDTH, folder / f"{picture.stem}_small.webp": SMALL}
    made = picture.stat().st_mtime
    if all(file.is_file() and file.stat().st_mtime > made for file in wanted):
        return
    with Image.open(picture) as image:
        whole = Image.new("RGB", image.size, "white")
        whole.paste(image, mask=image.getchannel("A") if "A" in image.getbands() else None)
    for file, width in wanted.items():
        size = (min(width, whole.width), round(whole.height * min(1, width / whole.width)))
        whole.resize(size, Image.Resampling.LANCZOS, reducing_gap=2).save(file, quality=85)


def _index(papers: list[tuple[Paper, list[Shown]]], titles: dict[str, str]) -> list[str]:
    made = sum(not each.artifact.extra for _, found in papers for each in found)
    more = sum(each.artifact.extra for _, found in papers for each in found)
    lines = [
        ":html_theme.sidebar_secondary.remove: true", "", "Gallery", "=======", "",
        f"These are {made} numbered tables and figures of the papers, and {more} additional ones, "
        "from the last run at preset ``quick``. That preset uses small networks, and bundled "
        "images stand in for the datasets of the papers: the line at the end of each caption says "
        "what was used. :doc:`Verdicts </verdicts>` explains the verdicts.", "",
        ".. toctree::", "   :hidden:", "",
        *(f"   {paper.name} <{paper.name}>" for paper, _ in papers), "",
    ]  # fmt: skip
    for paper, found in papers:
        title = f"{paper.name}: {titles[paper.name]}"
        cards = "".join(_card(each) for each in found)
        lines += [title, "-" * 2 * len(title), "",
                  *_raw(f'<div class="fw-gallery">{cards}</div>')]  # fmt: skip
    return lines


def _card(each: Shown) -> str:
    a = each.artifact
    picture = '<span class="fw-kind" aria-hidden="true">table</span>'
    if each.picture:
        source = f"../../_images/{each.picture.stem}_small.webp"
        picture = f'<img src="{source}" alt="" loading="lazy">'
    counts = Counter(row["verdict"] for row in each.claims)
    badges = " ".join(_badge(word, f"{count} ") for word, count in counts.items())
    return (
        f'<a class="fw-card" href="{each.href}">{picture}'
        f"<strong>{html.escape(a.label)}</strong> {html.escape(a.title)}"
        f'<span class="fw-badges">{badges}</span></a>'
    )


def _badge(word: str, before: str = "") -> str:
    return (
        f'<span class="fw-badge fw-{tone(word)}"><span aria-hidden="true">{sign(word)}</span> '
        f"{before}{html.escape(word)}</span>"
    )


def _page(paper: Paper, title: str, found: list[Shown]) -> list[str]:
    heading = f"{paper.name}: {title}"
    lines = [heading, "=" * 2 * len(heading), ""]
    for each in found:
        a = each.artifact
        name = f"{a.label}: {a.title}"
        escaped = "".join(f"\\{s}" if s in r"\*`|_" else s for s in name)
        lines += [f".. _{a.artifact}:", "", escaped, "-" * 2 * len(escaped), ""]
        if each.picture:
            lines += _figure(each)
        elif each.table:
            table = markdown_in_html(each.table)
            lines += _raw(f'<div class="fw-wide" tabindex="0">{table}</div>')
        if each.caption and a.kind == "figure":
            lines += [each.caption, ""]
        lines += [f"``finitewidth run {a.artifact}`` makes it; ``results/quick/{paper.name}/"
                  f"{a.kind}s/{a.artifact}.*`` are its files.", ""]  # fmt: skip
        if each.claims:
            lines += _raw(_verdicts(each.claims))
    return lines


def _figure(each: Shown) -> list[str]:
    text = f"{each.artifact.label}: {each.artifact.title}"
    whole = f"/generated/{PICTURES}/{each.picture.stem}.webp"
    small = f"/generated/{PICTURES}/{each.picture.stem}_small.webp"
    return [f".. image:: {whole}", f"   :alt: {text}. {captions.as_text(each.caption)}", "",
            # so that Sphinx copies the thumbnail, which the index shows
            f".. image:: {small}", "   :alt:", "   :class: fw-copied", ""]  # fmt: skip


def _verdicts(claims: tuple[dict[str, str], ...]) -> str:
    items = "".join(
        f"<li>{_badge(row['verdict'])} <strong>{row['claim']}</strong> "
        f'{in_html(row["statement"])} <span class="fw-muted">'
        f"{in_html(row['place'])}. {label_in_html(decisive_sentence(row))}</span></li>"
        for row in claims
    )
    return f'<ul class="fw-verdicts">{items}</ul>'


def _raw(text: str) -> list[str]:
    return [".. raw:: html", "", *(f"   {line}" for line in text.splitlines()), ""]
