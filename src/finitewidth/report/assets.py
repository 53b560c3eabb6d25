"""Files that the pages load: style, script, and licences of what Sphinx and its theme bring.

This module imports only the standard library at its top, because the workflow computes the digest
at every start.
"""

import hashlib
import re
import shutil
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
    "pydata-sphinx-theme", "Sphinx", "snowballstemmer", "Pygments", "accessible-pygments",
    "matplotlib",
)  # fmt: skip


def assets_digest() -> str:
    """Return a digest (16 hexadecimal digits) of templates, styles and scripts."""
    digest = hashlib.sha256()
    for file in sorted(file for kind in KINDS for file in (FOLDER / kind).iterdir()):
        digest.update(file.name.encode() + file.read_bytes())
    return digest.hexdigest()[:16]


def write_assets(folder: Path) -> None:
    """Write the files that the pages load into ``folder``, and beside them the licences."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in (FOLDER / "static").iterdir():
        shutil.copyfile(file, folder / file.name)
    (folder / LICENCES).write_text(licences(), encoding="utf-8")


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
