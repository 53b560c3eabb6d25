"""The job of the report: read results, copy the files that the pages show, write the pages."""

import logging
import shutil
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


def build_report(folder: str | Path, settings: Mapping[str, Any], root: str | Path = ".") -> None:
    """Write a report on all results that exist, whose first page is ``index.html``.

    An earlier report is replaced only after the new one is complete, which is written beside it, in
    ``.report``. What a killed process left there is deleted. The other arguments are as for
    `finitewidth.report.findings.read_findings`.
    """
    started = time.monotonic()
    folder = Path(folder)
    temporary = folder.with_name(f".{folder.name}")
    try:
        shutil.rmtree(temporary, ignore_errors=True)
        findings = read_findings(settings, root)
        new, sources = temporary / "new", temporary / "sources"
        new.mkdir(parents=True)
        sources.mkdir()
        pages = all_pages(findings, Downloads(findings.results, new, findings.whole))
        build_pages(pages, findings.preset, sources, new)
        (new / SUMMARY).write_text(summary_page(findings), encoding="utf-8")
        shutil.rmtree(folder, ignore_errors=True)
        new.rename(folder)
    except OSError as error:
        if error.errno not in NO_SPACE:
            raise
        raise unwritable(error, folder) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    LOG.info("report in %.1f s: %s", time.monotonic() - started, folder / "index.html")
