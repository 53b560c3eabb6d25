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
    """Copies of files below ``results`` in the folder ``files`` of the report.

    Each file is copied once. One that is not ``whole`` is not copied.
    """

    def __init__(
        self,
        results: str | Path,
        folder: str | Path,
        whole: Callable[[Path], bool] = lambda file: True,
    ):
        self._results = Path(results)
        self._folder = Path(folder)
        self._whole = whole
        self._copies: dict[Path, Download | None] = {}

    def put(self, file: str | Path, compress: bool = True) -> Download | None:
        """Copy a file; None if it does not exist, or if it is not what its job wrote.

        Text files above `LARGE` are compressed; with ``compress=False`` none is. A log is renamed
        to ``.log.txt``, which browsers display, as they do SVG files that are not compressed.
        """
        file = Path(file)
        if file not in self._copies:
            may_be_shown = file.is_file() and self._whole(file)
            self._copies[file] = self._copy(file, compress) if may_be_shown else None
        return self._copies[file]

    def _copy(self, file: Path, compress: bool) -> Download:
        is_text = file.suffix not in (".png", ".pdf", ".svg", ".npz")
        compress = compress and is_text and file.stat().st_size > LARGE
        suffix = ".txt" if file.suffix == ".log" else ""
        if compress:
            suffix += ".gz"
        href = f"files/{file.relative_to(self._results).as_posix()}{suffix}"
        target = self._folder / href
        target.parent.mkdir(parents=True, exist_ok=True)
        if compress:
            target.write_bytes(gzip.compress(file.read_bytes(), mtime=0))
        else:
            shutil.copyfile(file, target)
        return Download(href=href, label=target.name, size=target.stat().st_size)
