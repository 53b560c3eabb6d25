"""The code of a job: its modules, all that they import, and texts, each with a digest.

A digest is the same under every version of Python, and it changes with what a statement does, not
with comments, docstrings or layout. Only files of the project count, wherever the package lies.

This module and its imports use only the standard library, because the workflow imports it at every
start.
"""

import ast
import hashlib
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from finitewidth.records.provenance import SOURCE_ROOT, fingerprint, remembered

PACKAGE = "finitewidth"
SECTIONS = "finitewidth.settings.sections"
COLUMNS = "finitewidth.declarations.columns"
DESCRIPTIONS = re.compile(r"finitewidth\.papers\.\w+\.(columns|settings)(\.\w+)*")
# How a name is used follows from the place where it stands; the others say how a text was written.
WORDING = ("ctx", "kind", "type_comment", "type_ignores")


@dataclass(frozen=True)
class Code:
    """The code of a job: digests (16 hex digits) of its ``modules`` and of its ``files``.

    The modules are those of a job and all that they import; the files, its script and texts, are
    named by their path in the project.
    """

    modules: Mapping[str, str]
    files: Mapping[str, str]

    @property
    def digest(self) -> str:
        """One digest (16 hex digits) of all of them."""
        return fingerprint(self.as_record())

    def as_record(self) -> dict[str, Any]:
        """Return what a provenance holds."""
        return {"modules": dict(self.modules), "files": dict(self.files)}


def code_of(modules: Collection[str], files: Iterable[str], root: str | Path) -> Code:
    """Return the code of a job: modules and all that they import, and files in ``root``.

    The packages that a module is in are imported with it.

    Raises:
        ModuleNotFoundError: one of ``modules`` is none of the package.
    """
    wanted = set(modules)
    for module in modules:
        parts = module.split(".")
        packages = [".".join(parts[:count]) for count in range(1, len(parts))]
        wanted.update(filter(source_of, packages))  # a folder need not be a module
    digests = {file: file_digest(Path(root, file)) for file in files}
    return Code(_reached(tuple(sorted(wanted))), digests)


def code_of_record(record: Mapping[str, Any], root: str | Path) -> Code | None:
    """Return the code as it is now, of what `Code.as_record` returned; None if a file is gone.

    Modules that this process has read before are not read again; see `forget_modules`.
    """
    try:
        modules = {name: _module_digest(name)[0] for name in record["modules"]}
        files = {file: file_digest(Path(root, file)) for file in record["files"]}
    except (ModuleNotFoundError, OSError, SyntaxError):
        return None
    return Code(modules, files)


def changed_code(now: Mapping[str, Any], then: Mapping[str, Any]) -> list[str]:
    """Return the modules and files that differ between two records of the code of a job."""
    changed = []
    for kind in ("modules", "files"):
        new = now.get(kind, {})
        old = then.get(kind, {})
        changed += [name for name in {**old, **new} if new.get(name) != old.get(name)]
    return changed


def forget_modules() -> None:
    """Let digests of modules be computed anew, from the files as they are then."""
    _module_digest.cache_clear()
    _reached.cache_clear()


def code_digest(*modules: str) -> str:
    """Return a digest (16 hex digits) of modules and of all package modules that they import.

    Raises:
        ModuleNotFoundError: one of them is no module of the package.
    """
    return fingerprint(_reached(tuple(sorted(modules))))


def file_digest(file: str | Path) -> str:
    """Return a digest (16 hex digits) of a text, or of what a Python file does."""
    if Path(file).suffix == ".py":
        return _parsed(Path(file))[0]
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()[:16]


def source_of(module: str) -> Path | None:
    """Return the source file of a module of the package; None if there is no such module."""
    base = SOURCE_ROOT.joinpath(*module.split("."))
    for candidate in (base.with_suffix(".py"), base / "__init__.py"):
        if candidate.is_file():
            return candidate
    return None


