"""Footers name what stands in for what; files and jobs follow from settings."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from finitewidth.common.settings import merged, preset_only
from finitewidth.pipeline.plan import Plan

ROOT = Path(__file__).parents[2]


def plan(preset="quick", **over):
    return Plan(merged(preset_only(preset, ROOT / "config"), over), ROOT)


def test_footer_of_a_preset():
    text = plan().footer("npf", ["table2"], "mnist")
    assert text.startswith("preset quick · digits 8×8 (stand-in for MNIST) · ")
    assert text.endswith("stand-in for the paper's sizes")


def test_footer_counts_one_run_as_one():
    assert "· 1 run ·" in plan(npf={"nu": {"runs": 1}}).footer("npf", ["nu"], "mnist")


def test_footer_counts_the_parts_of_a_section_that_are_shown():
    mine = plan(npf={"theory": {"limits": {"runs": 7}}})
    assert "· 7 runs ·" in mine.footer("npf", ["theory"], parts=["limits"])
    identities = plan("paper").footer("dgn", ["theory"], parts=["overlaps", "linear"])
    assert identities == "preset paper · 5,000/5,000 draws (overlaps/linear)"


def test_footer_says_where_images_are_averaged():
    halved = plan(dgn={"table4": {"pool": 2}, "gates_only": {"pool": 1}})
    assert "· pixels averaged 2×2 ·" in halved.footer("dgn", ["table4"], "cifar10")
    both = halved.footer("dgn", ["gates_only", "table4", "mnist"], "mnist", "cifar10")
    assert "· pixels averaged 2×2 (table4) ·" in both
    assert "averaged" not in halved.footer("dgn", ["gates_only"], "cifar10")


def test_footer_at_the_papers_own_settings_names_no_stand_in():
    assert plan("paper").footer("npf", ["table2"], "mnist", "cifar10") == (
        "preset paper · MNIST · CIFAR-10 · 5 runs"
    )


@pytest.mark.parametrize(
    ("over", "modified"),
    [
        ({"npf": {"nu": {"runs": 2}}}, True),
        ({"npf": {"kvf": {"runs": 2}}}, False),
        ({"data": {"mnist": "warped_digits"}}, True),
        ({"data": {"cifar10": "cifar10"}}, False),
        ({"device": "auto", "checkpoint_seconds": 3}, False),
    ],
)
def test_footer_says_modified_if_what_it_shows_is(over, modified):
    assert ("quick, modified" in plan(**over).footer("npf", ["nu"], "mnist")) == modified


def test_a_stand_in_at_the_papers_sizes_is_still_named():
    text = plan("paper", data={"mnist": "digits"}).footer("npf", ["nu"], "mnist")
    assert "digits 8×8 (stand-in for MNIST)" in text


@pytest.mark.parametrize(
    ("runs", "artifact", "said"),
    [
        (20, "npf_fig7", "20 runs drawn, 10 shown"),
        (20, "dgn_fig2", "20 runs"),
        (8, "npf_fig7", "8 runs"),
        (20, None, "20 runs"),
    ],
)
def test_footer_of_a_figure_that_shows_the_first_runs_only(runs, artifact, said):
    mine = plan("paper", npf={"memorisation": {"runs": runs}})
    text = mine.footer("npf", ["memorisation_task", "memorisation"], artifact=artifact)
    assert text.split(" · ")[1] == said
    linear = plan("paper").footer("dgn", ["deep_linear"], artifact="dgn_fig10")
    assert linear == "preset paper · 200 runs drawn, 5 shown"


def test_numbers_are_comparable_dataset_by_dataset():
    assert plan().comparable("npf", "table2", "mnist", "cifar10") == {
        "mnist": False, "cifar10": False
    }  # fmt: skip
    mixed = plan("paper", data={"mnist": "digits"})
    assert mixed.comparable("npf", "table2", "mnist", "cifar10") == {
        "mnist": False, "cifar10": True
    }  # fmt: skip


def test_inputs_of_a_training_that_starts_from_another():
    wildcards = SimpleNamespace(paper="npf", training="fc_sgd-frozen")
    assert plan().training_inputs(wildcards) == {
        "data": "results/data/digits.npz",
        "history": "results/quick/npf/training/fc_sgd-relu/history.csv",
        "weights": "results/quick/npf/training/fc_sgd-relu/weights.npz",
    }
    assert len(plan().training_settings(wildcards)["replicas"]) == 9


def test_image_folders_take_any_part():
    mine = plan(data={"cifar10": "mine", "imagefolder": {"mine": "folder/of/mine"}})
    assert mine.dataset("cifar10") == "results/data/mine.npz"
    assert mine.tree(SimpleNamespace(source="mine")) == "folder/of/mine"
    assert mine.titles("cifar10") == {"cifar10": "mine (image folder) (stand-in for CIFAR-10)"}


def test_the_gpu_is_asked_for_unless_the_cpu_is_wanted():
    assert (plan().gpus(), plan(device="auto").gpus(), plan(device="cuda").gpus()) == (0, 1, 1)


def test_a_paper_without_trainings_has_none():
    assert plan().training_names("beyond") == []
    assert plan().histories("beyond", ["any"]) == []


def test_footer_counts_draws_and_calls_only_fewer_or_other_sizes_a_stand_in(monkeypatch):
    mine = plan("paper")

    def footer(ours, papers):
        for held, section in ((mine.config, ours), (mine._preset, ours), (mine._paper, papers)):
            monkeypatch.setitem(held, "beyond", {"sweep": section})
        return mine.footer("beyond", ["sweep"])

    sizes = {"widths": [100], "draws": 500}
    assert footer(sizes, sizes) == "preset paper · 500 draws"
    assert footer({**sizes, "draws": 10_000}, sizes) == "preset paper · 10,000 draws"
    assert footer({**sizes, "draws": 20}, sizes).endswith("stand-in for the paper's sizes")
    assert footer({**sizes, "widths": [5]}, sizes).endswith("stand-in for the paper's sizes")
    assert footer({"depth": 60}, {"depth": 60}) == "preset paper · computed exactly, no draws"
