"""The mark in a figure: what stands in for the paper's data and sizes."""

from finitewidth.claims.grades import DRAWING
from finitewidth.data.catalogue import ROLES, find_source
from finitewidth.data.places import is_own
from finitewidth.pipeline.footers import Footers


def mark_of(footers: Footers, artifact: str) -> str:
    """Return the mark of a figure; empty for a drawing, and where all is as in the paper.

    Args:
        footers: of this configuration.
        artifact: name of the figure.

    Returns:
        Parts separated by " · ", for example ``stand-in data: digits 8×8 for MNIST · other sizes
        than the paper's``.
    """
    if footers.grade_of_artifact(artifact) == DRAWING:
        return ""
    job = footers.jobs[artifact]
    scale = footers.scale_of_artifact(artifact)
    sources = {role: footers.jobs.config["data"][role] for role in footers.datasets(job.reads)}
    words = [_data(role, source, footers) for role, source in sources.items()]
    if not scale.sizes:
        words.append("other sizes than the paper's")
    return " · ".join(filter(None, words))


def _data(role: str, source: str, footers: Footers) -> str:
    """``stand-in data: digits 8×8 for MNIST``; empty for the paper's own dataset.

    ``your images: mytree for MNIST`` if the source is a folder of images that a user named.
    """
    trees = footers.jobs.config["data"]["imagefolder"]
    title = find_source(source, trees).title
    wanted = ROLES[role]
    if is_own(source, trees):
        return f"your images: {source} for {wanted}"
    if title == wanted:
        return ""
    if title.startswith(f"{wanted} ("):  # the same images, encoded anew
        return title
    return f"stand-in data: {title} for {wanted}"
