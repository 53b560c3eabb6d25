"""The report's own copies of result files, so that its folder can be moved or zipped."""

import gzip
import shutil
from dataclasses import dataclass
from pathlib import Path

LARGE = 100_000  # bytes; text above it is compressed


@dataclass(frozen=True, kw_only=True)
class Download:
    """A copy: ``href`` relative to the pages, what to call it, and its size in bytes."""

    href: str
    label: str
    size: int


class Downloads:
    """Copies files of ``results`` to ``folder``/files, each once, whoever asks for it."""

    def __init__(self, results: str | Path, folder: str | Path):
        self._results, self._folder = Path(results), Path(folder)
        self._copies: dict[Path, Download | None] = {}

    def put(self, file: str | Path) -> Download | None:
        """Copy a file; None if there is none (yet).

        Text above `LARGE` is compressed, an SVG to ``.svgz``, which drawing programs open; a log
        becomes ``.log.txt``, which browsers show.
        """
        file = Path(file)
        if file not in self._copies:
            self._copies[file] = self._copied(file) if file.is_file() else None
        return self._copies[file]

    def _copied(self, file: Path) -> Download:
        below = file.relative_to(self._results)
        suffix = ".txt" if file.suffix == ".log" else ""
        compress = file.stat().st_size > LARGE and file.suffix not in (".png", ".pdf", ".npz")
        if compress:
            suffix += "z" if file.suffix == ".svg" else ".gz"
        href = f"files/{below.as_posix()}{suffix}"
        target = self._folder / href
        target.parent.mkdir(parents=True, exist_ok=True)
        if compress:
            target.write_bytes(gzip.compress(file.read_bytes(), mtime=0))
        else:
            shutil.copyfile(file, target)
        return Download(href=href, label=Path(href).name, size=target.stat().st_size)
