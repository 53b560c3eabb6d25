"""The command line: from any folder, with messages that name the remedy."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from finitewidth.cli import comparing, running
from finitewidth.cli.main import app, find_project, main
from finitewidth.common.errors import ConfigError

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("folder", [ROOT, ROOT / "src/finitewidth", ROOT / "docs"])
def test_a_command_works_in_every_folder_of_the_project(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    assert main(["list", "--paper", "npf"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("npf_table1 ")
    assert len(lines) > 10


def test_a_project_may_be_named(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["list"]) == 1
    assert "--project DIR" in capsys.readouterr().err
    assert main(["--project", str(ROOT), "list", "--paper", "thesis"]) == 0
    assert "thesis_fig2_4" in capsys.readouterr().out
    with pytest.raises(ConfigError, match="no Snakefile and workflow/papers"):
        find_project(tmp_path, tmp_path)


@pytest.mark.parametrize(
    ("name", "near"),
    [("npf_fgi3", "npf_fig3"), ("collaps", "collapse"), ("trust_figure3", "trust_fig3")],
)
def test_an_unknown_target_gets_the_nearest_names(name, near, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    assert main(["run", name]) == 1
    said = capsys.readouterr().err
    assert f"{name!r} is no artifact" in said
    assert near in said


def test_run_prints_the_command_that_it_uses(monkeypatch, capsys):
    called = []
    monkeypatch.setattr(
        running.subprocess, "run",
        lambda words, check: called.append(words) or subprocess.CompletedProcess(words, 3),
    )  # fmt: skip
    monkeypatch.chdir(ROOT)
    words = ["run", "npf_fig3", "--cores", "3", "-n", "--preset", "smoke", "--seed", "2"]
    assert main([*words, "--config", "npf={nu: {runs: 2}}", "--", "--keep-incomplete"]) == 3
    line = capsys.readouterr().out.strip()
    assert line == ("snakemake --cores 3 npf_fig3 --dry-run --keep-incomplete --config "
                    "preset=smoke seed=2 'npf={nu: {runs: 2}}'")  # fmt: skip
    assert called[0][:3] == [sys.executable, "-m", "snakemake"]


COMMANDS = [name for name in app if not name.startswith("-")]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_an_example_and_describes_every_option(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)  # not in a clone
    monkeypatch.setenv("COLUMNS", "200")
    assert main([command, "--help"]) == 0
    text = capsys.readouterr().out
    example = shlex.split(re.search(r"Example: finitewidth (.*)", text)[1], comments=True)
    assert example[0] == command
    words = example[: next((i for i, word in enumerate(example) if word in ("--", ">")), None)]
    app.parse_args(words, exit_on_error=False, print_error=False)
    assert not re.search(r"│ \*? *(?:--?[a-z0-9-]+ )*(?:[A-Z.]+)? *│", text)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("nwtork my_net.py:make", 'Unknown command "nwtork". Did you mean "network"?'),
        ("run --presett quick", "Unknown option: --presett. Did you mean --preset?"),
        ("run --preset quik", 'Did you mean "quick"?'),
        ("run npf --cores 0", 'Invalid value "0" for --cores. Must be >= 1.'),
        ("run npf --cores -2", 'Invalid value "-2" for --cores. Must be >= 1.'),
        ("run npf --seed 1.5", "Invalid value for --seed: '1.5' is not a whole number"),
        ("kernel a.py:b --data digits --images c", "Mutually exclusive arguments: {--images, --da"),
    ],
)
def test_words_that_are_not_understood(words, message, capsys):
    assert main(words.split()) == 2
    assert message in capsys.readouterr().err


def test_a_closed_pipe_is_no_error():
    done = subprocess.run(
        f"{sys.executable} -m finitewidth list | head -1", shell=True, cwd=ROOT, text=True,
        capture_output=True, check=True,
    )  # fmt: skip
    assert done.stdout.startswith("npf_table1")
    assert done.stderr == ""


def test_completion_knows_the_commands(capsys):
    assert main(["completion", "bash"]) == 0
    assert "compare" in capsys.readouterr().out


# --- compare ---


def write_claims(folder, verdict="supported", value=1.0, ours=90.0):
    """The verdict, one part and one number of a made-up run."""
    claims = folder / "claims"
    claims.mkdir(parents=True)
    for kind, row in {
        "verdicts": {"claim": "X1", "verdict": verdict},
        "parts": {"claim": "X1", "part": "slope", "value": value, "standard_error": 0.3},
        "numbers": {"artifact": "a", "quantity": "q", "row": "r", "column": "c", "ours": ours,
                    "standard_error": 0.0},
    }.items():  # fmt: skip
        pd.DataFrame([row]).to_csv(claims / f"npf_{kind}.csv", index=False)
    return folder


def test_runs_differ_by_their_errors(tmp_path):
    one = write_claims(tmp_path / "one")
    other = write_claims(tmp_path / "other", "inconclusive", value=1.0 + 4 * 0.3 * 2**0.5, ours=91)
    changed = comparing.verdicts(one, other)
    assert changed.to_dict("records") == [
        {"claim": "X1", "one": "supported", "other": "inconclusive"}
    ]
    found = comparing.numbers(one, other, least=3.9)
    assert list(found["what"]) == ["a/q/r/c", "X1/slope"]
    assert found["errors"].iloc[0] == float("inf")
    assert found["errors"].iloc[1] == pytest.approx(4)
    assert list(comparing.numbers(one, other, least=4.1)["what"]) == ["a/q/r/c"]


@pytest.mark.parametrize("printed", [True, False])
def test_equal_runs_do_not_differ_with_and_without_printed_numbers(printed, tmp_path, capsys):
    folders = [write_claims(tmp_path / name) for name in ("one", "other")]
    for file in [] if printed else [folder / "claims/npf_numbers.csv" for folder in folders]:
        file.write_text(file.read_text().splitlines()[0] + "\n")
    comparing.compare(*map(str, folders))
    text = capsys.readouterr().out
    assert text.startswith("0 verdicts differ")
    assert "0 numbers differ" in text


def test_a_run_without_verdicts_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    assert main(["compare", str(tmp_path), "quick"]) == 1
    assert "has no verdicts; make them with" in capsys.readouterr().err
    assert main(["compare", "quik", "quick"]) == 1
    assert "nor a run of a preset (did you mean quick?)" in capsys.readouterr().err


def test_without_results_the_command_that_makes_them_is_named(tmp_path, monkeypatch, capsys):
    (tmp_path / "workflow/papers").mkdir(parents=True)
    (tmp_path / "Snakefile").touch()
    (tmp_path / "src").symlink_to(ROOT / "src")
    monkeypatch.chdir(tmp_path)
    assert main(["verify", "--preset", "laptop", "--seed", "2"]) == 1
    answer = capsys.readouterr()
    assert "results/laptop-seed2 has no results; finitewidth run" in answer.out + answer.err
