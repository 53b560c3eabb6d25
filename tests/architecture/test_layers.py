"""Data flows one way: a module imports only from its own layer and those before it."""

import ast
import re
from pathlib import Path

import pytest

from finitewidth.records.code import SOURCE_ROOT, names_imported, source_of, without_docstrings

LAYERS = [
    "common",
    "settings",
    "records",
    "declarations",
    "data",
    "networks",
    ("papers settings", "papers columns"),
    "kernels",
    "training",
    "measures",
    "papers experiments",
    "errata",
    "papers errata",
    ("figures", "tables"),
    ("papers figures", "papers tables"),
    "papers results",
    "claims",
    "papers judges",
    "report",
    "pipeline",
    "library",
    "cli",
    "__main__",
]
RANK = {
    name: rank
    for rank, layer in enumerate(LAYERS)
    for name in ((layer,) if isinstance(layer, str) else layer)
}
# What one paper takes from another: dgn and npf show and judge the same networks.
SHARED = {
    ("dgn", "finitewidth.papers.npf"),
    ("dgn", "finitewidth.papers.npf.figures.nu_panel"),
    ("dgn", "finitewidth.papers.npf.judges.memorisation"),
}
FILES = sorted((SOURCE_ROOT / "finitewidth").rglob("*.py"))


def module_name(file: Path) -> str:
    parts = file.relative_to(SOURCE_ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def layer_of(module: str) -> str | None:
    """The second word of ``finitewidth.data.store``; None for the package itself.

    The parts of a paper are in different layers: ``papers judges`` for
    ``finitewidth.papers.npf.judges.training``.
    """
    words = module.split(".")
    if words[1:2] == ["papers"]:
        return f"papers {words[3]}" if len(words) > 3 else None
    return words[1] if len(words) > 1 else None


def imports_of(tree: ast.AST) -> set[str]:
    assert not any(getattr(node, "level", 0) for node in ast.walk(tree)), "no relative imports"
    return set(filter(source_of, names_imported(tree)))


def imported_layers(file: Path) -> set[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {layer_of(name) for name in imports_of(tree)} - {None}


@pytest.mark.parametrize("file", FILES, ids=module_name)
def test_a_module_imports_nothing_from_a_later_layer(file):
    layer = layer_of(module_name(file))
    if layer is None:
        assert not imported_layers(file)
        return
    assert layer in RANK, f"{layer} is in no layer; give it a place in LAYERS"
    allowed = {name for name, rank in RANK.items() if rank < RANK[layer]} | {layer}
    assert imported_layers(file) <= allowed


def test_a_paper_imports_no_other_paper():
    found = set()
    for file in FILES:
        if (words := module_name(file).split("."))[1:2] == ["papers"]:
            for name in imports_of(ast.parse(file.read_text(encoding="utf-8"))):
                if name.startswith("finitewidth.papers.") and name.split(".")[2] != words[2]:
                    found.add((words[2], name))
    assert found == SHARED


PAPERS = "|".join(file.stem for file in (SOURCE_ROOT.parent / "workflow/papers").glob("*.yaml"))
# a paper, an artifact, an experiment, or a module of a paper
OF_A_PAPER = re.compile(rf"(finitewidth\.papers\.)?({PAPERS})([_./].*)?")


@pytest.mark.parametrize("file", FILES, ids=module_name)
def test_what_is_for_every_paper_names_none(file):
    module = module_name(file)
    if module.startswith("finitewidth.papers."):
        return
    tree = without_docstrings(ast.parse(file.read_text(encoding="utf-8")))
    words = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            words.add(node.value)
    words |= {name for name in imports_of(tree) if name != "finitewidth.papers"}
    named = {word for word in words if OF_A_PAPER.fullmatch(word)}
    assert not named


@pytest.mark.parametrize(
    "file",
    [f for f in FILES if (layer_of(module_name(f)) or "").endswith(("figures", "tables"))],
    ids=module_name,
)
def test_renderers_import_no_torch(file):
    tree = ast.parse(file.read_text(encoding="utf-8"))
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                names.add(alias.name)
    names |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not {name for name in names if name and name.split(".")[0] == "torch"}


@pytest.mark.parametrize("file", FILES, ids=module_name)
def test_files_and_functions_stay_short(file):
    text = file.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 500
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            length = node.end_lineno - node.lineno + 1
            documented = ast.get_docstring(node, clean=False)
            length -= len(documented.splitlines()) if documented else 0
            assert length <= 50, f"{node.name} has {length} lines"


@pytest.mark.parametrize("folder", ["src", "tests", "benchmarks", "workflow", "docs"])
def test_the_formatter_lays_out_every_line(folder):
    mark = re.compile(r"#\s*(fmt|yapf):\s*(skip|off)")
    marked = []
    for file in sorted((Path(__file__).parents[2] / folder).rglob("*.py")):
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
            if mark.search(line):
                marked.append(f"{file.name}:{number}")
    assert not marked
