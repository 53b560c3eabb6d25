"""Modules that are no part of a job's code only describe: what they hold changes no result."""

import ast
import inspect
from importlib import import_module

import pytest

from finitewidth.records.code import SOURCE_ROOT, describes, source_of
from finitewidth.settings.sections import Section

PACKAGE = SOURCE_ROOT / "finitewidth"


def module_name(file):
    parts = file.relative_to(SOURCE_ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(file): file for file in sorted(PACKAGE.rglob("*.py"))}
DESCRIBING = [name for name in MODULES if describes(name)]
COLUMNS = [name for name in DESCRIBING if "columns" in name.split(".")]
SETTINGS = [name for name in DESCRIBING if "settings" in name.split(".")[3:]]


def test_both_kinds_are_found():
    assert len(COLUMNS) > 6
    assert len(SETTINGS) > 5


@pytest.mark.parametrize("name", COLUMNS)
def test_a_module_of_columns_has_definitions_only(name):
    allowed = (ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign)
    statements = ast.parse(source_of(name).read_text(encoding="utf-8")).body
    assert all(isinstance(each, allowed) for each in statements[1:])


@pytest.mark.parametrize("name", SETTINGS)
def test_a_section_has_validators_only(name):
    for section in vars(import_module(name)).values():
        if inspect.isclass(section) and issubclass(section, Section):
            functions = [key for key, value in vars(section).items() if callable(value)]
            assert [key for key in functions if not key.startswith("_")] == [], section


def test_other_code_takes_only_types_from_modules_of_settings():
    taken = set()
    for name, file in MODULES.items():
        if describes(name):
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module in SETTINGS:
                taken |= {(node.module, alias.name) for alias in node.names}
    assert taken
    for module, key in sorted(taken):
        value = getattr(import_module(module), key)
        assert not inspect.isfunction(value), (module, key)
        assert not isinstance(value, int | float | str | tuple | dict), (module, key)
