"""A folder of images of the user in the pipeline: its results, its names."""

from pathlib import Path

import pytest
import yaml
from tests.helpers.project import ROOT
from tests.helpers.workflow_plans import plan

from finitewidth.cli import running
from finitewidth.cli.main import main
from finitewidth.cli.options import Results
from finitewidth.data.catalogue import ROLES
from finitewidth.pipeline.plans.planned_jobs import plans_of_jobs
from finitewidth.settings.presets import results_folder

PAPERS = ("npf", "dgn", "trust", "beyond", "collapse")


def make_tree(folder, classes=10, train=40, test=20):
    """Empty files: nothing here reads a picture."""
    for split, count in (("train", train), ("test", test)):
        for label in range(classes):
            place = folder / split / f"class{label}"
            place.mkdir(parents=True)
            for number in range(count):
                (place / f"{number}.png").touch()
    return folder


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    return make_tree(tmp_path_factory.mktemp("data") / "shapes")


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    return make_tree(tmp_path_factory.mktemp("data") / "few", classes=3, train=12, test=4)


def test_all_datasets_are_read_from_the_folder(tree):
    mine = plan("smoke", data={"images": str(tree)})
    assert {mine.jobs.dataset(role) for role in ROLES} == {"results/data/shapes.npz"}
    plans = plans_of_jobs(mine)
    assert plans["dataset shapes"].parameters["tree"].startswith(f"{tree} ")
    assert plans["dataset digits"].parameters["tree"] is None


def test_results_have_a_folder_of_their_own(tree, monkeypatch):
    monkeypatch.setenv("FINITEWIDTH_DATA", str(tree.parent))
    assert results_folder("quick", 3, ("a", "b")) == "results/quick-a-b-seed3"
    assert plan("smoke", data={"images": str(tree)}).results == "results/smoke-shapes"
    mine = plan("smoke", data={"mnist": "shapes"}, seed=2)
    assert mine.results == "results/smoke-shapes-seed2"
    written = [
        *mine.files.targets(),
        *mine.files.verdicts(),
        *mine.files.captions(),
        mine.files.errata,
    ]
    assert {Path(file).parts[1] for file in written} == {"smoke-shapes-seed2"}
    assert plan("smoke").results == "results/smoke"
    assert plan("paper", data={"cifar10": "cifar10_jpeg"}).results == "results/paper"


@pytest.mark.parametrize("paper", PAPERS)
def test_every_artifact_that_reads_images_names_them_as_the_users(paper, tree):
    mine = plan("smoke", data={"images": str(tree)})
    checked = 0
    for entry in mine.artifacts:
        if entry.paper != paper:
            continue
        roles = mine.evidence.datasets(mine.jobs[entry.artifact].inputs)
        for role, told in roles.items():
            assert told == f"shapes (your images, for {ROLES[role]})"
            assert told in mine.footers.footer(entry.artifact)
            if mine.jobs[entry.artifact].kind == "figure" and mine.footers.mark(entry.artifact):
                assert f"your images: shapes for {ROLES[role]}" in mine.footers.mark(entry.artifact)
            checked += 1
        assert "stand-in for MNIST" not in mine.footers.footer(entry.artifact)
    assert checked


# --- the command -------------------------------------------------------------------------------


def printed(monkeypatch, capsys, *words):
    called = []
    monkeypatch.setattr(running, "snakemake", lambda words: called.append(words) or 0)
    status = main([*words])
    answer = capsys.readouterr()
    return status, answer.out + answer.err, called


def test_run_takes_a_folder_from_where_the_user_is(tree, monkeypatch, capsys):
    monkeypatch.chdir(tree.parent)
    words = ["--project", str(ROOT), "run", "npf", "--cores", "1", "--preset", "smoke"]
    status, said, called = printed(monkeypatch, capsys, *words, "--images", "shapes")
    assert status == 0
    assert said.strip() == (
        f"snakemake --cores 1 npf --config preset=smoke 'data={{images: {tree}}}'"
    )
    assert called[0][-1] == f"data={{images: {tree}}}"


def test_run_keeps_what_the_user_sets(few, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    words = ["run", "npf_fig2", "--cores", "1", "--preset", "smoke", "--images", str(few)]
    over = ["npf={nu: {classes: [0, 2], runs: 3}}", "data={download: false, mnist: digits}"]
    status, said, called = printed(monkeypatch, capsys, *words, "--config", *over)
    assert status == 0, said
    given = dict(text.split("=", 1) for text in called[0][called[0].index("--config") + 1 :])
    assert yaml.safe_load(given["data"])["images"] == str(few)
    assert yaml.safe_load(given["npf"]) == {"nu": {"runs": 3, "classes": [0, 2]}}


@pytest.mark.parametrize(
    ("folder", "words"),
    [("nowhere", "nowhere is no folder"), ("train", "train has no folder train")],
)
def test_what_cannot_be_used_is_refused_before_snakemake(few, folder, words, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    told = ["run", "npf", "--images", str(few / folder)]
    status, said, called = printed(monkeypatch, capsys, *told)
    assert (status, called) == (1, [])
    assert words in said


@pytest.mark.parametrize("folder", [False, True])
def test_the_report_is_given_the_settings_of_the_run(tree, folder, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    given = ["npf={kvf: {runs: 3}}"]
    images = ["--images", str(tree)] * folder
    words = ["report", "--preset", "smoke", "--seed", "2", *images, "--config", *given]
    status, said, called = printed(monkeypatch, capsys, *words)
    settings = running.settings(Results("smoke", 2, tree if folder else None), given)
    assert any("runs: 3" in text for text in settings)
    assert any(f"images: {tree}" in text for text in settings) == folder
    assert called[0][called[0].index("--config") + 1 :] == ["preset=smoke", "seed=2", *settings]
    assert status == 0
    name = "smoke-shapes-seed2" if folder else "smoke-seed2"
    assert said == f"results/{name}/report/index.html\n"
