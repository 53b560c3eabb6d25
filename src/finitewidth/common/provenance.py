"""The origin of results: seeds, digests of code, and a description of the environment.

This module and its imports use only the standard library, because the workflow imports it at every
start.
"""

import ast
import atexit
import contextlib
import hashlib
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

PACKAGE = "finitewidth"
SOURCE_ROOT = Path(__file__).resolve().parents[2]
MOST = 5000  # largest number of entries in a file of `remembered`; the newest are kept
SCHEDULERS = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID")  # Slurm, PBS, LSF
TIMESTAMP = ".snakemake_timestamp"  # Snakemake puts it into a folder when the job has ended
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
    same on every machine.

    Args:
        purpose: the words of the name, such as ``"npf/table2/fc_sgd", 3, "value weights"``.
    """
    # a mapping is never a word of a name, so that no name equals that of another base seed
    return fixed_seed_for(*([{"base seed": _base_seed}] if _base_seed else []), *purpose)


def fixed_seed_for(*purpose: str | int) -> int:
    """Derive a seed from a name alone, as `seed_for` does with base seed 0.

    For what does not depend on the base seed: the bundled datasets, which all runs share, and the
    networks on which errata are checked.
    """
    digest = hashlib.sha256(json.dumps(purpose).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def fingerprint(value: Any) -> str:
    """Return a digest (16 hex digits) of a JSON-serialisable value, whatever the order of keys."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def source_of(module: str) -> Path | None:
    """Return the source file of a module of the package; None if there is no such module."""
    base = SOURCE_ROOT.joinpath(*module.split("."))
    for candidate in (base.with_suffix(".py"), base / "__init__.py"):
        if candidate.is_file():
            return candidate
    return None


def names_imported(tree: ast.AST) -> set[str]:
    """Return the imported names within the package, parents included; not all are modules."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    inside = {name for name in names if name.split(".")[0] == PACKAGE}
    return {name.rsplit(".", count)[0] for name in inside for count in range(name.count(".") + 1)}


def without_docstrings(tree: ast.Module) -> ast.Module:
    """Remove the docstrings from a syntax tree, in place, and return it."""
    for node in ast.walk(tree):
        documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return tree


@cache
def _module_digest(module: str) -> tuple[str, frozenset[str]]:
    """A module's digest and its imports, stored by its text: an unchanged file is not parsed."""
    source = source_of(module).read_text(encoding="utf-8")
    seen, question = _seen(), fingerprint(source)
    if question not in seen:
        tree = ast.parse(source)
        names = sorted(names_imported(tree))
        code = ast.dump(without_docstrings(tree))
        seen[question] = [hashlib.sha256(code.encode()).hexdigest(), names]
    digest, names = seen[question]
    return digest, frozenset(filter(source_of, names))


@cache
def _seen() -> dict[str, list[Any]]:
    folder = Path(__file__).resolve().parent / "__pycache__"
    return remembered(folder / f"digests.{sys.implementation.cache_tag}.json")


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
    """Return the SHA-256 of a file in hex; of a folder, that of names and digests."""
    path = Path(path)
    if not path.is_dir():
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    digest = hashlib.sha256()
    for file in sorted(path.rglob("*")):
        if file.is_file() and file.name != TIMESTAMP:
            digest.update(f"{digest_of(file)} {file.relative_to(path).as_posix()}\n".encode())
    return digest.hexdigest()


def file_digest(file: str | Path) -> str:
    """Return a digest (16 hex digits) of a text, or of a Python file without its docstrings."""
    content = Path(file).read_bytes()
    if Path(file).suffix == ".py":
        content = ast.dump(without_docstrings(ast.parse(content))).encode()
    return hashlib.sha256(content).hexdigest()[:16]


def code_of(modules: Iterable[str], files: Iterable[str], root: str | Path) -> dict[str, Any]:
    """Return the code of a job as the parameter ``code`` of its rule, with a ``digest`` of it.

    It is in ``modules`` and all that they import, and in scripts and texts, ``files`` in ``root``.
    """
    code = {"modules": sorted(modules), "files": list(files)}
    digests = [code_digest(*code["modules"])]
    digests += [file_digest(Path(root, file)) for file in code["files"]]
    return {"digest": "-".join(digests), **code}


def code_changed(code: Mapping[str, Any], root: str | Path) -> bool:
    """Whether the files of the project are no longer the code that `code_of` returned.

    Modules that this process has read before are not read again; see `forget_modules`.
    """
    try:
        return code_of(code["modules"], code["files"], root) != code
    except (ModuleNotFoundError, OSError, SyntaxError):
        return True


def forget_modules() -> None:
    """Let digests of modules be computed anew, from the files as they are then."""
    _module_digest.cache_clear()


def code_digest(*modules: str) -> str:
    """Return a digest (16 hex digits) of modules and of all package modules that they import.

    Comments, formatting and docstrings do not change it. Rules have it as a parameter, because
    Snakemake compares the script of a rule, but not the modules that the script imports.
    """
    for module in modules:
        if source_of(module) is None:
            raise ModuleNotFoundError(f"{module} is not a module below {SOURCE_ROOT}")
    reached: dict[str, str] = {}
    waiting = [*modules]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached[name], imported = _module_digest(name)
            waiting += imported
    return fingerprint(reached)


def environment() -> dict[str, Any]:
    """Return the versions of packages, a description of the machine and the state of git."""
    return {
        "python": sys.version.split()[0],
        "versions": {package: metadata.version(package) for package in STAMPED_PACKAGES},
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
