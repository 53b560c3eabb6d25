"""Answers that follow from their question alone, kept on disk from one start to the next."""

import atexit
import contextlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

MOST = 5000  # entries; beyond that those of long ago go


def remembered(file: Path) -> dict[str, Any]:
    """What is known so far, as a dictionary to add to; it is kept when this process ends.

    A file that is damaged, missing or cannot be written costs time and nothing else.
    """
    try:
        known = dict(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        known = {}
    atexit.register(_keep, file, known, len(known))
    return known


def _keep(file: Path, known: dict[str, Any], before: int) -> None:
    """Write atomically, if there is news; another process may do the same."""
    if len(known) == before:
        return
    newest = dict(list(known.items())[-MOST:])
    with contextlib.suppress(OSError):
        file.parent.mkdir(exist_ok=True)
        handle, name = tempfile.mkstemp(dir=file.parent)
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            json.dump(newest, stream)
        os.replace(name, file)
