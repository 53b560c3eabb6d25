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
    digest = hashlib.sha256()
    for file in sorted(file for kind in KINDS for file in (FOLDER / kind).iterdir()):
        digest.update(file.name.encode() + file.read_bytes())
    return digest.hexdigest()[:16]


def build_pages(pages: Sequence[Page], preset: str, sources: Path, folder: Path) -> None:
    """Write the pages, the overview first, as HTML into ``folder``.

    The empty folder ``sources`` takes reStructuredText that includes the HTML of each section. A
    warning of Sphinx, for example about a broken caption, is an error.
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
                lines += [
                    f".. _{section.anchor}:",
                    "",
                    _escaped(section.title),
                    "-" * 3 * len(section.title),
                    "",
                ]
            file = sources / f"{page.name}-{count}.html"
            file.write_text(section.html, encoding="utf-8")
            lines += [".. raw:: html", f"   :file: {file.name}", ""]
        (sources / f"{page.name}.rst").write_text("\n".join(lines), encoding="utf-8")
    static = sources / "_static"
    static.mkdir()
    for file in (FOLDER / "static").iterdir():
        shutil.copyfile(file, static / file.name)
    (static / LICENCES).write_text(licences(), encoding="utf-8")
    output, warnings = io.StringIO(), io.StringIO()
    settings = CONFIGURATION | {
        "html_title": f"finitewidth, preset {preset}",
        "copyright": f"the finitewidth authors; preset {preset}",
    }
    with patch_docutils(), docutils_namespace():  # restore global state for a second report
        Sphinx(
            str(sources),
            None,
            str(folder),
            str(sources / ".doctrees"),
            "html",
            confoverrides=settings,
            status=output,
            warning=warnings,
            freshenv=True,
        ).build()
    if warnings.getvalue().strip():
        raise ResultError(
            f"Sphinx reported warnings while it built the report:\n{warnings.getvalue().strip()}"
        )
    for name in SURPLUS:
        for surplus in folder.rglob(name):
            surplus.unlink()


def licences() -> str:
    """The licences of the packages whose files the pages carry, with what these bundle."""
    texts = []
    for name in CARRIED:
        package = distribution(name)
        files = [file for file in package.files or () if LICENCE.search(file.as_posix().lower())]
        if not files:
            raise ResultError(f"the package {name} has no licence file; install it again")
        for file in files:
            text = Path(str(file.locate())).read_text(encoding="utf-8").strip()
            texts.append(f"{name} {package.version}: {file.name}\n\n{text}")
    return f"\n\n\n{'-' * 72}\n\n".join(texts) + "\n"


def _escaped(text: str) -> str:
    return "".join(f"\\{sign}" if sign in r"\*`|_" else sign for sign in text)
