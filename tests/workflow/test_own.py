"""A network of the user through the workflow at tiny sizes, and its chapter in the report."""

import json

import pytest

pytestmark = pytest.mark.workflow
FIGURES = ("own_extra_dispersion", "own_extra_training", "own_extra_gates")
TARGETS = ("own", "captions_own", "datapackage_own")
FACTORY = """
from torch import nn

def make(input_shape, classes):
    channels, height, width = input_shape
    return nn.Sequential(nn.Conv2d(channels, 4, 3), nn.BatchNorm2d(4), nn.ReLU(),
                         nn.Flatten(), nn.Linear(4 * (height - 2) * (width - 2), classes))
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A checkout of its own in which the figures of a network were made."""
    from .conftest import Checkout

    found = Checkout(tmp_path_factory.mktemp("own") / "project")
    (found.path / "net.py").write_text(FACTORY, encoding="utf-8")
    answer = found.run(*TARGETS, "own={network: 'net.py:make'}")
    assert answer.returncode == 0, answer.stdout
    return found


def test_figures_data_and_package_are_made_and_marked(project):
    folder = project.path / "results/smoke/own"
    package = json.loads((folder / "datapackage.json").read_text(encoding="utf-8"))
    assert [each["name"] for each in package["resources"]] == list(FIGURES)
    for each in package["resources"]:
        assert "your network: net.py:make" in each["description"]
        svg = (folder / f"figures/{each['name']}.svg").read_text(encoding="utf-8")
        assert ">your network: net.py:make · digits 8×8<" in svg
        assert (folder / each["path"]).stat().st_size == each["bytes"]


def test_another_content_of_the_file_reruns_all_experiments_and_only_these(project):
    same = project.planned(*TARGETS, "own={network: 'net.py:make'}")
    assert same == {}
    text = FACTORY.replace("4, 3)", "4, 3, padding=0)")
    (project.path / "net.py").write_text(text, encoding="utf-8")
    again = project.planned(*TARGETS, "own={network: 'net.py:make'}")
    assert {"own_dispersion", "own_training", "own_gates"} <= set(again)
    assert "dataset" not in again
    (project.path / "net.py").write_text(FACTORY, encoding="utf-8")


def test_without_the_setting_no_job_is_the_users(project):
    assert not [name for name in project.planned("all") if "own" in name]


def test_the_report_has_a_chapter_on_it(project):
    answer = project.run("report_now", "own={network: 'net.py:make'}")
    assert answer.returncode == 0, answer.stdout
    page = (project.path / "results/smoke/report/own.html").read_text(encoding="utf-8")
    assert page.count("your network: net.py:make (not of a paper)") >= len(FIGURES)
    assert "They are not results of a paper" in page
    first = (project.path / "results/smoke/report/index.html").read_text(encoding="utf-8")
    assert 'href="own.html"' in first
