"""What is removed when a run ends."""

import contextlib
import json
import re
import shutil
from pathlib import Path

from finitewidth.pipeline.folders import CHECKPOINTS, PLANS


def clear_finished(results: str | Path, plans: bool = True) -> None:
    """Remove plans, and the checkpoints of all jobs that have ended, when a run ends.

    By then Snakemake has deleted the results of jobs that failed.

    Args:
        results: folder of the results of the run
        plans: whether this process has written any; otherwise they are of a run at work
    """
    folder = Path(results)
    if plans:
        shutil.rmtree(folder / PLANS, ignore_errors=True)  # those of datasets, other runs may need
    checkpoints = folder / CHECKPOINTS
    if checkpoints.is_symlink():  # nothing is deleted where a link leads
        return
    trainings = folder.glob("*/training/*/provenance.json")
    experiments = folder.glob("*/experiments/*_provenance.json")
    for stamp in (*trainings, *experiments):
        if stamp.is_file():
            _clear_checkpoints(stamp, checkpoints)


def _clear_checkpoints(stamp: Path, checkpoints: Path) -> None:
    """Remove the checkpoints of a job, whose folder is named by the fingerprint in a provenance."""
    # damaged: its rule makes it anew
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
        name = json.loads(stamp.read_text(encoding="utf-8"))["fingerprint"]
        if re.fullmatch("[0-9a-f]+", name):  # and never a path to somewhere else
            shutil.rmtree(checkpoints / name)
