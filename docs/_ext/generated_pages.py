"""Pages and pictures that the build of the documentation writes into docs/generated.

They follow from the declarations of the papers, the public names of the library, the settings and
the examples. The folder is not part of the repository.
"""

import shutil
from pathlib import Path

import api_pages
import example_pages
import paper_pages
import setting_pages
import statement_pages
from sphinx.application import Sphinx

from finitewidth.report.build import LICENCES, licences


def write_all(root: Path, folder: Path) -> None:
    """Write all generated pages.

    Args:
        root: folder of the project.
        folder: where the pages are written; what is not written again is removed. Outputs
            of examples are kept, and made again if their sources change.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        if old.name != example_pages.OUTPUTS:
            shutil.rmtree(old) if old.is_dir() else old.unlink()
    paper_pages.write(root, folder)
    api_pages.write(folder)
    setting_pages.write(root, folder)
    statement_pages.write(root, folder)
    example_pages.write(root, folder)


def _generate(app: Sphinx) -> None:
    source = Path(app.srcdir)
    write_all(source.parent, source / "generated")


def _add_licences(app: Sphinx, failed: Exception | None) -> None:
    if not failed:
        (Path(app.outdir) / "_static" / LICENCES).write_text(licences(), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages before Sphinx looks for its sources."""
    app.connect("builder-inited", _generate)
    app.connect("build-finished", _add_licences)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
