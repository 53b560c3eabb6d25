"""Removal of the checkpoints of finished jobs, at the end of a run."""

import contextlib
import json
import re
import shutil
from pathlib import Path

FINGERPRINT = re.compile("[0-9a-f]+")


def clear_finished(results: str | Path) -> None:
    """Remove the checkpoints of all jobs that have ended, when a run of the pipeline ends.

    By then Snakemake has deleted the results of jobs that failed, so that those that are there
    count as made. Checkpoints of jobs under way or interrupted stay.

    Args:
        results: folder of a preset's results; the provenance of a training or an experiment below
            it holds the fingerprint that names the folder of its checkpoints.
    """
    folder = Path(results)
    checkpoints = folder / ".checkpoints"
    if checkpoints.is_symlink():  # nothing is deleted where a link leads
        return
    stamps = (*folder.glob("*/training/*/provenance.json"),
              *folder.glob("*/experiments/*_provenance.json"))  # fmt: skip
    for stamp in stamps:
        # damaged: its rule makes it anew
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            fingerprint = json.loads(stamp.read_text(encoding="utf-8"))["fingerprint"]
            if FINGERPRINT.fullmatch(fingerprint):  # and never a path to somewhere else
                shutil.rmtree(checkpoints / fingerprint)
