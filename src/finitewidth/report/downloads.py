"""Copies of result files in the folder of the report, so that the folder can be moved."""

import gzip
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

LARGE = 100_000  # bytes; text above it is compressed


@dataclass(frozen=True, kw_only=True)
class Download:
    """A copy: its address relative to the pages, its name, and its size in bytes."""

    href: str
    label: str
    size: int


class Downloads:
    """Copy files from ``results`` to ``folder``/files, each once, if they are ``whole``."""

    def __init__(
        self,
        results: str | Path,
        folder: str | Path,
        whole: Callable[[Path], bool] = lambda file: True,
    ):
        self._results, self._folder, self._whole = Path(results), Path(folder), whole
        self._copies: dict[Path, Download | None] = {}

    def put(self, file: str | Path, compress: bool = True) -> Download | None:
        """Copy a file; None if it does not exist, or if it is not what its job wrote.

        Text files above `LARGE` are compressed, SVG files to ``.svgz``, which drawing programs can
        open; with ``compress=False`` none is. A log is renamed to ``.log.txt``, which browsers
        display.
        """
        file = Path(file)
        if file in self._copies:
            return self._copies[file]
        if not (file.is_file() and self._whole(file)):
            return self._copies.setdefault(file, None)
        suffix = ".txt" if file.suffix == ".log" else ""
        compress &= file.stat().st_size > LARGE and file.suffix not in (".png", ".pdf", ".npz")
        if compress:
            suffix += "z" if file.suffix == ".svg" else ".gz"
        href = f"files/{file.relative_to(self._results).as_posix()}{suffix}"
        target = self._folder / href
        target.parent.mkdir(parents=True, exist_ok=True)
        if compress:
            target.write_bytes(gzip.compress(file.read_bytes(), mtime=0))
        else:
            shutil.copyfile(file, target)
        copy = Download(href=href, label=target.name, size=target.stat().st_size)
        return self._copies.setdefault(file, copy)
