"""What every job of the workflow does around its work: the log, and the provenance.

The provenance of a job is a JSON file among its outputs. It holds the digests of the files that the
job read and made, the digest of its code, its parameters, versions, machine, time and memory.
"""

import atexit
import contextlib
import gc
import json
import re
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from finitewidth.common.errors import ResultError
from finitewidth.common.progress import logged_to
from finitewidth.common.provenance import code_changed, digest_of, environment, forget_modules
from finitewidth.common.usage import cpu_seconds, peak_memory
from finitewidth.pipeline.announced import job_name

PROVENANCE = "provenance"  # name of the output
FINGERPRINT = re.compile("[0-9a-f]+")


@contextlib.contextmanager
def recorded(snakemake: Any) -> Iterator[dict[str, Any]]:
    """Do the work of a job in the block: with a log before it, and the provenance after it.

    The code must be that with which Snakemake planned the job, and the inputs must stay the same
    while it works. Both are compared when the job starts and when it ends. Of a job that fails
    Snakemake deletes the outputs. The block gets an empty dictionary for what it adds to the
    provenance.

    Raises:
        SystemExit: code or inputs have changed, or the job raised a
            `finitewidth.common.errors.FinitewidthError`; see
            `finitewidth.common.progress.logged_to`.
    """
    # otherwise Python searches all objects for garbage when it ends, for a fifth of a second
    atexit.register(gc.freeze)
    params = dict(snakemake.params.items())
    provenance = str(snakemake.output[PROVENANCE])
    outputs = [str(file) for file in snakemake.output if str(file) != provenance]
    root = Path(snakemake.scriptdir).resolve().parents[1]
    with logged_to(snakemake.log[0]):
        started = time.monotonic()
        _refuse_other_code(params["code"], root)
        inputs = digests_of(map(str, snakemake.input))
        facts: dict[str, Any] = {}
        yield facts
        _refuse_other_code(params["code"], root)
        now = digests_of(inputs)
        if changed := [file for file in inputs if now[file] != inputs[file]]:
            raise ResultError(f"{', '.join(changed)} changed while this job read it; run again")
        from finitewidth.common.result_files import write_json  # it imports numpy

        parameters = {name: value for name, value in params.items() if name != "code"}
        write_json(provenance, {
            "job": job_name(snakemake.rule, dict(snakemake.wildcards.items())),
            "digests": {"inputs": inputs, "outputs": digests_of(outputs)}, "code": params["code"],
            **(facts or {"parameters": json.loads(json.dumps(parameters, default=str))}),
            "wall_seconds": round(time.monotonic() - started, 2),
            "cpu_seconds": round(cpu_seconds(), 2), "memory_mb": round(peak_memory(), 1),
            **environment(),
        })  # fmt: skip


def digests_of(files: Iterable[str]) -> dict[str, str]:
    """Return file -> digest."""
    try:
        return {file: digest_of(file) for file in files}
    except FileNotFoundError as error:
        raise ResultError(f"{error.filename or error}: missing; run the rule that makes it") from (
            error
        )


def _refuse_other_code(code: Mapping[str, Any], root: Path) -> None:
    forget_modules()
    if code_changed(code, root):
        raise ResultError("the code of this job has changed since the run was planned; its results "
                          "are not kept: start the run again")  # fmt: skip


def clear_finished(results: str | Path) -> None:
    """Remove the checkpoints of all jobs that have ended, when a run of the pipeline ends.

    By then Snakemake has deleted the results of jobs that failed, so that those that are there
    count as made. Checkpoints of jobs under way or interrupted stay.

    The provenance of a training or an experiment below ``results``, the folder of a preset, holds
    the fingerprint that names the folder of its checkpoints.
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
