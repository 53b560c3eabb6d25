"""A page for every script in docs/examples: what it prints, and its source."""

import ast
import hashlib
import os
import subprocess
import sys
from pathlib import Path

from sphinx.errors import ExtensionError

OUTPUTS = "outputs"
TIMEOUT = 1800  # seconds; idle, the longest script takes ten


def write(root: Path, folder: Path) -> None:
    """Write ``examples/<name>.md`` for every script, and its output where it has changed."""
    (folder / "examples").mkdir(exist_ok=True)
    for script in sorted((root / "docs/examples").glob("*.py")):
        printed = output(script, folder / OUTPUTS)
        text = "\n".join(_page(script, printed))
        (folder / "examples" / f"{script.stem}.md").write_text(text, encoding="utf-8")


def output(script: Path, kept: Path) -> str:
    """Return what a script prints; it runs only if its text has changed since the last time."""
    digest = hashlib.sha256(script.read_bytes()).hexdigest()[:16]
    file = kept / f"{script.stem}-{digest}.txt"
    if not file.is_file():
        kept.mkdir(parents=True, exist_ok=True)
        for old in kept.glob(f"{script.stem}-*.txt"):
            old.unlink()
        try:
            answer = subprocess.run(
                [sys.executable, str(script)],
                capture_output=True,
                text=True,
                check=True,
                timeout=TIMEOUT,
                env=os.environ | {"OMP_NUM_THREADS": "1"},
            )
        except subprocess.SubprocessError as error:
            raise ExtensionError(f"{error}\n{(error.stderr or '').strip()}") from error
        file.write_text(answer.stdout, encoding="utf-8")
    return file.read_text(encoding="utf-8").rstrip()


def _page(script: Path, printed: str) -> list[str]:
    """The docstring without its paragraph on the command, the command, the output, the source."""
    title, _, rest = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))).partition(
        "\n"
    )
    return [
        f"# {title.rstrip('.')}",
        "",
        rest.strip(),
        "",
        "```console",
        f"$ python docs/examples/{script.name}",
        printed,
        "```",
        "",
        f"```{{literalinclude}} ../../examples/{script.name}",
        ":language: python",
        "```",
        "",
    ]
