"""The origin of results: seeds, digests of files, and a description of the environment.

This module and its imports use only the standard library, because the workflow imports it at every
start.
"""

import atexit
import contextlib
import errno
import hashlib
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

SOURCE_ROOT = Path(__file__).resolve().parents[2]
MOST = 5000  # largest number of entries in a file of `remembered`; the newest are kept
SCHEDULERS = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID")  # Slurm, PBS, LSF
TIMESTAMP = ".snakemake_timestamp"  # Snakemake puts it into a folder when the job has ended
COMPUTING = ("numpy", "torch")  # of other versions a checkpoint is not continued
STAMPED_PACKAGES = ("numpy", "torch", "pandas", "scipy", "scikit-learn", "matplotlib", "snakemake")

_base_seed = 0


@contextlib.contextmanager
def base_seed(seed: int) -> Iterator[None]:
    """Let all seeds that `seed_for` derives within the block depend on a base seed.

    Every job that draws random numbers works inside such a block, with the setting ``seed`` of its
    configuration. The base seed belongs to the process, so all its threads share it. With 0 seeds
    are as they are outside of all blocks.
    """
    global _base_seed
    before, _base_seed = _base_seed, seed
    try:
        yield
    finally:
        _base_seed = before


def seed_for(*purpose: str | int) -> int:
    """Derive a seed from a name and the base seed.

    The seed depends only on the words of the name and on the base seed, and not on the order of
    calls. Hence a random stream does not change if another one is added. Types and boundaries of
    words matter: ``("a", "b")``, ``("a/b",)``, ``(1,)`` and ``("1",)`` give different seeds. With
    another base seed (`base_seed`) every name gives another seed. It is an integer below 2⁶³, the
    same on every machine. numpy's generators use all of its bits, torch's on a CPU the low 32 only:
    of 100,000 torch streams two are equal with a probability of about 0.7.

    Args:
        purpose: the words of the name, such as ``"npf/table2/fc_sgd", 3, "value weights"``.
    """
    if not _base_seed:
        return _seed_of(purpose)
    # a mapping is never a word of a name, so that no name equals that of another base seed
    return _seed_of([{"base seed": _base_seed}, *purpose])


def fixed_seed_for(*purpose: str | int) -> int:
    """Derive a seed from a name alone, as `seed_for` does with base seed 0.

    For what does not depend on the base seed: the bundled datasets, which all runs share, and the
    networks on which errata are checked.
    """
    return _seed_of(purpose)


def _seed_of(words: Sequence[Any]) -> int:
    digest = hashlib.sha256(json.dumps(words).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def fingerprint(value: Any) -> str:
    """Return a digest (16 hex digits) of a JSON-serialisable value, whatever the order of keys."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def remembered(file: Path) -> dict[str, Any]:
    """Return the dictionary in a JSON file, whose values depend on their keys only.

    The caller adds entries to it. It is written when the process ends, if that is possible.
    """
    try:
        known = dict(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        known = {}
    atexit.register(_keep, file, known, len(known))
    return known


def _keep(file: Path, known: dict[str, Any], before: int) -> None:
    if len(known) == before:
        return
    with contextlib.suppress(OSError):  # other processes may write it meanwhile
        file.parent.mkdir(exist_ok=True)
        handle, name = tempfile.mkstemp(dir=file.parent)
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            json.dump(dict(list(known.items())[-MOST:]), stream)
        os.replace(name, file)


def digest_of(path: str | Path) -> str:
    """Return the SHA-256 of a file in hex; of a folder, that of names and digests.

    Raises:
        OSError: it cannot be read, or it is neither a regular file nor a folder, such as a pipe,
            which would be read without end.
    """
    path = Path(path)
    if not path.is_dir():
        if path.exists() and not path.is_file():
            raise OSError(errno.EINVAL, "it is no regular file", str(path))
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    digest = hashlib.sha256()
    for file in sorted(path.rglob("*")):
        if file.is_file() and file.name != TIMESTAMP:
            digest.update(f"{digest_of(file)} {file.relative_to(path).as_posix()}\n".encode())
    return digest.hexdigest()


def versions_of(packages: Iterable[str] = STAMPED_PACKAGES) -> dict[str, str]:
    """Return the versions of installed packages."""
    return {package: metadata.version(package) for package in packages}


def environment() -> dict[str, Any]:
    """Return the versions of packages, a description of the machine and the state of git."""
    return {
        "python": sys.version.split()[0],
        "versions": versions_of(),
        "machine": {
            "system": platform.system(),
            "release": platform.release(),
            "processor": _processor(),
            "cores": os.cpu_count(),
            "scheduler_job": next(filter(None, map(os.environ.get, SCHEDULERS)), None),
        },
        "git": git_state(),
    }


def git_state() -> dict[str, Any]:
    """Return the commit of the checkout and whether it has changes; None outside of a checkout."""
    command = ["git", "-C", str(SOURCE_ROOT), "status", "--porcelain=v2", "--branch", "-uno"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return {"commit": None, "dirty": None}
    lines = answer.stdout.splitlines()
    commit = next(line.split()[-1] for line in lines if line.startswith("# branch.oid"))
    return {"commit": commit, "dirty": any(not line.startswith("#") for line in lines)}


def _processor() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor()
