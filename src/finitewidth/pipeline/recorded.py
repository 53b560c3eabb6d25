"""What every job of the workflow does around its work: the log, and the provenance.

The provenance is a JSON file among the outputs: digests of the files that the job read and made,
and of its code, its parameters, versions, machine, time and memory.
"""

import atexit
import contextlib
import gc
import json
import re
import shutil
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from finitewidth.common.errors import ResultError
from finitewidth.common.progress import logged_to
from finitewidth.common.provenance import code_changed, digest_of, environment, forget_modules
from finitewidth.common.running import shown
from finitewidth.common.usage import cpu_seconds, peak_memory
from finitewidth.pipeline.announced import job_name

PROVENANCE = "provenance"  # name of the output


@contextlib.contextmanager
def recorded(snakemake: Any) -> Iterator[dict[str, Any]]:
    """Do the work of a job in the block: with a log before it, and the provenance after it.

    The code must be that with which Snakemake planned the job, and the inputs must stay the same
    while it works; otherwise the job fails, and Snakemake deletes its outputs. The block gets an
    empty dictionary for what it adds to the provenance.
    """
    # otherwise Python searches all objects for garbage when it ends, for a fifth of a second
    atexit.register(gc.freeze)
    params = dict(snakemake.params.items())
    provenance = str(snakemake.output[PROVENANCE])
    outputs = [str(file) for file in snakemake.output if str(file) != provenance]
    root = Path(snakemake.scriptdir).resolve().parents[1]
    name = job_name(snakemake.rule, dict(snakemake.wildcards.items()))
    with logged_to(snakemake.log[0]), shown(name, snakemake.log[0]):
        started = time.monotonic()
        _refuse_other_code(params["code"], root)
        inputs = {str(file): digest_of(file) for file in snakemake.input}
        facts: dict[str, Any] = {}
        yield facts
        _refuse_other_code(params["code"], root)
        if changed := [file for file, digest in inputs.items() if digest_of(file) != digest]:
            raise ResultError(f"{', '.join(changed)} changed while this job read it; run again")
        from finitewidth.common.result_files import write_json  # it imports numpy

        parameters = {name: value for name, value in params.items() if name != "code"}
        write_json(provenance, {
            "job": name,
            "digests": {"inputs": inputs, "outputs": {file: digest_of(file) for file in outputs}},
            "code": params["code"],
            **(facts or {"parameters": json.loads(json.dumps(parameters, default=str))}),
            "wall_seconds": round(time.monotonic() - started, 2),
            "cpu_seconds": round(cpu_seconds(), 2), "memory_mb": round(peak_memory(), 1),
            **environment(),
        })  # fmt: skip


def _refuse_other_code(code: Mapping[str, Any], root: Path) -> None:
    forget_modules()
    if code_changed(code, root):
        raise ResultError("the code of this job has changed since the run was planned; its results "
                          "are not kept: start the run again")  # fmt: skip


def clear_finished(results: str | Path) -> None:
    """Remove the checkpoints of all jobs that have ended, when a run of the pipeline ends.

    By then Snakemake has deleted the results of jobs that failed. The provenance of those that have
    ended holds the fingerprint that names the folder of their checkpoints.
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
            if re.fullmatch("[0-9a-f]+", fingerprint):  # and never a path to somewhere else
                shutil.rmtree(checkpoints / fingerprint)
