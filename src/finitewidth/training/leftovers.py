"""What trainings leave for the case that their job fails in its last moment."""

import contextlib
import json
import shutil
from pathlib import Path


def clear_finished(results: str | Path) -> None:
    """Remove the checkpoints of all trainings that have ended, when a run of the pipeline ends.

    By then Snakemake has deleted the results of jobs that failed, so that those that are there
    count as made. Checkpoints of trainings under way or interrupted stay.

    Args:
        results: folder of a preset's results; a training's provenance below it holds the
            fingerprint that names the folder of its checkpoints.
    """
    for stamp in Path(results).glob("*/training/*/provenance.json"):
        with contextlib.suppress(OSError, ValueError, KeyError):  # damaged: its rule makes it anew
            fingerprint = json.loads(stamp.read_text(encoding="utf-8"))["fingerprint"]
            shutil.rmtree(Path(results) / ".checkpoints" / fingerprint)
