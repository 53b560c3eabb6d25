"""The gallery of all tables and figures, with the pictures of a run of this checkout.

`make docs` takes the pictures and captions of ``results/quick`` or, where there is none, of the
first preset that was run. Without a run, the pages are the same without pictures.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from finitewidth.claims.captions import result_below, what_is_drawn
from finitewidth.declarations.papers import Artifact, Paper
from finitewidth.report.formulas import as_text, first_sentence

RUNS = ("quick", "laptop", "paper", "smoke")  # the first that was made
# pictures of a quick run that are in the repository, for these pages and README -> artifact
BUNDLED = {
    "npf_fig3.png": "npf_fig3",
    "finding_decay.png": "collapse_extra_decay",
    "finding_flow.png": "collapse_extra_flow",
    "finding_shapes.png": "beyond_extra_shapes",
    "finding_theorem31.png": "beyond_extra_theorem31",
}
SAME = 3.0  # mean difference of grey levels, of 255, between machines
WIDTH = 900  # pixels of a picture
PICTURES = "pictures"


@dataclass(frozen=True)
class Run:
    """The results of a run from which the pages take pictures; ``folder`` is None without one."""

    folder: Path | None

    @property
    def described(self) -> str:
        """One sentence on where the pictures are from."""
        if self.folder is None:
            return (
                "This site was built without a run: `make` and then `make docs` add the pictures."
            )
        stamps = self.folder.glob("provenance/*/*.json")
        stamp = json.loads(next(stamps).read_text(encoding="utf-8"))
        commit = (stamp["git"].get("commit") or "unknown")[:10]
        return f"Pictures and sentences are those of `results/{self.folder.name}`, commit {commit}."

    def picture(self, artifact: Artifact) -> Path | None:
        """The picture of an artifact; None for a table and for what was not made."""
        return self._file(artifact, "figures", f"{artifact.artifact}.png")

    def sentence(self, artifact: Artifact) -> str:
        """The result of an artifact, or else the first sentence of its caption, or its title."""
        caption = self._file(artifact, "captions", f"{artifact.artifact}.rst")
        if caption is None:
            return f"{artifact.title}."
        if result := result_below(caption):
            return result
        return as_text(first_sentence(what_is_drawn(caption))[0])

    def _file(self, artifact: Artifact, kind: str, name: str) -> Path | None:
        if self.folder is None:
            return None
        file = self.folder / artifact.paper / kind / name
        return file if file.is_file() else None


def run_of(root: Path) -> Run:
    """The run of which the pages show pictures."""
    for name in RUNS:
        folder = root / "results" / name
        if any(folder.glob("*/figures/*.png")):
            return Run(folder)
    return Run(None)


def write(run: Run, papers: Sequence[Paper], folder: Path) -> None:
    """Write ``gallery.md``, and the pictures, smaller, into ``pictures``."""
    (folder / PICTURES).mkdir()
    lines = [
        "# Gallery",
        "",
        "All tables and figures, in the order of the papers. A picture leads to what it shows, to "
        f"its input and its experiments. {run.described}",
        "",
    ]
    for paper in papers:
        lines += [f"## {paper.name}: {paper.title}", "", ":::::{container} fw-gallery"]
        for artifact in paper.artifacts:
            lines += _entry(artifact, _small(run.picture(artifact), folder))
        lines += [":::::", ""]
    (folder / "gallery.md").write_text("\n".join(lines), encoding="utf-8")


def _small(picture: Path | None, folder: Path) -> Path | None:
    """Write a smaller picture and return its file."""
    if picture is None:
        return None
    small = folder / PICTURES / picture.name
    with Image.open(picture) as image:
        image.thumbnail((WIDTH, 4 * WIDTH), Image.Resampling.LANCZOS)
        image.convert("P", palette=Image.Palette.ADAPTIVE).save(small, optimize=True)
    return small


def stale(run: Run, docs: Path) -> list[str]:
    """Pictures of the repository that are not those of the run, if it is one at preset quick."""
    if run.folder is None or run.folder.name != "quick":
        return []
    names = []
    for name, artifact in BUNDLED.items():
        current = run.folder / artifact.split("_")[0] / "figures" / f"{artifact}.png"
        if current.is_file() and not _same(docs / name, current):
            names.append(f"docs/{name} is not {current}: copy it")
    return names


def _same(one: Path, other: Path) -> bool:
    """Whether two pictures show the same, up to differences of rounding between machines."""
    with Image.open(one) as first, Image.open(other) as second:
        size = (WIDTH, WIDTH)
        a = np.asarray(first.convert("L").resize(size), dtype=float)
        b = np.asarray(second.convert("L").resize(size), dtype=float)
        shapes = first.width / first.height, second.width / second.height
        return bool(np.isclose(*shapes, rtol=0.01)) and float(np.abs(a - b).mean()) < SAME


def _entry(artifact: Artifact, picture: Path | None) -> list[str]:
    """An artifact of the gallery: its picture, or its title in a frame, with a link."""
    if picture is None:
        return [
            "::::{container} fw-entry",
            f"[{artifact.label}: {artifact.title}](papers/{artifact.paper}.md#{anchor(artifact)})",
            "::::",
        ]
    return [
        f"::::{{figure}} {PICTURES}/{picture.name}",
        f":alt: {artifact.label}. {artifact.title}",
        f":target: papers/{artifact.paper}.html#{anchor(artifact)}",
        f"{artifact.label}: {artifact.title}",
        "::::",
    ]


def shown(artifact: Artifact, run: Run) -> list[str]:
    """An artifact on the page of its paper: its picture, one sentence, and its input."""
    lines = [f"({anchor(artifact)})=", f"### {artifact.label}: {artifact.title}", ""]
    if run.picture(artifact):
        lines += [
            f":::{{image}} ../{PICTURES}/{artifact.artifact}.png",
            f":alt: {artifact.label}. {artifact.title}",
            ":class: fw-artifact",
            ":::",
            "",
        ]
    sources = ", ".join(f"`{source}`" for source in artifact.input.values())
    lines += [
        f"{run.sentence(artifact)}",
        "",
        f"`finitewidth run {artifact.artifact}`; input: {sources}",
        "",
    ]
    return lines


def anchor(artifact: Artifact) -> str:
    """The anchor of an artifact on the page of its paper."""
    return artifact.artifact.replace("_", "-")
