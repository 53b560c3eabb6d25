"""Titles of declared jobs, as ``snakemake --list`` and ``finitewidth show`` print them."""

import re
from pathlib import Path

from finitewidth.declarations.papers import Artifact, Experiment


def title_of(declared: Experiment | Artifact, root: str | Path) -> str:
    """Return the title of an artifact, or the stage and the first words of an experiment.

    The text of a module is read, since an import of all modules would take seconds.

    Args:
        declared: the declaration of the job.
        root: folder of the project.
    """
    if isinstance(declared, Artifact):
        label = "Extra" if declared.extra else declared.label
        return f"{label} of {declared.paper}: {declared.title}"
    file = Path(root, "src", *declared.module.split(".")).with_suffix(".py")
    first_line = file.read_text(encoding="utf-8").splitlines()[0]
    words = first_line.strip('".').replace("`", "")
    without_job = re.split(", jobs? |: job ", words)[0]  # the list has the name of the job itself
    return f"{declared.stage}: {without_job}"
