"""Tests share code through helpers: no test module imports another one."""

import ast
from functools import cache

import pytest
from tests.helpers.project import ROOT

FOLDER = ROOT / "tests"
FILES = sorted(FOLDER.rglob("*.py"))


def module_name(file):
    return file.relative_to(FOLDER).with_suffix("").as_posix()


@cache
def imported_modules(file):
    """The names of all modules that a file imports, with those that it may import from them."""
    names = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parent = node.module or ""
            names.add(parent)
            names.update(f"{parent}.{alias.name}" for alias in node.names)
    return names


def is_test_module(name):
    """Whether the file of a module holds tests or fixtures."""
    words = name.split(".")
    in_tests = [word for word in words if word.startswith("test_") or word == "conftest"]
    return bool(in_tests) and words[0] not in ("finitewidth", "benchmarks")


@pytest.mark.parametrize("file", FILES, ids=module_name)
def test_no_file_imports_a_test_module(file):
    # the remedy: move what is shared to tests/helpers, with a name that says what it helps with
    assert not {name for name in imported_modules(file) if is_test_module(name)}


@pytest.mark.parametrize("file", sorted((FOLDER / "helpers").rglob("*.py")), ids=module_name)
def test_a_helper_is_used(file):
    name = f"tests.helpers.{file.stem}"
    others = [other for other in FILES if other != file]
    assert any(name in imported_modules(other) for other in others)
