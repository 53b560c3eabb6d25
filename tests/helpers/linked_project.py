"""A folder that is this project with other results."""

from pathlib import Path

from tests.helpers.project import ROOT

PARTS = ("Snakefile", "config", "src", "workflow")


def link_project(folder: Path) -> Path:
    """Link all parts of the project except ``results`` into a folder, and return it."""
    for part in PARTS:
        (folder / part).symlink_to(ROOT / part)
    return folder
