"""Files and folders that a command writes, tried before its work begins."""

import contextlib
import errno
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from finitewidth.common.errors import ConfigError, unwritable


def try_folder(folder: Path, option: str) -> None:
    """Refuse a folder that cannot be made or written; nothing is left of the attempt.

    Args:
        folder: to write, with all folders above it that are missing.
        option: that names it, for the message.

    Raises:
        ConfigError: it cannot be written.
    """
    with _refused(folder, option):
        if folder.exists() and not folder.is_dir():
            raise ConfigError(f"{option}: {folder} is no folder; name another")
        missing = [path for path in (folder, *folder.parents) if not path.exists()]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
        finally:
            for path in missing:
                with contextlib.suppress(OSError):
                    path.rmdir()


def try_file(file: Path, option: str) -> None:
    """Refuse a file that cannot be written; its folder must be there, and nothing is changed.

    Raises:
        ConfigError: it cannot be written.
    """
    with _refused(file, option):
        if file.is_dir():
            raise ConfigError(f"{option}: {file} is a folder; name a file in it")
        if not file.parent.is_dir():
            raise ConfigError(
                f"{option}: there is no folder {file.parent}; make it, or name another"
            )
        if not file.exists():
            with tempfile.TemporaryFile(dir=file.parent):
                pass
        elif not os.access(file, os.W_OK):
            raise PermissionError(errno.EACCES, "no permission")


@contextlib.contextmanager
def written(path: Path) -> Iterator[None]:
    """Say which file or folder cannot be written if the block fails to, as on a full disk."""
    try:
        yield
    except OSError as error:
        raise unwritable(error, path) from error


@contextlib.contextmanager
def _refused(path: Path, option: str) -> Iterator[None]:
    try:
        yield
    except (FileExistsError, FileNotFoundError, NotADirectoryError) as error:
        raise ConfigError(f"{option}: {path} cannot be made; name another") from error
    except OSError as error:
        raise ConfigError(f"{option}: {unwritable(error, path)}") from error