def describes(module: str) -> bool:
    """Whether a module only describes settings or columns: what they mean, and their ranges.

    It is not among the code of a job. The values of settings are among its parameters, and a
    better text for one of them must not train a network again.
    """
    return module in (SECTIONS, COLUMNS) or bool(DESCRIPTIONS.fullmatch(module))


def column_modules(papers: Iterable[str]) -> list[str]:
    """The modules that define the columns of tables: those of some papers, and the shared one."""
    modules = [COLUMNS]
    for paper in papers:
        module = f"{PACKAGE}.papers.{paper}.columns"
        folder = SOURCE_ROOT.joinpath(*module.split("."))  # of a paper with many
        modules += [module, *(f"{module}.{file.stem}" for file in sorted(folder.glob("[!_]*.py")))]
    return list(filter(source_of, modules))


def names_imported(tree: ast.AST) -> set[str]:
    """Return the imported names within the package, parents included; not all are modules."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    with_parents: set[str] = set()
    for name in names:
        while name and name.split(".")[0] == PACKAGE:
            with_parents.add(name)
            name = name.rpartition(".")[0]
    return with_parents


def statements(source: str | bytes) -> str:
    """Return what the statements of a Python file do, as a text without their layout.

    It is a syntax tree without docstrings. `ast.dump` will not do: what it writes of fields that
    are empty, and which fields a node has, differs between versions of Python.
    """
    tree = ast.parse(source)
    return _written(without_docstrings(tree))


def without_docstrings(tree: ast.Module) -> ast.Module:
    """Remove the docstrings from a syntax tree, in place, and return it."""
    for node in ast.walk(tree):
        documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return tree


def _written(value: Any) -> str:
    """A syntax tree, or a part of it, without fields that are empty."""
    if isinstance(value, list):
        return f"[{' '.join(map(_written, value))}]"
    if isinstance(value, ast.Constant):
        # ascii, since newer versions of Python print more characters as they are
        return ascii(value.value)
    if isinstance(value, ast.JoinedStr):
        # Python 3.12 puts empty texts into an f-string, others do not
        parts = [part for part in value.values if getattr(part, "value", None) != ""]
        return f"JoinedStr{_written(parts)}"
    if not isinstance(value, ast.AST):
        return ascii(value)
    fields = [
        f"{name}={_written(field)}"
        for name, field in ast.iter_fields(value)
        if name not in WORDING and field is not None and field != []
    ]
    return f"{type(value).__name__}({' '.join(fields)})"


@cache
def _reached(modules: tuple[str, ...]) -> dict[str, str]:
    """Digest of each of some modules and of all modules that they import."""
    reached: dict[str, str] = {}
    waiting = [*modules]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached[name], imported = _module_digest(name)
            waiting += imported
    return dict(sorted(reached.items()))


@cache
def _module_digest(module: str) -> tuple[str, frozenset[str]]:
    """A module's digest, and the modules of the package that it imports."""
    file = source_of(module)
    if file is None:
        raise ModuleNotFoundError(f"{module} is not a module below {SOURCE_ROOT}")
    digest, names = _parsed(file)
    modules = filter(source_of, names)
    return digest, frozenset(name for name in modules if not describes(name))


def _parsed(file: Path) -> tuple[str, list[str]]:
    """Digest and imported names of a Python file, stored by its text.

    An unchanged file is not parsed again.
    """
    source = file.read_text(encoding="utf-8")
    stored = _known()
    key = fingerprint(source)
    if key not in stored:
        names = sorted(names_imported(ast.parse(source)))
        digest = hashlib.sha256(statements(source).encode()).hexdigest()[:16]
        stored[key] = [digest, names]
    digest, names = stored[key]
    return digest, names


@cache
def _known() -> dict[str, list[Any]]:
    """What is stored by this version of the module, since another one may write other digests."""
    version = fingerprint(Path(__file__).read_text(encoding="utf-8"))
    return remembered(
        Path(__file__).resolve().parent / "__pycache__" / f"statements-{version}.json"
    )
