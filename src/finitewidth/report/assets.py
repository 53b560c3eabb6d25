"""Files the pages load: our style and script, and DataTables as the package itables ships it.

Standard library only at the top: the workflow reads the digest at every start.
"""

import base64
import hashlib
import shutil
from pathlib import Path

FOLDER = Path(__file__).parent
KINDS = ("templates", "static")


def assets_digest() -> str:
    """Digest (16 hex digits) of the templates, the style and the script."""
    digest = hashlib.sha256()
    for file in sorted(file for kind in KINDS for file in (FOLDER / kind).iterdir()):
        digest.update(file.name.encode() + file.read_bytes())
    return digest.hexdigest()[:16]


def write_assets(folder: Path) -> None:
    """Write what the pages load into ``folder``.

    DataTables comes as a module, which a browser loads from no file of the disk. It therefore
    travels as text in one ordinary script, shared by all pages, that imports it from a data URL.
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
