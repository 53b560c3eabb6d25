"""The page of notices: licences of the files of other projects that this site carries."""

from pathlib import Path

from finitewidth.report.notices import Notice, notices

# what only reports carry
REPORT_ONLY = ("_static/datatables.js", "_static/datatables.css", "files/*.pdf")


def write(folder: Path) -> None:
    """Write the page ``notices``."""
    lines = [
        "# Notices", "",
        "This site carries scripts, styles and fonts of other projects. Here are their licences,",
        "from the installed packages, from the files themselves, or as the projects publish them.",
        "A report carries more, and has a page of notices of its own.", "",
    ]  # fmt: skip
    for notice in notices():
        if not set(notice.carried.files) <= set(REPORT_ONLY):
            lines += _section(notice)
    (folder / "notices.md").write_text("\n".join(lines), encoding="utf-8")


def _section(notice: Notice) -> list[str]:
    return [
        f"## {notice.carried.name} {notice.version}".rstrip(), "",
        f"{notice.carried.what} Licence: {notice.licence}.", "",
        "````text", notice.text.strip(), "````", "",
    ]  # fmt: skip
