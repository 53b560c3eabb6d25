"""Notices for the files of other projects that the report carries.

Their texts are read where the files come from: from the licence files of the installed packages,
and from the comments that the carried scripts and styles keep for this purpose.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, distribution
from pathlib import Path

from finitewidth.common.errors import ResultError

# package -> what of it the report carries
CARRIED = {
    "pydata-sphinx-theme": "Layout, styles and scripts of the pages.",
    "Sphinx": "Scripts and basic styles of the pages.",
    "Pygments": "Made the styles of code.",
    "accessible-pygments": "Colours of code.",
    "itables": "The bundle with DataTables, which sorts and filters the tables.",
}
# files in which other projects are bundled
BUNDLES = {
    "pydata-sphinx-theme": (
        ("Bootstrap", "Scripts and styles, bundled in the theme.", "bootstrap.js.LICENSE.txt"),
        ("Font Awesome", "Icons and fonts, bundled in the theme.", "fontawesome.js.LICENSE.txt"),
    ),
    "itables": (("DataTables and what it uses", "The script datatables.js.", "html/dt_bundle.js"),),
}
LICENCE = re.compile(r"(licen[cs]e|notice|copying)[^/]*$", re.IGNORECASE)
BANNER = re.compile(r"/\*!.*?\*/", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Notice:
    """Name and version of a project, its licence, what is carried of it, and the whole text."""

    name: str
    version: str
    licence: str
    carried: str
    text: str


def notices() -> list[Notice]:
    """Return the notices for all projects of which the report carries files.

    Raises:
        ResultError: a package has no licence file, or a bundle no comment on its parts.
    """
    found = []
    for package, carried in CARRIED.items():
        installed = distribution(package)
        texts = [text for _, text in _files(installed, LICENCE) if text.strip()]
        if not texts:
            raise ResultError(f"the package {package} has no licence file; install it again")
        found.append(Notice(
            name=package, version=installed.version, licence=_licence(installed), carried=carried,
            text="\n\n".join(dict.fromkeys(texts)),
        ))  # fmt: skip
        for name, what, ending in BUNDLES.get(package, ()):
            found.append(_bundled(installed, name, what, ending))
    return found


def _bundled(installed: Distribution, name: str, carried: str, ending: str) -> Notice:
    """The notice for what is bundled in a file: the comments that the file keeps."""
    texts = [text for _, text in _files(installed, re.compile(re.escape(ending) + "$"))]
    banners = [re.sub(r"\n{3,}", "\n\n", banner)
               for text in texts for banner in BANNER.findall(text)]  # fmt: skip
    if not banners:
        raise ResultError(f"{ending} of {installed.name} names no licence; install it again")
    words = "see its text"
    return Notice(name=name, version="", licence=words, carried=carried,
                  text="\n\n".join(dict.fromkeys(banners)))  # fmt: skip


def _files(installed: Distribution, pattern: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    """Name and text of the files of a package whose names match."""
    for file in installed.files or ():
        if pattern.search(file.as_posix()) and file.suffix not in (".py", ".pyc"):
            yield file.name, Path(str(file.locate())).read_text(encoding="utf-8")


def _licence(installed: Distribution) -> str:
    """The name of the licence that a package states."""
    about = installed.metadata
    stated = about.get("License-Expression") or about.get("License") or ""
    if stated and "\n" not in stated:
        return stated
    classifiers = [c for c in about.get_all("Classifier") or () if c.startswith("License ::")]
    return classifiers[0].split(" :: ")[-1] if classifiers else "see its text"
