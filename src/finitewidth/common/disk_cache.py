"""A dictionary that is stored on disk between processes.

It is meant for values that depend only on their keys, so stored values never become invalid.
"""

import atexit
import contextlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

MOST = 5000  # largest number of entries in a file; the newest are kept


def remembered(file: Path) -> dict[str, Any]:
    """Return the dictionary that is stored in a JSON file.

    The caller adds entries to it. It is written when the process ends. If the file is damaged,
    missing or cannot be written, the entries have to be computed again.
    """
    try:
        known = dict(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        known = {}
    atexit.register(_keep, file, known, len(known))
    return known


def _keep(file: Path, known: dict[str, Any], before: int) -> None:
    """Replace the file if there are new entries; other processes may write it meanwhile."""
    if len(known) == before:
        return
    with contextlib.suppress(OSError):
        file.parent.mkdir(exist_ok=True)
        handle, name = tempfile.mkstemp(dir=file.parent)
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            json.dump(dict(list(known.items())[-MOST:]), stream)
        os.replace(name, file)
