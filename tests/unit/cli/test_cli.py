"""The command line: from any folder, with messages that name the remedy."""

import io
import os
import re
import shlex
import subprocess
import sys
from importlib import metadata

import pandas as pd
import pytest
from tests.helpers.project import ROOT

from finitewidth.cli import comparing, options, running
from finitewidth.cli import main as commands
from finitewidth.cli.main import app, main
from finitewidth.common.errors import ConfigError
from finitewidth.declarations.papers import FOLDER, artifacts_of, read_papers
from finitewidth.pipeline.runs.surroundings import find_project


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
    monkeypatch.setattr(running, "snakemake", lambda words: called.append(words) or 3)
    monkeypatch.chdir(ROOT)
    words = ["run", "npf_fig3", "--cores", "3", "-n", "--preset", "smoke", "--seed", "2"]
    assert main([*words, "--config", "npf={nu: {runs: 2}}", "--", "--keep-incomplete"]) == 3
    line = capsys.readouterr().out.strip()
    assert line == (
        "snakemake --cores 3 npf_fig3 --dry-run --keep-incomplete --config "
        "preset=smoke seed=2 'npf={nu: {runs: 2}}'"
    )
    assert shlex.join(["snakemake", *called[0]]) == line


@pytest.fixture
def started(monkeypatch, capsys):
    """A function that calls ``finitewidth run`` and returns the words that Snakemake would get."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(running, "snakemake", lambda words: 0)
    monkeypatch.setattr(options, "usable_cores", lambda: 6)
    monkeypatch.setattr(running, "usable_cores", lambda: 6)

    def call(*words):
        assert main(["run", *words]) == 0
        return capsys.readouterr().out.strip().removesuffix(" --config preset=quick")

    return call


@pytest.mark.parametrize(
    ("words", "cores"),
    [("", 6), ("-j 3", 3), ("-j3", 3), ("--cores all", 6), ("-j all", 6), ("--cores=2", 2)],
)
def test_cores_are_a_number_or_all_that_may_be_used(words, cores, started):
    assert started(*words.split()) == f"snakemake --cores {cores}"


def test_force_makes_the_artifacts_of_a_paper_anew(started, capsys):
    papers = read_papers(ROOT / FOLDER)
    made = " ".join(entry.artifact for entry in artifacts_of(papers) if entry.paper == "thesis")
    assert started("npf_fig3", "-f") == "snakemake --cores 6 npf_fig3 --force"
    assert started("npf_nu", "thesis", "--force") == f"snakemake --cores 6 npf_nu {made} --force"
    assert started("thesis", "--forceall") == "snakemake --cores 6 thesis --forceall"
    for words in (["--force"], ["all", "--force"]):
        assert main(["run", *words]) == 1
        assert "--forceall makes everything anew" in capsys.readouterr().err


def test_settings_after_two_dashes_would_be_lost(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    assert main(["run", "npf_fig3", "--", "--config", "seed=1"]) == 1
    assert "write --config before --" in capsys.readouterr().err


def test_a_file_is_a_target_also_by_its_whole_path(started):
    file = "results/quick/claims/thesis_verdicts.csv"
    assert started(file) == started(str(ROOT / file)) == f"snakemake --cores 6 {file}"
    assert started("results/data/digits.npz") == "snakemake --cores 6 results/data/digits.npz"


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("results/laptop/report", "in results/quick; add --preset laptop\n"),
        (f"{ROOT}/results/quick-seed3/x.csv", "in results/quick; add --preset quick --seed 3\n"),
        ("results/quick-mine/npf/x.csv", "results/quick-mine/npf/x.csv is a file of another run"),
        ("/elsewhere/results/quick/x.csv", "/elsewhere/results/quick/x.csv is not in the project"),
    ],
)
def test_a_file_of_another_run_is_refused(target, message, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    assert main(["run", target]) == 1
    assert message in capsys.readouterr().err


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
        ("run npf --cores 0", 'Invalid value "0" for --cores. Must be >= 1.'),
        ("run npf --cores -2", 'Invalid value "-2" for --cores. Must be >= 1.'),
        ("run npf --seed 1.5", "Invalid value for --seed: '1.5' is not a whole number"),
        ("run npf -j many", "Invalid value for -j: 'many' is neither a whole number nor all"),
        ("kernel a.py:b --seed -1", 'Invalid value "-1" for --seed. Must be >= 0.'),
        (f"kernel a.py:b --seed 1{'0' * 30}", "for --seed. Must be <= 2147483647."),
        ("network a.py:b --seed -1", 'Invalid value "-1" for --seed. Must be >= 0.'),
        ("kernel a.py:b --data digits --images c", "Mutually exclusive arguments: {--images, --da"),
    ],
)
def test_words_that_are_not_understood(words, message, capsys):
    assert main(words.split()) == 2
    assert message in capsys.readouterr().err


def test_a_closed_pipe_is_no_error():
    done = subprocess.run(
        f"{sys.executable} -m finitewidth list | head -1",
        shell=True,
        cwd=ROOT,
        text=True,
        capture_output=True,
        check=True,
    )
    assert done.stdout.startswith("npf_table1")
    assert done.stderr == ""


def test_an_ascii_terminal_shows_other_characters_as_numbers(monkeypatch):
    shown = io.BytesIO()
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(shown, encoding="ascii"))
    monkeypatch.setattr(running, "snakemake", lambda words: 0)
    assert main(["run", "results/quick/8×8.csv"]) == 0
    assert rb"results/quick/8\xd78.csv" in shown.getvalue()


def test_the_version_names_the_commit_in_a_clone(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(
        commands, "git_state", lambda: {"commit": "0123456789abcdef", "dirty": True}
    )
    number = re.escape(metadata.version("finitewidth"))
    assert main(["--version"]) == 0
    assert re.fullmatch(
        rf"finitewidth {number} \(commit 01234567, with changes\)\n", capsys.readouterr().out
    )
    monkeypatch.setattr(commands, "SOURCE_ROOT", tmp_path / "site-packages")  # in another clone
    assert main(["--version"]) == 0
    assert re.fullmatch(rf"finitewidth {number}\n", capsys.readouterr().out)


# --- completion ---


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_asks_the_command_for_names(shell, capsys):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "compare" in script
    assert "__complete" in script


COMPLETE = """
    source completion
    for line in "$@"; do
        read -ra COMP_WORDS <<< "$line"
        if [[ "$line" == *" " ]]; then COMP_WORDS+=(""); fi
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _finitewidth
        echo "${COMPREPLY[*]}"
    done
