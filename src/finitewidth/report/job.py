"""The job of the report: read results, copy the files that the pages show, write the pages."""

import contextlib
import logging
import shutil
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from finitewidth.common.errors import NO_SPACE, unwritable
from finitewidth.report.build import build_pages
from finitewidth.report.downloads import Downloads
from finitewidth.report.findings import read_findings
from finitewidth.report.pages import SUMMARY, all_pages, summary_page

LOG = logging.getLogger("finitewidth")
LEFTOVER_SECONDS = 24 * 3600  # longer than any report takes


def build_report(folder: str | Path, settings: Mapping[str, Any], root: str | Path = ".") -> None:
    """Write a report on all results that exist, whose first page is ``index.html``.

    The new report is written into a temporary folder beside ``folder``, and replaces an earlier one
    only when it is complete. Several reports can therefore be built at the same time. A temporary
    folder that a killed process left is deleted after a day.

    Args:
        folder: the folder of the report.
        settings: see `finitewidth.report.findings.read_findings`.
        root: the folder of the project.

    Raises:
        ResultError: the disk is full or the folder cannot be written.
    """
    started = time.monotonic()
    folder = Path(folder)
    try:
        _remove_leftovers(folder)
        folder.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as error:
        raise unwritable(error, folder) from error
    new = temporary / "new"
    sources = temporary / "sources"
    try:
        findings = read_findings(settings, root)
        new.mkdir(parents=True)
        sources.mkdir()
        pages = all_pages(findings, Downloads(findings.results, new, findings.whole))
        build_pages(pages, findings.preset, sources, new)
        (new / SUMMARY).write_text(summary_page(findings), encoding="utf-8")
        with contextlib.suppress(FileNotFoundError):
            folder.rename(temporary / "earlier")
        new.rename(folder)
    except OSError as error:
        if error.errno not in NO_SPACE:
            raise
        raise unwritable(error, folder) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    LOG.info("report in %.1f s: %s", time.monotonic() - started, folder / "index.html")


def _remove_leftovers(folder: Path) -> None:
    for path in folder.parent.glob(f".{folder.name}-*"):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > LEFTOVER_SECONDS:
                shutil.rmtree(path)
