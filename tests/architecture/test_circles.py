"""No module of a room of the package imports itself through others."""

import ast
from graphlib import CycleError, TopologicalSorter

import pytest

from finitewidth.records.code import SOURCE_ROOT, names_imported

PACKAGE = SOURCE_ROOT / "finitewidth"
ROOMS = sorted(folder.name for folder in PACKAGE.iterdir() if (folder / "__init__.py").is_file())


def modules_of(room):
    """Name -> file, of all modules of a room but its packages, which import nothing."""
    files = {}
    for file in sorted((PACKAGE / room).rglob("*.py")):
        if file.name != "__init__.py":
            files[".".join(file.relative_to(SOURCE_ROOT).with_suffix("").parts)] = file
    return files


@pytest.mark.parametrize("room", ROOMS)
def test_modules_of_a_room_import_in_one_direction(room):
    files = modules_of(room)
    imports = {}
    for name, file in files.items():
        tree = ast.parse(file.read_text(encoding="utf-8"))
        imports[name] = files.keys() & set(names_imported(tree))
    try:
        list(TopologicalSorter(imports).static_order())
    except CycleError as error:
        pytest.fail(f"imported in a circle: {' <- '.join(error.args[1])}")
