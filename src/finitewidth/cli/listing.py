"""``finitewidth list``: all artifacts, and the files of those that are made."""

from collections.abc import Sequence
from pathlib import Path

from finitewidth.common.declarations import Artifact, artifacts_of, read_papers
from finitewidth.common.errors import ConfigError
from finitewidth.common.settings import results_folder


def listed(
    preset: str, planned: bool, seed: int = 0, paper: str | None = None, images: Sequence[str] = ()
) -> list[str]:
    """Return a line per artifact: name, the file that a reader opens first, and title.

    Args:
        preset: of the results.
        planned: whether artifacts that are only planned are listed as well.
        seed: base seed of the results.
        paper: key of a paper to list only its artifacts.
        images: names of the user's folders of images, if the results are for these.

    Raises:
        ConfigError: the paper is unknown.
    """
    papers = read_papers()
    if paper is not None and paper not in {each.name for each in papers}:
        raise ConfigError(f"--paper {paper}: must be one of {', '.join(p.name for p in papers)}")
    lines = []
    for artifact in artifacts_of(papers):
        if paper not in (None, artifact.paper):
            continue
        if artifact.done:
            path = first_file(preset, artifact, seed, images)
            found = str(path) if path.is_file() else "not made yet"
        elif planned:
            found = "planned"
        else:
            continue
        lines.append(f"{artifact.artifact:<22} {found:<55} {artifact.title}")
    return lines


def first_file(preset: str, artifact: Artifact, seed: int = 0, images: Sequence[str] = ()) -> Path:
    """Return the PDF of a figure, or the Markdown of a table."""
    suffix = "pdf" if artifact.kind == "figure" else "md"
    folder = Path(results_folder(preset, seed, images)) / artifact.paper / f"{artifact.kind}s"
    return folder / f"{artifact.artifact}.{suffix}"
