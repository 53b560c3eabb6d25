"""Build HTML from the pages, with Sphinx and the theme pydata-sphinx-theme.

The theme provides a light and a dark mode, search, and a layout for small screens.
"""

import io
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from finitewidth.common.errors import ResultError
from finitewidth.report.assets import FOLDER, write_assets

LOG = logging.getLogger("finitewidth")
# what Sphinx writes and no page loads
SURPLUS = ("*.map", "objects.inv", ".buildinfo", "webpack-macros.html")
CONFIGURATION = {
    "project": "finitewidth",
    "html_theme": "pydata_sphinx_theme",
    "html_static_path": ["_static"],
    "html_context": {"default_mode": "auto"},
    "templates_path": [str(FOLDER / "sphinx")],
    "html_css_files": ["report.css"],
    "html_js_files": ["report.js"],
    "html_copy_source": False,
    "html_use_index": False,
    "html_show_search_summary": False,  # it needs a web server
    "html_sidebars": {"**": []},
    "html_theme_options": {
        "navbar_align": "left",
        "navbar_start": ["navbar-logo"],
        "navbar_end": ["theme-switcher"],
        "header_links_before_dropdown": 3,
        "header_dropdown_text": "Papers",
        "secondary_sidebar_items": ["page-toc"],
        "show_prev_next": False,
        "show_toc_level": 2,
        "article_header_start": [],
        "footer_start": ["copyright"],
        "footer_end": ["licences-link"],
        "logo": {"text": "finitewidth"},
    },
    "html_permalinks_icon": "#",
    "keep_warnings": True,
    "smartquotes": False,
    "suppress_warnings": ["config.cache"],
}


@dataclass(frozen=True, kw_only=True)
class Section:
    """HTML below a heading; without a title it continues the section before it."""

    html: str
    title: str = ""
    anchor: str = ""


@dataclass(frozen=True, kw_only=True)
class Page:
    """A page: the name of its file, its title, and its label in the navigation."""

    name: str
    title: str
    label: str
    sections: tuple[Section, ...]


def build_pages(pages: Sequence[Page], preset: str, sources: Path, folder: Path) -> None:
    """Write the pages, the overview first, as HTML into ``folder``.

    The empty folder ``sources`` takes reStructuredText that includes the HTML of each section.

    Raises:
        ResultError: Sphinx reports a warning, for example about a broken caption. The message
            contains the warnings.
    """
    from sphinx.application import Sphinx
    from sphinx.util.docutils import docutils_namespace, patch_docutils

    for page in pages:
        lines = [_escaped(page.title), "=" * 3 * len(page.title), ""]
        if page.name == "index":
            others = [f"   {other.label} <{other.name}>" for other in pages[1:]]
            lines += [".. toctree::", "   :hidden:", "", *others, ""]
        for count, section in enumerate(page.sections):
            if section.title:
                lines += [f".. _{section.anchor}:", "", _escaped(section.title),
                          "-" * 3 * len(section.title), ""]  # fmt: skip
            file = sources / f"{page.name}-{count}.html"
            file.write_text(section.html, encoding="utf-8")
            lines += [".. raw:: html", f"   :file: {file.name}", ""]
        (sources / f"{page.name}.rst").write_text("\n".join(lines), encoding="utf-8")
    write_assets(sources / "_static")
    output, warnings = io.StringIO(), io.StringIO()
    settings = CONFIGURATION | {
        "html_title": f"finitewidth, preset {preset}",
        "copyright": f"the finitewidth authors; preset {preset}",
    }
    with patch_docutils(), docutils_namespace():  # restore global state for a second report
        Sphinx(
            str(sources), None, str(folder), str(sources / ".doctrees"), "html",
            confoverrides=settings, status=output, warning=warnings, freshenv=True,
        ).build()  # fmt: skip
    if warnings.getvalue().strip():
        raise ResultError(
            f"Sphinx reported warnings while it built the report:\n{warnings.getvalue().strip()}"
        )
    for name in SURPLUS:
        for surplus in folder.rglob(name):
            surplus.unlink()
    LOG.info("%d pages in %s", len(pages), folder)


def _escaped(text: str) -> str:
    return "".join(f"\\{sign}" if sign in r"\*`|_" else sign for sign in text)
