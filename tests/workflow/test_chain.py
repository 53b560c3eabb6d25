"""The chain of digests of a whole run: nothing altered, forged or out of date passes unnoticed."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from .conftest import Checkout

pytestmark = pytest.mark.workflow
FIGURE = "results/smoke/thesis/figures/thesis_fig2_4"
RISK = "results/smoke/thesis/experiments/risk_drawn.csv"


def verified(checkout: Checkout) -> tuple[int, list[str]]:
    """Exit status and lines of ``finitewidth verify``."""
    command = [sys.executable, "-m", "finitewidth", "verify", "--preset", "smoke"]
    done = subprocess.run(command, cwd=checkout.path, env=checkout.environment(), text=True,
                          capture_output=True, check=False)  # fmt: skip
    return done.returncode, done.stdout.splitlines()


@pytest.fixture(scope="module")
def copied(smoke, tmp_path_factory):
    """The results of a whole run in another clone, without Snakemake's records."""
    clone = Checkout(tmp_path_factory.mktemp("clones") / "copy")
    shutil.copytree(smoke.path / "results", clone.path / "results", symlinks=True,
                    ignore=shutil.ignore_patterns(".records"))  # fmt: skip
    return clone


@pytest.fixture
def whole(copied, tmp_path):
    """A copy of this clone, to be damaged."""
    return Checkout(tmp_path / "clone", of=copied.path)


def test_every_job_of_a_run_is_in_the_chain(smoke):
    planned = smoke.planned("--forceall")
    jobs = sum(planned.values()) - planned["all"]
    assert jobs > 150
    status, lines = verified(smoke)
    assert (status, lines) == (0, [f"{jobs} jobs checked, 0 breaks of the chain of digests"])
    stamps = [*(smoke.path / "results").rglob("*provenance.json"),
              *(smoke.path / "results").glob("*/provenance/**/*.json")]  # fmt: skip
    told = [json.loads(s.read_text()) for s in stamps if "report/files" not in s.as_posix()]
    assert len({stamp["job"] for stamp in told}) == len(told) == jobs
    for stamp in told:
        assert stamp["digests"]["outputs"], stamp["job"]
        assert {"identity", "code"} <= set(stamp)


def test_results_without_records_are_accepted_and_nothing_runs(whole):
    for file in (whole.path / RISK, whole.path / "config/reported/npf.csv"):
        os.utime(file)  # newer than all that was made from it
    assert whole.planned() == {}
    assert "Nothing to be done" in whole.run().stdout
    assert whole.run("report_now").returncode == 0
    assert verified(whole)[0] == 0


def test_results_without_records_of_other_settings_or_code_are_planned(whole):
    whole.edit("src/finitewidth/figures/thesis/fig2_4.py", "def draw(", "EXTRA = 1\n\n\ndef draw(")
    assert set(whole.planned()) == {"all", "report", "thesis_fig2_4"} | {"datapackages"}
    assert "thesis_risk" in whole.planned("thesis_fig2_4", "thesis={risk: {draws: 11}}")


def test_altered_results_without_records_are_made_again(whole):
    (whole.path / f"{FIGURE}.pdf").write_bytes(b"%PDF-1.4 forged")
    assert whole.planned("thesis_fig2_4") == {"thesis_fig2_4": 1}
    assert whole.run("thesis_fig2_4").returncode == 0
    assert whole.planned("thesis_fig2_4") == {}


def test_an_altered_file_is_verified_by_name_and_not_shown(whole):
    picture, data = whole.path / f"{FIGURE}.png", whole.path / RISK
    picture.write_bytes(picture.read_bytes()[:-40])
    shutil.copy2(data.with_name("risk_doubled.csv"), data)
    status, lines = verified(whole)
    assert status == 1
    assert [line.split(" differs")[0] for line in lines[:-1]] == [
        f"thesis_risk: {RISK}", f"thesis_fig2_4: {FIGURE}.png"
    ]  # fmt: skip
    done = whole.run("report_now")
    assert done.returncode == 0, done.stdout
    page = (whole.path / "results/smoke/report/thesis.html").read_text(encoding="utf-8")
    assert f"{FIGURE}.png</code> is damaged (it differs from what its job wrote)" in page
    assert "files/thesis/figures/thesis_fig2_4.png" not in page
    assert "files/thesis/figures/thesis_fig2_1.png" in page


def test_a_forged_dataset_is_refused_by_name(whole):
    folder = whole.path / "results/data"
    for file in ("{}.npz", ".sums/{}.npz.sha256"):
        shutil.copy2(folder / file.format("warped_digits"), folder / file.format("digits"))
    status, lines = verified(whole)
    assert status == 1
    assert lines[0].startswith("dataset digits: results/data/digits.npz differs from what its job")
    shutil.rmtree(whole.path / "results/smoke/npf/training/kvf")
    done = whole.run("results/smoke/npf/training/kvf/history.csv", "--rerun-triggers", "mtime")
    assert done.returncode != 0
    assert "digits.npz holds the dataset 'warped_digits'; delete it" in done.stdout
