"""Files that the pages load: style, script, and DataTables from the package itables.

This module imports only the standard library at its top, because the workflow computes the digest
at every start.
"""

import base64
import hashlib
import shutil
from pathlib import Path

FOLDER = Path(__file__).parent
KINDS = ("templates", "static", "sphinx", "licences")


def assets_digest() -> str:
    """Return a digest (16 hexadecimal digits) of templates, styles, scripts and licences."""
    digest = hashlib.sha256()
    for file in sorted(file for kind in KINDS for file in (FOLDER / kind).iterdir()):
        digest.update(file.name.encode() + file.read_bytes())
    return digest.hexdigest()[:16]


def write_assets(folder: Path) -> None:
    """Write the files that the pages load into ``folder``.

    DataTables is a JavaScript module, and browsers do not load modules from files on disk. It is
    therefore embedded as text in an ordinary script, which imports it from a data URL.
    """
    import itables

    folder.mkdir(parents=True, exist_ok=True)
    for file in (FOLDER / "static").iterdir():
        shutil.copyfile(file, folder / file.name)
    bundle = Path(itables.__file__).parent / "html"
    shutil.copyfile(bundle / "dt_bundle.css", folder / "datatables.css")
    text = base64.b64encode((bundle / "dt_bundle.js").read_bytes()).decode()
    script = f'window.dataTables = import("data:text/javascript;base64,{text}");\n'
    (folder / "datatables.js").write_text(script, encoding="utf-8")
