"""Every place that deletes or replaces files is listed here, with what it may touch and why."""

import ast
import os
import subprocess
from pathlib import Path

import pytest

from finitewidth.common.provenance import SOURCE_ROOT

ROOT = SOURCE_ROOT.parent
PACKAGE = SOURCE_ROOT / "finitewidth"
FUNCTIONS = {"rmtree", "unlink", "rmdir", "removedirs", "renames", "truncate",
             "TemporaryDirectory"}  # fmt: skip
MODULES = {"os": {"remove", "replace", "rename"}, "shutil": {"move"}}
OF_PATHS = {"replace", "rename"}  # methods of paths with one argument, which is a path

# module: function -> number of calls and why they touch nothing of the user
ALLOWED = {
    "cli/running.py: verify": (1, "the log of verify, in the results"),
    "cli/status.py: write": (1, "run.json, in the logs, by its own temporary file"),
    "cli/tiles.py: _remove_outdated": (1, "kernel.npy, in a folder that the command has made"),
    "common/disk_cache.py: _keep": (1, "a cache in __pycache__, by its own temporary file"),
    "common/progress.py: logged_to": (1, "a link in place of a log"),
    "common/recorded.py: recorded": (1, "seals of outputs of the job that Snakemake deleted"),
    "common/result_files.py: atomic": (2, "the file that is asked for, and its temporary file"),
    "common/result_files.py: _sealed": (1, "the seal of the file that is being written"),
    "common/result_files.py: _remove_leftovers": (1, "temporary files, named by `atomic`"),
    "common/temporary.py: temporary_folder": (1, "the folder that it has made"),
    "common/temporary.py: remove_left": (1, "folders with our mark; no link is followed"),
    "common/torchvision_operators.py: repair": (1, "two files of ours in .venv, by name"),
    "data/original.py: _move": (1, "moves a download to a place where nothing is"),
    "pipeline/chain.py: _note": (1, "a note of ours among Snakemake's records"),
    "pipeline/finished_checkpoints.py: clear_finished": (1, "checkpoints, by fingerprint"),
    "pipeline/shared_folder.py: delete_own_locks": (1, "lock files that this run has written"),
    "pipeline/startup_checks.py: keep_records_with_results": (
        3,
        "moves Snakemake's records; removes a link to records that are gone",
    ),
    "pipeline/startup_checks.py: release_stale_locks": (1, "Snakemake's lock files, by name"),
    "report/build.py: build_pages": (1, "surplus of Sphinx, in a temporary folder"),
    "report/job.py: _exchange": (2, "the report, in place of an older one"),
    "training/checkpoints.py: _remove": (1, "checkpoints, by name; no link is followed"),
}


def deletes(call: ast.Call) -> bool:
    """Whether a call deletes or replaces a file or a folder."""
    if not isinstance(call.func, ast.Attribute):
        return isinstance(call.func, ast.Name) and call.func.id in FUNCTIONS
    name, of = call.func.attr, ast.unparse(call.func.value)
    if name in FUNCTIONS or name in MODULES.get(of, ()):
        return True
    if name not in OF_PATHS or len(call.args) != 1 or call.keywords or of in MODULES:
        return False
    return not isinstance(call.args[0], ast.Dict | ast.Constant)  # of a table


def found_in(file: Path) -> list[str]:
    """``module: function`` for every such call, by the innermost function."""
    found: dict[ast.Call, str] = {}
    tree = ast.parse(file.read_text(encoding="utf-8"))
    module = file.relative_to(PACKAGE if file.is_relative_to(PACKAGE) else ROOT)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    for name, body in [("", tree), *((each.name, each) for each in functions)]:
        for node in ast.walk(body):
            if isinstance(node, ast.Call) and deletes(node):
                found[node] = f"{module}: {name}"  # inner functions come later
    return list(found.values())


def test_all_deletions_are_listed():
    files = [*SOURCE_ROOT.rglob("*.py"), *(ROOT / "workflow").rglob("*.py")]
    found = [place for file in files for place in found_in(file)]
    counts = {place: found.count(place) for place in found}
    assert counts == {place: count for place, (count, _) in ALLOWED.items()}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("shutil.rmtree(a)", True),
        ("rmtree(a)", True),
        ("path.unlink()", True),
        ("os.remove(a)", True),
        ("os.replace(a, b)", True),
        ("new.replace(path)", True),
        ("new.rename(path)", True),
        ("text.replace('a', 'b')", False),
        ("table.rename(columns=names)", False),
        ("row.rename('y')", False),
        ("table.replace({'a': 1})", False),
        ("names.remove(a)", False),
        ("replace(stack, weights=w)", False),
    ],
)
def test_what_counts_as_a_deletion(code, expected):
    assert deletes(ast.parse(code).body[0].value) == expected


def test_rules_delete_nothing():
    for file in [ROOT / "Snakefile", *(ROOT / "workflow").rglob("*.smk")]:
        text = file.read_text(encoding="utf-8")
        for word in ("shell:", "shell(", "rmtree", "unlink", "os.remove", "temp(", "shadow:"):
            assert word not in text, f"{file}: {word}"


def test_make_clean_removes_results_only():
    text = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n\t  ", "")
    lines = [line.strip() for line in text.splitlines() if "rm " in line and "\t" in line[:1]]
    presets = ("smoke", "quick", "laptop", "paper")
    wanted = [f"results/{preset}" for preset in presets]
    wanted += [f"results/{preset}-seed[0-9]*" for preset in presets]
    assert lines == [f"rm -rf {' '.join(wanted)}"]


def test_make_clean_leaves_all_else(tmp_path):
    gone = ["smoke", "quick-seed12", "paper"]
    kept = ["data", "quick-mine", "my-seed1-notes", "README.md", ".records"]
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "notes.txt").touch()
    for name in (*gone, *kept):
        (tmp_path / "results" / name).mkdir(parents=True)
    (tmp_path / "results/laptop").symlink_to(outside)
    subprocess.run(["make", "-f", ROOT / "Makefile", "clean"], cwd=tmp_path, check=True,
                   capture_output=True)  # fmt: skip
    assert sorted(os.listdir(tmp_path / "results")) == sorted(kept)
    assert (outside / "notes.txt").exists()
