"""The job of the report: read results, copy the files that the pages show, write the pages."""

import contextlib
import errno
import logging
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from finitewidth.common.errors import ResultError
from finitewidth.common.temporary import remove_left, temporary_folder
from finitewidth.common.unwritable import NO_SPACE, unwritable
from finitewidth.report import summary_page
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
        ResultError: a file is damaged, a caption is not valid reStructuredText, or the disk is
            full.
    """
    started = time.monotonic()
    folder = Path(folder)
    try:
        _build(folder, settings)
    except OSError as error:
        if error.errno not in NO_SPACE:
            raise
        raise unwritable(error, folder) from error
    LOG.info("report in %.1f s: %s", time.monotonic() - started, folder / "index.html")


def _build(folder: Path, settings: Mapping[str, Any]) -> None:
    """Write the report; see `build_report`."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    remove_left(folder.parent, "report")
    findings = read_findings(settings)
    with temporary_folder(folder.parent, "report") as temporary:
        new, sources = temporary / "new", temporary / "sources"
        new.mkdir()
        sources.mkdir()
        pages = all_pages(findings, Downloads(findings.results, new))
        build_pages(pages, findings.preset, sources, new)
        text = summary_page.markdown(findings)
        (new / summary_page.FILE).write_text(text, encoding="utf-8")
        _exchange(new, folder, temporary)


def _exchange(new: Path, folder: Path, aside: Path) -> None:
    """Move ``new`` to ``folder``, and what is there into ``aside``, where a link is not followed.

    Another run may put its report there between the two moves.
    """
    for number in range(100):
        with contextlib.suppress(FileNotFoundError):
            folder.rename(aside / f"old-{number}")
        try:
            new.rename(folder)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                raise
        else:
            return
    raise ResultError(f"cannot write {folder}: other runs write it, too; wait for them")
