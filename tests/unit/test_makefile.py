"""What the Makefile calls takes the arguments that it is given; what `make clean` removes."""

import os
import re
import shlex
import subprocess
from pathlib import Path

from finitewidth.cli.main import RAISES, app
from finitewidth.cli.options import Results

ROOT = Path(__file__).parents[2]


def test_any_other_target_is_an_artifact():
    said = subprocess.run(
        ["make", "--dry-run", "npf_fig3", "PRESET=smoke", "CORES=3"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    words = shlex.split(re.search(r"bin/finitewidth (run .*)", said)[1])
    _, bound, _ = app.parse_args(words, **RAISES)
    assert bound.args == ("npf_fig3",)
    assert bound.kwargs == {"cores": 3, "results": Results(preset="smoke")}


def test_a_complete_run_ends_with_a_short_list():
    said = subprocess.run(
        ["make", "--dry-run", "all", "PRESET=smoke", "CORES=3"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    run, shown = (shlex.split(line) for line in re.findall(r"bin/finitewidth (.*)", said))
    _, bound, _ = app.parse_args(run, **RAISES)
    assert (bound.args, bound.kwargs) == ((), {"cores": 3, "results": Results(preset="smoke")})
    _, bound, _ = app.parse_args(shown, **RAISES)
    assert bound.kwargs == {"short": True, "results": Results(preset="smoke")}


def test_make_clean_leaves_all_but_the_folders_of_presets_and_seeds(tmp_path):
    gone = ["smoke", "quick-seed12", "paper"]
    kept = ["data", "quick-mine", "quick-seed1-backup", "quick-seed3_images", "README.md"]
    for name in (*gone, *kept):
        (tmp_path / "results" / name).mkdir(parents=True)
    subprocess.run(["make", "-f", ROOT / "Makefile", "clean"], cwd=tmp_path, check=True,
                   capture_output=True)  # fmt: skip
    assert sorted(os.listdir(tmp_path / "results")) == sorted(kept)
