"""What every job of the workflow does around its work: the log, and the provenance.

The provenance is a JSON file among the outputs: the plan of the job, digests of the files that it
read and made, versions, machine, time and memory.
"""

import atexit
import contextlib
import gc
import json
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from finitewidth.common.errors import ResultError
from finitewidth.common.machine import cpu_seconds, peak_memory
from finitewidth.common.progress import logged_to
from finitewidth.records.code import code_of_record, forget_modules
from finitewidth.records.provenance import digest_of, environment, fingerprint
from finitewidth.records.running import shown
from finitewidth.records.verification import ALTERED, REMEDY, provenance_of

PROVENANCE = "provenance"  # name of the output
PLAN = "plan"  # name of the input
# parts of the plan that are a part of the provenance
PLANNED = ("job", "plan", "parameters", "code", "upstream")


def inputs_of(snakemake: Any) -> dict[str, Any]:
    """Return name -> file or files that a job reads, without the file with its plan."""
    return {name: files for name, files in snakemake.input.items() if name != PLAN}


def code_digest_of(snakemake: Any) -> str:
    """Return a digest of the code with which a job was planned."""
    return fingerprint(_read_json(str(snakemake.input[PLAN]))["code"])


@contextlib.contextmanager
def recorded(snakemake: Any) -> Iterator[dict[str, Any]]:
    """Do the work of a job in the block: with a log before it, and the provenance after it.

    The code must be that with which the job was planned, and its inputs must be what their jobs
    wrote and stay so while it works. Otherwise the job fails, and Snakemake deletes its outputs.
    The block gets an empty dictionary for what it adds to the provenance.

    Scripts import what they need within the block: Ctrl-C during an import is then one line.
    """
    # otherwise Python searches all objects for garbage when it ends, for a fifth of a second
    atexit.register(gc.freeze)
    plan_file = str(snakemake.input[PLAN])
    inputs = [file for file in map(str, snakemake.input) if file != plan_file]
    root = Path(snakemake.scriptdir).resolve().parents[1]
    with logged_to(snakemake.log[0]), contextlib.ExitStack() as stack:
        started = time.monotonic()
        plan = _read_json(plan_file)
        stack.enter_context(shown(plan["job"], snakemake.log[0]))
        _refuse_other_code(plan["code"], root)
        digests = {file: digest_of(file) for file in inputs}
        _refuse_other_inputs(digests, plan, root)
        facts: dict[str, Any] = {}
        yield facts
        _refuse_other_code(plan["code"], root)
        _refuse_changed(digests)
        _date_now([*inputs, plan_file])
        _write_provenance(snakemake, plan, root, digests, facts, started)


def _write_provenance(
    snakemake: Any,
    plan: Mapping[str, Any],
    root: Path,
    digests: Mapping[str, str],
    facts: Mapping[str, Any],
    started: float,
) -> None:
    """Write what the outputs of a job were made of.

    Args:
        snakemake: what Snakemake gives to a script
        plan: of the job
        root: folder of the project
        digests: input -> digest
        facts: what the job adds
        started: time of `time.monotonic` at its start
    """
    from finitewidth.records.result_files import write_json  # it imports numpy

    provenance = str(snakemake.output[PROVENANCE])
    outputs = [file for file in map(str, snakemake.output) if file != provenance]
    inputs = {_in_project(file, root): digest for file, digest in digests.items()}
    write_json(
        provenance,
        {
            **{key: plan[key] for key in PLANNED},
            "digests": {
                "inputs": inputs,
                "outputs": {file: digest_of(file) for file in outputs},
            },
            **facts,
            "wall_seconds": round(time.monotonic() - started, 2),
            "cpu_seconds": round(cpu_seconds(), 2),
            "memory_mb": round(peak_memory(), 1),
            **environment(),
        },
    )


def _read_json(file: str) -> dict[str, Any]:
    return json.loads(Path(file).read_text(encoding="utf-8"))


def _refuse_other_code(code: Mapping[str, Any], root: Path) -> None:
    forget_modules()
    now = code_of_record(code, root)
    if now is None or now.as_record() != code:
        raise ResultError(
            "the code of this job has changed since the run was planned; its results "
            "are not kept: start the run again"
        )


def _refuse_changed(digests: Mapping[str, str]) -> None:
    changed = [file for file, digest in digests.items() if digest_of(file) != digest]
    if changed:
        raise ResultError(f"{', '.join(changed)} changed while this job read it; run again")


def _refuse_other_inputs(digests: Mapping[str, str], plan: Mapping[str, Any], root: Path) -> None:
    """Check that every input is what its job wrote, by the job that the plan means.

    Raises:
        ResultError: it is not. The message names the file and the remedy.
    """
    for file, digest in digests.items():
        name = _in_project(file, root)
        if name not in plan["files"]:
            _refuse_other_result(file, name, digest, plan)
        elif plan["files"][name] != digest:
            raise ResultError(f"{file} has changed since the run was planned; start the run again")


def _refuse_other_result(file: str, name: str, digest: str, plan: Mapping[str, Any]) -> None:
    """Check that an input is what its job wrote; plans have it under ``name``."""
    stamp = plan["makers"][name]
    maker = provenance_of(file, stamp)
    if maker["plan"] != plan["upstream"][maker["job"]]:
        raise ResultError(
            f"{file} was made with other settings or code than this job was "
            "planned with; start the run again"
        )
    if maker["digests"]["outputs"].get(name) != digest:
        raise ResultError(f"{file} {ALTERED}; {REMEDY}")


def _in_project(file: str, root: Path) -> str:
    """A file as plans name it: of the project, relative to its folder, from wherever it is run."""
    path = Path(file)
    return path.relative_to(root).as_posix() if path.is_absolute() else file


def _date_now(files: list[str]) -> None:
    """Give inputs that are dated in the future the date of now.

    Snakemake refuses results that are older than an input, which a clock that was wrong has dated.
    """
    for file in files:
        if os.path.getmtime(file) > time.time():
            with contextlib.suppress(OSError):
                os.utime(file)
