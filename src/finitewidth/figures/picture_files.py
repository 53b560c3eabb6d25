"""Pictures as files: PDF, SVG and PNG. Equal figures are equal files."""

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from finitewidth.records import result_files

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# leave out time and version, so that equal figures are equal files
METADATA = {
    "pdf": {"CreationDate": None, "Producer": None, "Creator": None},
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
}
ABOUT = {"pdf": "Subject", "svg": "Description", "png": "Description"}
KINDS = tuple(METADATA)


def save(figure: "Figure", file: str | Path, footer: str) -> None:
    """Write a figure as PDF, SVG or PNG, as the suffix says, with ``footer`` as its description."""
    # fontTools takes the dates of some fonts for errors, and says so on the terminal
    logging.getLogger("fontTools").setLevel(logging.ERROR)
    kind = Path(file).suffix.removeprefix(".")
    metadata = {**METADATA[kind], ABOUT[kind]: footer}
    with result_files.atomic(file) as temporary:
        figure.savefig(temporary, format=kind, metadata=metadata)
