"""Configuration of the documentation; `make docs` builds it into build/docs."""

import sys
from importlib.metadata import version as installed_version
from pathlib import Path

import jaxtyping

from finitewidth.common import shapes
from finitewidth.report.build import FOLDER as REPORT

shapes.read_by(jaxtyping)  # signatures say shapes as the code does: Float[Tensor, "N N"]

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

project = "finitewidth"
author = "the finitewidth authors"
copyright = author  # noqa: A001
release = installed_version("finitewidth")

# "generated_pages" writes docs/generated; "graphs" draws them, and "formulas" typesets formulas,
# without a network
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "docstrings",
    "generated_pages",
    "graphs",
    "finitewidth.report.formulas",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["generated/parts", "examples/*.md", "**/README.md"]
default_role = "py:obj"  # names in single backticks are linked where this site documents them

myst_enable_extensions = ["amsmath", "colon_fence", "dollarmath"]
myst_heading_anchors = 4
myst_fence_as_directive = ["mermaid"]
myst_dmath_double_inline = True

autosummary_generate = False  # the tables of names link to the entries on the same page
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
python_use_unqualified_type_names = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
toc_object_entries = False  # every entry has a heading

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = f"finitewidth {release}"
html_static_path = ["_static", str(REPORT / "static/texgyretermes-math.woff2")]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_search_summary = False  # it needs a web server, and the pages open from disk
html_permalinks_icon = "#"
html_context = {"default_mode": "auto"}
# pages that need the width: wide formulas, pictures
WIDE = ("index", "tutorial", "theory", "collapse", "generated/gallery")
html_sidebars = {page: [] for page in WIDE}
html_theme_options = {
    "logo": {"text": "finitewidth"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
}
smartquotes = False
suppress_warnings = ["config.cache"]
