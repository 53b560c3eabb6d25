"""Notices for the files of other projects that the report carries.

Licences are read from the installed packages that the files come from. Scripts that such a package
bundles have their own authors; the packages name these in comments, without the licences' texts.
These texts are in the folder ``licences``, as the projects publish them.
"""

import fnmatch
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, distribution
from pathlib import Path

from finitewidth.common.errors import ResultError

FOLDER = Path(__file__).parent / "licences"
THEME = ("_static/scripts/pydata-sphinx-theme.js", "_static/styles/*.css")
ICONS = ("_static/scripts/fontawesome.js*", "_static/vendor/fontawesome/*", "_static/styles/*.css")
TABLES = ("_static/datatables.js", "_static/datatables.css")
SPHINX = (
    "_static/basic.css", "_static/doctools.js", "_static/documentation_options.js",
    "_static/language_data.js", "_static/searchtools.js", "_static/sphinx_highlight.js",
    "_static/file.png", "_static/minus.png", "_static/plus.png", "searchindex.js",
)  # fmt: skip
LICENCE = r"\.dist-info/.*(licen[cs]e|notice|copying)[^/]*$"
BANNER = re.compile(r"/\*!.*?\*/", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Carried:
    """A project of which the report carries something.

    ``files`` are patterns of files of the report, ``package`` is the installed package that they
    come from, and ``texts`` is a pattern of its files with licences. ``own`` names a text of the
    folder ``licences`` instead, ``licence`` the licence then, and ``banner`` a file of the package
    whose comments name authors and versions. ``parts`` are the names that a bundle gives to what
    it contains, and ``fonts`` the names of fonts in pictures.
    """

    name: str
    what: str
    files: tuple[str, ...]
    package: str
    texts: str = LICENCE
    own: str = ""
    licence: str = ""
    banner: str = ""
    parts: tuple[str, ...] = ()
    fonts: tuple[str, ...] = ()


def _in_tables(name: str, own: str, *parts: str, licence: str = "MIT", what: str = "") -> Carried:
    """What the bundle of DataTables contains."""
    return Carried(
        name=name, what=what or "In the script datatables.js.", files=TABLES[:1],
        package="itables", own=own, licence=licence, parts=parts,
    )  # fmt: skip


CARRIED = (
    Carried(name="pydata-sphinx-theme", what="Layout, styles and scripts of the pages.",
            files=THEME, package="pydata-sphinx-theme"),
    Carried(name="Bootstrap", what="Scripts and styles, bundled in the theme.",
            files=("_static/scripts/bootstrap.js*", *THEME[1:]), package="pydata-sphinx-theme",
            own="bootstrap", licence="MIT", banner="bootstrap.js.LICENSE.txt"),
    Carried(name="Popper", what="Places menus and hints; bundled in bootstrap.js.",
            files=("_static/scripts/bootstrap.js",), package="pydata-sphinx-theme", own="popper",
            licence="MIT"),
    Carried(name="Font Awesome Free", what="Icons and fonts, bundled in the theme.", files=ICONS,
            package="pydata-sphinx-theme", own="fontawesome",
            licence="CC BY 4.0 (icons), SIL OFL 1.1 (fonts), MIT (code)",
            banner="fontawesome.js.LICENSE.txt"),
    Carried(name="Sphinx", what="Scripts and basic styles of the pages.", files=SPHINX,
            package="Sphinx"),
    Carried(name="Snowball", what="Stems and stop words of the search.", package="snowballstemmer",
            files=("_static/base-stemmer.js", "_static/*-stemmer.js", "_static/language_data.js")),
    Carried(name="Pygments", what="Made the styles of code.", files=("_static/pygments.css",),
            package="Pygments"),
    Carried(name="accessible-pygments", what="Colours of code.", files=("_static/pygments.css",),
            package="accessible-pygments"),
    Carried(name="latex2mathml", what="Made the formulas.", files=("*.html",),
            package="latex2mathml", own="latex2mathml", licence="MIT"),
    Carried(name="itables", what="The bundle with DataTables, which sorts and filters the tables.",
            files=TABLES, package="itables"),
    Carried(name="DataTables", what="Scripts, styles and arrows of the tables.", files=TABLES,
            package="itables", own="datatables", licence="MIT", banner="html/dt_bundle.js",
            parts=("datatables.net*",)),
    _in_tables("jQuery", "jquery", "jquery"),
    _in_tables("JSZip", "jszip", "jszip", what="In datatables.js; used under the MIT licence."),
    _in_tables("pako", "pako", licence="MIT", what="In datatables.js, as a part of JSZip."),
    _in_tables("lie", "lie", what="In datatables.js, as a part of JSZip."),
    _in_tables("immediate", "immediate", what="In datatables.js, as a part of JSZip."),
    _in_tables("setImmediate", "setimmediate", what="In datatables.js, as a part of JSZip."),
    _in_tables("FileSaver.js", "filesaver", what="In datatables.js, as a part of its buttons."),
    _in_tables("Lucide", "lucide", licence="ISC and MIT", what="Icons in datatables.js."),
    Carried(name="DejaVu fonts", what="Letters in pictures.", files=("files/*.pdf",),
            package="matplotlib", texts=r"LICENSE_DEJAVU$", fonts=("DejaVu*",)),
    Carried(name="STIX fonts", what="Symbols in pictures.", files=("files/*.pdf",),
            package="matplotlib", texts=r"LICENSE_STIX$", fonts=("STIX*",)),
    Carried(name="Computer Modern fonts (BaKoMa)", what="Symbols in pictures.",
            files=("files/*.pdf",), package="matplotlib", own="bakoma",
            licence="BaKoMa Fonts Licence", fonts=("Cm*",)),
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Notice:
    """A project with its version, its licence, what is carried of it, and the whole text."""

    carried: Carried
    version: str
    licence: str
    text: str

    def covers(self, file: str) -> bool:
        """Return whether the notice is for a file, named by its path below the report's folder."""
        return any(fnmatch.fnmatchcase(file, pattern) for pattern in self.carried.files)


def notices() -> list[Notice]:
    """Return the notices for all projects of which the report carries files.

    Raises:
        ResultError: a package has no licence file, or a bundle no comment on its parts.
    """
    return [_notice(carried) for carried in CARRIED]


def _notice(carried: Carried) -> Notice:
    installed = distribution(carried.package)
    if carried.own:
        texts = [(FOLDER / f"{carried.own}.txt").read_text(encoding="utf-8")]
        if carried.banner:
            texts = [*_banners(installed, carried.banner), *texts]
    else:
        texts = [text for text in _texts(installed, carried.texts) if text.strip()]
    if not texts:
        raise ResultError(f"the package {carried.package} has no licence file; install it again")
    ours = carried.name.lower() == carried.package.lower()
    return Notice(
        carried=carried, version=installed.version if ours else "",
        licence=carried.licence or (_licence(installed) if not carried.fonts else "see its text"),
        text="\n\n".join(dict.fromkeys(texts)),
    )  # fmt: skip


def _banners(installed: Distribution, ending: str) -> list[str]:
    """The comments that a bundled file keeps for its parts."""
    banners = [re.sub(r"\n{3,}", "\n\n", banner)
               for text in _texts(installed, re.escape(ending) + "$")
               for banner in BANNER.findall(text)]  # fmt: skip
    if not banners:
        raise ResultError(f"{ending} of {installed.name} names no licence; install it again")
    return banners


def _texts(installed: Distribution, pattern: str) -> Iterator[str]:
    """The texts of the files of a package whose names match."""
    wanted = re.compile(pattern, re.IGNORECASE)
    for file in installed.files or ():
        if wanted.search(file.as_posix()) and file.suffix not in (".py", ".pyc"):
            yield Path(str(file.locate())).read_text(encoding="utf-8")


def _licence(installed: Distribution) -> str:
    """The name of the licence that a package states."""
    about = installed.metadata
    stated = about.get("License-Expression") or about.get("License") or ""
    if stated and "\n" not in stated:
        return stated
    classifiers = [c for c in about.get_all("Classifier") or () if c.startswith("License ::")]
    return classifiers[0].split(" :: ")[-1] if classifiers else "see its text"
