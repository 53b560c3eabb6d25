"""Read and write result files: tables, arrays, text and JSON.

All other modules use these functions. Files are written atomically.
"""

import contextlib
import csv
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from finitewidth.common.errors import ResultError, unwritable

if TYPE_CHECKING:
    import pandas as pd


@contextlib.contextmanager
def atomic(path: str | Path) -> Iterator[Path]:
    """Write a file atomically.

    The block gets a temporary path in the folder of ``path``, which is created. If the block
    succeeds, the temporary file replaces ``path``, so a reader sees either the old file or the
    complete new one. Otherwise it is deleted. What a killed process left is replaced when the same
    file is written again.

    Raises:
        ResultError: the file cannot be written. The message names the file and what to do.
    """
    path = Path(path)
    # the suffix is kept, because numpy and matplotlib choose the format by it
    temporary = path.with_name(f".{path.stem}-new{path.suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.unlink(missing_ok=True)
        yield temporary
        with temporary.open("rb") as stream:
            os.fsync(stream.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise unwritable(error, path) from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def _reading(path: str | Path, *damages: type[Exception]) -> Iterator[None]:
    """Say of a file that is missing, or damaged as such errors tell, what to do about it."""
    try:
        yield
    except FileNotFoundError as error:
        raise ResultError(f"{path} is missing; run the rule that makes it") from error
    except damages as error:
        raise ResultError(f"{path} is damaged ({error}); delete it and run again") from error


def write_table(path: str | Path, rows: "pd.DataFrame", missing: str = "") -> None:
    """Write a table as CSV. Floats have the shortest form that reads back exactly."""
    with atomic(path) as temporary:
        rows.to_csv(temporary, index=False, lineterminator="\n", na_rep=missing)


def write_rows(path: str | Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write dictionaries with equal keys as CSV, without pandas, whose import takes time."""
    with atomic(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        # nan is the only value that differs from itself
        writer.writerows({key: "" if v != v else v for key, v in row.items()} for row in rows)


def read_rows(path: str | Path, empty: bool = False) -> list[dict[str, str]]:
    """Read a CSV file as dictionaries of strings, without pandas; it may be ``empty`` of rows."""
    with _reading(path, csv.Error, ValueError):
        _refuse_cut_line(path)
        with Path(path).open(newline="", encoding="utf-8") as stream:
            rows = list(csv.DictReader(stream, strict=True))
        if (not rows and not empty) or any(None in row or None in row.values() for row in rows):
            raise ValueError("a row is cut short")
    return rows


def _refuse_cut_line(path: str | Path) -> None:
    """Check that the file ends with a line break; otherwise its last number may be cut short."""
    with Path(path).open("rb") as stream:
        stream.seek(max(0, stream.seek(0, os.SEEK_END) - 1))
        if stream.read() != b"\n":
            raise ValueError("its last line is cut short")


def read_table(path: str | Path, columns: Sequence[str] = (), **options: Any) -> "pd.DataFrame":
    """Read a CSV file that must have some columns; ``options`` are those of ``pandas.read_csv``."""
    import pandas as pd

    with _reading(path, ValueError):
        _refuse_cut_line(path)
        rows = pd.read_csv(path, **options)
    missing = [column for column in columns if column not in rows.columns]
    if missing:
        raise ResultError(
            f"{path} lacks the columns {missing} (it has {list(rows.columns)}); delete it and run "
            "again"
        )
    return rows


def write_arrays(path: str | Path, **arrays: np.ndarray) -> None:
    """Write named arrays to an uncompressed ``.npz`` file without pickled objects."""
    with atomic(path) as temporary:
        np.savez(temporary, allow_pickle=False, **arrays)


def read_arrays(path: str | Path) -> dict[str, np.ndarray]:
    """Read all arrays of an ``.npz`` file; pickled objects are refused."""
    with _reading(path, Exception):  # numpy raises many kinds
        with Path(path).open("rb") as stream, np.load(stream, allow_pickle=False) as pack:
            arrays = {name: pack[name] for name in pack.files}
        if not all(isinstance(array, np.ndarray) for array in arrays.values()):
            raise ValueError("it contains other data than arrays")
        return arrays


def write_text(path: str | Path, text: str) -> None:
    """Write a text file in UTF-8."""
    with atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: str | Path, value: Any) -> None:
    """Write a JSON file with indentation; keys keep their order."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def read_json(path: str | Path) -> Any:
    """Read a JSON file."""
    with _reading(path, ValueError):
        return json.loads(Path(path).read_text(encoding="utf-8"))
