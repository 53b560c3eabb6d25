"""Build HTML from the pages, with Sphinx and the theme pydata-sphinx-theme.

The theme provides a light and a dark mode, search, and a layout for small screens. This module
imports only the standard library at its top, because the workflow computes the digest of templates,
styles and scripts at every start.
"""

import hashlib
import io
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path

from finitewidth.common.errors import ResultError

FOLDER = Path(__file__).parent
KINDS = ("templates", "static", "sphinx")
LICENCES = "licences.txt"
# of a package, of a script that it bundles, or of its fonts
LICENCE = re.compile(
    r"\.dist-info/(.*/)?(licen|notice|copying)[^/]*$"
    r"|^(?!.*\.dist-info/).*(\.js\.license\.txt|/license_dejavu|/license_stix)$"
)
# the report has scripts and styles of these, and fonts of the last in its pictures
CARRIED = (
    "pydata-sphinx-theme",
    "Sphinx",
    "snowballstemmer",
    "Pygments",
    "accessible-pygments",
    "matplotlib",
)
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
    "smartquotes": False,
    "suppress_warnings": ["config.cache"],
}


@dataclass(frozen=True)
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


def assets_digest() -> str:
    """Return a digest (16 hexadecimal digits) of templates, styles and scripts."""
    files = [file for kind in KINDS for file in (FOLDER / kind).iterdir()]
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(file.name.encode() + file.read_bytes())
    return digest.hexdigest()[:16]


def build_pages(pages: Sequence[Page], preset: str, sources: Path, folder: Path) -> None:
    """Write the pages, the overview first, as HTML into ``folder``.

    The empty folder ``sources`` takes reStructuredText that includes the HTML of each section. A
    warning of Sphinx, for example about a broken caption, is an error.
    """
    for page in pages:
        for count, section in enumerate(page.sections):
            file = sources / _section_file(page, count)
            file.write_text(section.html, encoding="utf-8")
        rst = _restructured_text(page, pages)
        (sources / f"{page.name}.rst").write_text(rst, encoding="utf-8")
    _write_static(sources / "_static")
    _run_sphinx(preset, sources, folder)
    for pattern in SURPLUS:
        for surplus in folder.rglob(pattern):
            surplus.unlink()


def _section_file(page: Page, count: int) -> str:
    """The name of the file with the HTML of a section, from its number on the page."""
    return f"{page.name}-{count}.html"


def _restructured_text(page: Page, pages: Sequence[Page]) -> str:
    """A page that includes the HTML of its sections; the overview lists all other pages."""
    lines = [*_heading(page.title, "="), ""]
    if page.name == "index":
        entries = [f"   {other.label} <{other.name}>" for other in pages[1:]]
        lines += [".. toctree::", "   :hidden:", "", *entries, ""]
    for count, section in enumerate(page.sections):
        if section.title:
            lines += [f".. _{section.anchor}:", "", *_heading(section.title, "-"), ""]
        lines += [".. raw:: html", f"   :file: {_section_file(page, count)}", ""]
    return "\n".join(lines)


def _heading(title: str, underline: str) -> tuple[str, str]:
    """A title and the line below it, long enough for a title with escapes."""
    return _escaped(title), underline * 3 * len(title)


def _write_static(folder: Path) -> None:
    """Write styles, scripts and licences into a new folder."""
    folder.mkdir()
    for file in (FOLDER / "static").iterdir():
        shutil.copyfile(file, folder / file.name)
    (folder / LICENCES).write_text(licences(), encoding="utf-8")


def _run_sphinx(preset: str, sources: Path, folder: Path) -> None:
    """Build HTML from all pages in ``sources``; a warning is an error."""
    from sphinx.application import Sphinx
    from sphinx.util.docutils import docutils_namespace, patch_docutils

    configuration = CONFIGURATION | {
        "html_title": f"finitewidth, preset {preset}",
        "copyright": f"the finitewidth authors; preset {preset}",
    }
    warnings = io.StringIO()
    with patch_docutils(), docutils_namespace():  # restore global state for a second report
        application = Sphinx(
            srcdir=str(sources),
            confdir=None,
            outdir=str(folder),
            doctreedir=str(sources / ".doctrees"),
            buildername="html",
            confoverrides=configuration,
            status=io.StringIO(),
            warning=warnings,
            freshenv=True,
        )
        application.build()
    problems = warnings.getvalue().strip()
    if problems:
        raise ResultError(f"Sphinx reported warnings while it built the report:\n{problems}")


def licences() -> str:
    """The licences of the packages and fonts that the pages carry, with what these bundle."""
    texts = []
    for name in CARRIED:
        package = distribution(name)
        files = [file for file in package.files or () if LICENCE.search(file.as_posix().lower())]
        if not files:
            raise ResultError(f"the package {name} has no licence file; install it again")
        for file in files:
            text = Path(str(file.locate())).read_text(encoding="utf-8").strip()
            texts.append(f"{name} {package.version}: {file.name}\n\n{text}")
    for licence in sorted((FOLDER / "static").glob("*.license.txt")):
        texts.append(f"{licence.name}\n\n{licence.read_text(encoding='utf-8').strip()}")
    return f"\n\n\n{'-' * 72}\n\n".join(texts) + "\n"


def _escaped(text: str) -> str:
    return "".join(f"\\{sign}" if sign in r"\*`|_" else sign for sign in text)
