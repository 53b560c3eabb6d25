"""Verdicts under several base seeds, made up: what changes is told, and only that."""

from pathlib import Path

import pandas as pd
import pytest

from finitewidth.claims import job, robustness
from finitewidth.cli.main import main
from finitewidth.common import result_files
from finitewidth.common.errors import ResultError
from finitewidth.common.settings import results_folder


def verdict(claim, word, value=1.0, failing=0, **others):
    row = dict.fromkeys(job.VERDICT_COLUMNS, "")
    return row | {
        "claim": claim, "paper": claim[0], "verdict": word, "reason": f"{failing} of 3 fail",
        "comparisons": 3, "failing": failing, "statistic": "slope", "value": value, "low": value,
        "high": value, "threshold": "at least 1", **others,
    }  # fmt: skip


def part(claim, name, outcome):
    return dict.fromkeys(job.PART_COLUMNS, "") | {"claim": claim, "part": name, "outcome": outcome}


# N1 keeps its verdict and its comparisons, N2 its verdict only, D1 neither
SEEDS = {
    0: [verdict("N1", "supported"), verdict("N2", "contradicted in part", failing=1),
        verdict("D1", "supported", 1.5)],
    1: [verdict("N1", "supported"), verdict("N2", "contradicted in part", failing=1),
        verdict("D1", "inconclusive", 0.9)],
    7: [verdict("N2", "contradicted in part", failing=1), verdict("N1", "supported"),
        verdict("D1", "contradicted", 0.2, failing=2)],
}  # fmt: skip
PARTS = {
    0: [part("N2", "M = 50", "fails"), part("N2", "M = 80", "holds")],
    1: [part("N2", "M = 50", "holds"), part("N2", "M = 80", "fails")],
    7: [part("N2", "M = 50", "fails"), part("D1", "a", "fails"), part("D1", "b", "fails")],
}


def write(folder, preset="quick", identity="i", seeds=SEEDS):
    """What runs under several base seeds leave in ``folder``."""
    for seed, rows in seeds.items():
        for paper in ("N", "D"):
            files = robustness.files_of(folder / results_folder(preset, seed), paper)
            Path(files["verdicts"]).parent.mkdir(parents=True, exist_ok=True)
            own = [row for row in rows if row["paper"] == paper]
            parts = [row for row in PARTS[seed] if row["claim"][0] == paper]
            result_files.write_table(files["verdicts"], pd.DataFrame(own))
            frame = pd.DataFrame(parts, columns=job.PART_COLUMNS)
            result_files.write_table(files["parts"], frame)
            result_files.write_json(files["provenance"], {"identity": identity})


@pytest.fixture
def runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "Snakefile").touch()  # what tells a project
    (tmp_path / "workflow/papers").mkdir(parents=True)
    write(tmp_path)
    return tmp_path


def test_the_table_has_a_row_for_each_claim_and_seed(runs):
    rows = robustness.compare("quick", [7, 1, 1, 0])
    assert [(row["claim"], row["seed"], row["verdict"], row["changed"]) for row in rows] == [
        ("D1", 0, "supported", "no"), ("D1", 1, "inconclusive", "yes"),
        ("D1", 7, "contradicted", "yes"),
        ("N1", 0, "supported", "no"), ("N1", 1, "supported", "no"), ("N1", 7, "supported", "no"),
        *(("N2", seed, "contradicted in part", "no") for seed in (0, 1, 7)),
    ]  # fmt: skip
    assert {row["verdict_at_seed_0"] for row in rows if row["claim"] == "D1"} == {"supported"}
    failing = {(row["claim"], row["seed"]): row["failing_comparisons"] for row in rows}
    assert failing["D1", 7] == "a; b"
    assert [failing["N2", seed] for seed in (0, 1, 7)] == ["M = 50", "M = 80", "M = 50"]
    written = result_files.read_rows("results/quick/robustness/robustness.csv")
    assert tuple(written[0]) == robustness.COLUMNS
    assert [row["value"] for row in written[:3]] == ["1.5", "0.9", "0.2"]
    assert [row["failing"] for row in written] == ["0", "0", "2", "0", "0", "0", "1", "1", "1"]


def test_the_summary_names_what_changes_only(runs):
    text = robustness.summary(robustness.compare("quick", [1, 7]))
    first, *rest = text.splitlines()
    assert first == ("3 claims judged under base seed 0 and under 1, 7: the verdict changes for 1")
    assert rest == [
        "D1 (D)",
        "  seed 0: supported (0 of 3 fail)",
        "  seed 1: inconclusive (0 of 3 fail)",
        "  seed 7: contradicted (2 of 3 fail)",
    ]


def test_a_seed_that_was_not_run_is_named_with_the_command(runs, capsys):
    assert main(["robustness", "--seeds", "1", "5"]) == 1
    said = capsys.readouterr().err
    assert "results/quick-seed5/robustness/D_verdicts.csv is missing" in said
    assert "robustness --config preset=quick seed=5" in said


def test_verdicts_of_other_code_are_not_compared(runs):
    write(runs, identity="j", seeds={1: SEEDS[1]})
    with pytest.raises(ResultError, match=r"D1.*base seeds 0 and 1.*make robustness"):
        robustness.compare("quick", [1, 7])


def test_a_run_judges_the_claims_that_it_is_told(tmp_path, monkeypatch):
    """The job itself, on an empty set of tables: claims without tables cannot be judged."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "Snakefile").touch()  # what tells a project
    (tmp_path / "workflow/papers").mkdir(parents=True)
    outputs = robustness.files_of("results/quick", "npf")
    Path(outputs["verdicts"]).parent.mkdir(parents=True)
    unmet = {"unmet": ["needs more"]}
    settings = {"preset": "quick", "results": "results/quick",
                "situations": {"N05": unmet, "N04": unmet}}  # fmt: skip
    robustness.run_again("npf", ["N05", "N04"], [], outputs, settings)
    rows = result_files.read_rows(outputs["verdicts"])
    assert [row["claim"] for row in rows] == ["N04", "N05"]
    assert {row["reason"] for row in rows} == {"needs more"}