"""


def test_bash_completes_artifacts_papers_and_runs(tmp_path, capsys):
    main(["completion", "bash"])
    (tmp_path / "completion").write_text(capsys.readouterr().out)
    program = tmp_path / "bin/finitewidth"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m finitewidth "$@"\n')
    program.chmod(0o755)
    (tmp_path / "Snakefile").touch()  # a project with the papers of this one, and a run
    for part in ("workflow", "src"):
        (tmp_path / part).symlink_to(ROOT / part)
    write_claims(tmp_path / "results/quick-seed1")
    lines = {
        "finitewidth run npf_table": "npf_table1 npf_table2 npf_table3 npf_table4 npf_table5",
        "finitewidth run npf_fig3 tru": "trust trust_fig1",
        "finitewidth list --paper th": "thesis",
        "finitewidth compare ": "quick-seed1",
        "finitewidth run --preset q": "quick",
    }
    done = subprocess.run(
        ["bash", "-c", COMPLETE, "bash", *lines],
        cwd=tmp_path,
        text=True,
        check=True,
        env=os.environ
        | {"PATH": f"{program.parent}:{os.environ['PATH']}", "PYTHONPATH": f"{ROOT}/src"},
        capture_output=True,
    )
    for line, expected in zip(done.stdout.splitlines(), lines.values(), strict=True):
        assert set(expected.split()) <= set(line.split())
        assert all(word.startswith(expected[:3]) for word in line.split())


# --- compare ---


def write_claims(folder, verdict="supported", value=1.0, ours=90.0):
    """The verdict, one part and one number of a made-up run."""
    claims = folder / "claims"
    claims.mkdir(parents=True)
    for kind, row in {
        "verdicts": {"claim": "X1", "verdict": verdict},
        "parts": {"claim": "X1", "part": "slope", "value": value, "standard_error": 0.3},
        "numbers": {
            "artifact": "a",
            "quantity": "q",
            "row": "r",
            "column": "c",
            "ours": ours,
            "standard_error": 0.0,
        },
    }.items():
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
    assert text.startswith("Settings, code, packages and data are the same.\n0 verdicts differ")
    assert "0 numbers differ" in text


def test_a_run_without_verdicts_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    header = write_claims(tmp_path / "header") / "claims/npf_verdicts.csv"
    header.write_text(header.read_text().splitlines()[0] + "\n")
    for folder in (tmp_path, tmp_path / "header"):
        assert main(["compare", str(folder), "quick"]) == 1
        assert "has no verdicts; make them with" in capsys.readouterr().err
    assert main(["list", "--preset", "quik"]) == 1
    assert "preset: 'quik' is unknown (did you mean quick?)" in capsys.readouterr().err
    assert main(["list", "--name", "../x"]) == 1
    assert "--name ../x: write small letters" in capsys.readouterr().err
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


# --- list ---


def test_the_short_list_counts_what_is_made_and_at_which_sizes(tmp_path, monkeypatch, capsys):
    (tmp_path / "Snakefile").touch()
    for part in ("workflow", "config", "src"):
        (tmp_path / part).symlink_to(ROOT / part)
    for name in ("thesis_fig2_1.pdf", "thesis_fig2_4.pdf", "thesis_fig2_3.csv"):
        path = tmp_path / "results/quick/thesis/figures" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    monkeypatch.chdir(tmp_path)
    assert main(["list", "--short", "--paper", "thesis"]) == 0
    artifacts = artifacts_of(read_papers(ROOT / FOLDER))
    count = len([artifact for artifact in artifacts if artifact.paper == "thesis"])
    assert capsys.readouterr().out.splitlines() == [
        f"thesis     2 of {count:2} made: 1 at sizes of our own, 1 drawings or equations",
        "report: not made yet",
    ]
    report = tmp_path / "results/quick/report/index.html"
    report.parent.mkdir()
    report.touch()
    assert main(["list", "--short"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 9
    assert lines[-2].startswith(f"all        2 of {len(artifacts)} made: 1 at sizes of our own")
    assert lines[-1] == "report: results/quick/report/index.html (open it in a browser)"
