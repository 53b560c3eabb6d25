"""Files, inputs and parameters of jobs follow from settings."""

import pytest
from tests.helpers.workflow_plans import plan

from finitewidth.claims.grades import PAPER, REDUCED


def claim_settings(preset, paper="npf", **over):
    return plan(preset, **over).claim_input.settings(paper)


def is_papers(settings, number):
    """Part of some printed numbers -> whether ours are at the paper's scale."""
    return {part: basis["papers"] for part, basis in settings["numbers"][number].items()}


def test_the_gpu_is_asked_for_unless_the_cpu_is_wanted():
    assert plan().gpus == 0
    assert plan(device="auto").gpus == plan(device="cuda").gpus == 1
    names = ("beyond_training", "beyond_fig4", "npf_cntk")
    assert [plan().jobs[name].on_device for name in names] == [True, False, False]
    # the device is told at run time, so that another one reruns nothing
    assert "device" not in plan(device="auto").evidence.params("beyond_training")
    assert "device" not in plan(device="auto").evidence.params("npf_cntk")


def test_claims_know_how_they_were_computed_and_what_is_missing():
    situations = claim_settings("quick")["situations"]
    context = situations["N21"]["context"]
    assert context.startswith("preset quick · digits 8×8 (stand-in for MNIST)")
    assert any("CIFAR-10" in reason for reason in situations["N20"]["unmet"])
    assert situations["N15"]["stand_in"]
    assert situations["N04"]["unmet"] == []


def test_numbers_know_whether_they_are_on_stand_ins():
    numbers = claim_settings("quick")["numbers"]
    accuracies = numbers["npf_table2/test_accuracy"]
    assert {"fc_sgd", "gconv_adam"} < set(accuracies)
    for basis in accuracies.values():
        assert basis["stand_in"]
        assert not basis["papers"]
    assert not numbers["npf_text/best_depth"][""]["stand_in"]


def test_nothing_is_missing_at_the_papers_settings():
    settings = claim_settings("paper")
    assert all(is_papers(settings, "npf_table2/test_accuracy").values())
    # our kernel sees a subset of the images at every preset
    gains = is_papers(settings, "npf_text/accuracy_gain")
    assert gains == {"gconv_adam": True, "cntk": False}
    for situation in settings["situations"].values():
        assert not situation["unmet"]


def test_a_claim_that_needs_a_larger_run_names_it_and_its_time():
    situations = claim_settings("quick")["situations"]
    assert situations["N13"]["larger"].startswith("preset laptop takes ")
    assert situations["N13"]["larger"].endswith(" min of one core for it, by forecast")
    assert situations["N20"]["larger"].startswith("preset paper takes ")
    assert situations["N20"]["larger"] == situations["N20"]["papers"]
    assert situations["N12"]["larger"] == ""  # nothing is missing
    for situation in claim_settings("paper")["situations"].values():
        assert situation["larger"] == situation["papers"] == ""


@pytest.mark.parametrize(
    ("claim", "paper", "few"),
    [("N12", "npf", PAPER), ("N13", "npf", REDUCED), ("D06", "dgn", REDUCED)],
)
def test_a_claim_of_fewer_runs_than_the_papers_is_not_at_its_scale(claim, paper, few):
    grades = []
    for runs in (4, 10):
        over = {"npf": {"memorisation": {"descent": {"wide": {"runs": runs}}}}}
        situations = claim_settings("quick", paper, **over)["situations"]
        grades.append(situations[claim]["grade"])
    assert grades == [few, PAPER]


def test_runs_that_a_preset_leaves_out_are_not_counted():
    context = claim_settings("quick")["situations"]["N12"]["context"]
    assert context.startswith("preset quick · 20 runs")


def test_a_step_size_search_trains_all_step_sizes_in_one_job():
    searched = plan("smoke", npf={"regimes": {"sgd_search": True}}).jobs.trainings
    assert len(searched) == len(plan("smoke").jobs.trainings)
