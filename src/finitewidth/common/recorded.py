"""What every job of the workflow does around its work: log, check inputs, seal outputs, provenance.

The provenance of a job holds the digests of its inputs and outputs and its identity, a digest of
all parameters of its rule: settings, code, base seed, footer. `finitewidth.pipeline.chain` compares
them with the files and with the parameters of today.
"""

import atexit
import contextlib
import gc
import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from finitewidth.common.announced import job_name
from finitewidth.common.progress import logged_to
from finitewidth.common.provenance import environment, fingerprint
from finitewidth.common.seals import checked_digest, digest_of, seal_of, sealed_digest
from finitewidth.common.usage import cpu_seconds, peak_memory

PROVENANCE = "provenance"  # name of the output, and of the folder, that holds the provenance


def identity_of(params: Mapping[str, Any]) -> str:
    """Return a digest (16 hex digits) of the parameters of a job."""
    return fingerprint(plain(params))


def plain(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters as values that JSON can hold."""
    return json.loads(json.dumps(dict(params), default=str))


def provenance_of(outputs: Mapping[str, str], log: str) -> str:
    """Return the file of a job's provenance.

    This is the output of that name; a job without one has a file in ``provenance``, in the place
    that its log has in ``logs``.

    Args:
        outputs: name -> file, as far as outputs have names.
        log: the job's log, such as ``results/quick/logs/npf/npf_fig3.log``.
    """
    if PROVENANCE in outputs:
        return outputs[PROVENANCE]
    parts = ["provenance" if part == "logs" else part for part in Path(log).parts]
    return str(Path(*parts).with_suffix(".json"))


@contextlib.contextmanager
def recorded(snakemake: Any, check: bool = True) -> Iterator[None]:
    """Do the work of a job in the block: with its log, checked inputs, sealed outputs, provenance.

    Args:
        snakemake: the object of that name in a script of Snakemake.
        check: whether an altered input stops the job. The report names such files instead.

    Raises:
        SystemExit: an input is missing or altered, or the job raised a
            `finitewidth.common.errors.FinitewidthError`; see
            `finitewidth.common.progress.logged_to`.
    """
    # otherwise Python searches all objects for garbage when it ends, for a fifth of a second
    atexit.register(gc.freeze)
    outputs = dict(snakemake.output.items())
    provenance = provenance_of(outputs, snakemake.log[0])
    made = [str(file) for file in snakemake.output if str(file) != provenance]
    with logged_to(snakemake.log[0]):
        started = time.monotonic()
        digest = checked_digest if check else digest_of
        inputs = {str(file): digest(file) for file in dict.fromkeys(snakemake.input)}
        for file in made:  # seals of an earlier run, whose files Snakemake has deleted
            if not Path(file).exists():
                seal_of(file).unlink(missing_ok=True)
        yield
        if made:
            stamp = {
                "job": job_name(snakemake.rule, dict(snakemake.wildcards.items())),
                "digests": {"inputs": inputs, "outputs": {file: seal(file) for file in made}},
            }
            _write(provenance, stamp, dict(snakemake.params.items()), time.monotonic() - started)


def seal(file: str) -> str:
    """Write the digest of a finished file beside it, and return it.

    Raises:
        ResultError: the file cannot be written.
    """
    from finitewidth.common.result_files import write_text

    digest = digest_of(file)
    if sealed_digest(file) != digest:
        write_text(seal_of(file), digest)
    return digest


def record_in_place_of(rule: str, snakemake: Any, seconds: float) -> None:
    """Write the provenance of a rule whose folder a job without outputs has made anew.

    `finitewidth report` replaces the folder of rule ``report``, from the results that exist.

    Args:
        rule: the rule; the parameter ``jobs`` names its inputs, and ``folder`` is its output.
        snakemake: of the job. Its other parameters are those of the rule, and so is its log.
        seconds: wall time.

    Raises:
        ResultError: the provenance cannot be written.
    """
    params = dict(snakemake.params.items())
    folder = params.pop("folder")
    files = [file for file in params["jobs"][rule]["inputs"] if Path(file).exists()]
    digests = {"inputs": {f: digest_of(f) for f in files}, "outputs": {folder: seal(folder)}}
    stamp = {"job": rule, "digests": digests}
    _write(provenance_of({}, snakemake.log[0]), stamp, params, seconds)


def _write(file: str, stamp: dict[str, Any], params: Mapping[str, Any], seconds: float) -> None:
    """Write a provenance, or add to the one that the job wrote itself."""
    from finitewidth.common.result_files import read_json, write_json

    stamp["identity"] = identity_of(params)
    stamp |= {"cpu_seconds": round(cpu_seconds(), 2), "memory_mb": round(peak_memory(), 1)}
    if Path(file).is_file() and Path(file).name.endswith("provenance.json"):
        write_json(file, read_json(file) | stamp)
        return
    parameters = {name: value for name, value in params.items() if name != "code"}
    write_json(file, stamp | {
        "code": params.get("code"), "parameters": plain(parameters),
        "wall_seconds": round(seconds, 2), **environment(),
    })  # fmt: skip
