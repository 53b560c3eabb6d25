"""What is imported from other packages is declared: by the library few, by the rest in `papers`."""

import ast
import re
import sys
import tomllib
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from tests.helpers.project import ROOT

import finitewidth
from finitewidth.records.code import SOURCE_ROOT, names_imported, source_of

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PROVIDERS = packages_distributions()  # name to import -> distributions
# What a declared package has as its dependency and names in its own interface
PARTS = {
    "markupsafe": "jinja2",
    "pydantic_core": "pydantic",
    "snakemake_interface_logger_plugins": "snakemake",
}
# Scales of colours of the papers' figures, in a branch that no figure of a study takes
BEYOND_THE_LIBRARY = {("finitewidth/figures/style.py", "seaborn")}
# What `fw.load` imports when it is called: it reads the results of a project
IN_A_PROJECT = {"finitewidth.library.project_results"}
FILES = sorted((SOURCE_ROOT / "finitewidth").rglob("*.py"))


def declared(requirements: list[str]) -> set[str]:
    """The canonical names of requirements."""
    return {canonicalize_name(Requirement(text).name) for text in requirements}


LIBRARY = declared(PROJECT["dependencies"])
EVERYTHING = LIBRARY | declared(PROJECT["optional-dependencies"]["papers"])


@cache
def tree_of(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def others_imported(file: Path) -> set[str]:
    """Names of packages that a file imports at any place, without ours and those of Python."""
    names = set()
    for node in ast.walk(tree_of(file)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module)
    first = {name.split(".")[0] for name in names}
    return first - set(sys.stdlib_module_names) - {"finitewidth"}


def distributions_of(name: str) -> set[str]:
    """The canonical names of the distributions that have a package."""
    if name in PARTS:
        return {PARTS[name]}
    return {canonicalize_name(each) for each in PROVIDERS.get(name, [])}


def library_modules() -> set[str]:
    """The modules of all public names, and all that they import, but not what a project needs."""
    stub = Path(finitewidth.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    left = set(re.findall(r"^from (\S+) import", stub, re.M))
    found = set()
    while left:
        module = left.pop()
        found.add(module)
        imported = names_imported(tree_of(source_of(module)))
        left |= set(filter(source_of, imported)) - found - IN_A_PROJECT
    return found


LIBRARY_MODULES = sorted(library_modules())


def undeclared(files: list[Path], packages: set[str]) -> set[tuple[str, str]]:
    """File and name of every import of a package that is none of ``packages``."""
    imports = set()
    for file in files:
        for name in others_imported(file):
            if not distributions_of(name) & packages:
                imports.add((file.relative_to(SOURCE_ROOT).as_posix(), name))
    return imports


def test_the_library_imports_its_dependencies_only():
    files = [source_of(module) for module in LIBRARY_MODULES]
    # the remedy: CONTRIBUTING.md, "What the library may import"
    assert undeclared(files, LIBRARY) == BEYOND_THE_LIBRARY


def test_the_library_imports_every_dependency():
    names = set().union(*(others_imported(source_of(module)) for module in LIBRARY_MODULES))
    assert set().union(*map(distributions_of, names)) >= LIBRARY


def test_every_module_imports_what_the_project_declares():
    assert not undeclared(FILES, EVERYTHING)
