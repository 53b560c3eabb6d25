"""The job of the report: read results, copy the files that the pages show, write the pages."""

import logging
import shutil
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from finitewidth.common.result_files import remove_left_folders
from finitewidth.report.build import build_pages
from finitewidth.report.downloads import Downloads
from finitewidth.report.findings import read_findings
from finitewidth.report.pages import all_pages

LOG = logging.getLogger("finitewidth")


def build_report(folder: str | Path, settings: Mapping[str, Any]) -> None:
    """Write a report on all results that exist.

    An earlier report is replaced only after the new one is complete.

    Args:
        folder: where the report is written; its first page is ``index.html``.
        settings: as for `finitewidth.report.findings.read_findings`.

    Raises:
        ResultError: a file is damaged, or a caption is not valid reStructuredText.
    """
    started = time.monotonic()
    folder = Path(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    remove_left_folders(folder.parent, ".report-")
    findings = read_findings(settings)
    with tempfile.TemporaryDirectory(prefix=".report-", dir=folder.parent) as temporary:
        new, sources = Path(temporary, "new"), Path(temporary, "sources")
        new.mkdir()
        sources.mkdir()
        pages = all_pages(findings, Downloads(findings.results, new))
        build_pages(pages, findings.preset, sources, new)
        if folder.exists():
            shutil.rmtree(folder)
        new.replace(folder)
    LOG.info("report in %.1f s: %s", time.monotonic() - started, folder / "index.html")
