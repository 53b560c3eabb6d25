"""Files, inputs and parameters of jobs follow from settings."""

from tests.helpers.workflow_plans import plan


def test_the_gpu_is_asked_for_unless_the_cpu_is_wanted():
    assert (plan().gpus, plan(device="auto").gpus, plan(device="cuda").gpus) == (0, 1, 1)
    names = ("beyond_training", "beyond_fig4", "npf_cntk")
    assert [plan().jobs[name].on_device for name in names] == [True, False, False]
    # the device is told at run time, so that another one reruns nothing
    assert "device" not in plan(device="auto").evidence.params("beyond_training")
    assert "device" not in plan(device="auto").evidence.params("npf_cntk")


def test_claims_are_told_what_they_were_computed_with_and_what_is_missing():
    told = plan().claim_input.settings("npf")
    context = told["situations"]["N21"]["context"]
    assert context.startswith("preset quick · digits 8×8 (stand-in for MNIST)")
    assert any("CIFAR-10" in reason for reason in told["situations"]["N20"]["unmet"])
    assert told["situations"]["N15"]["stand_in"]
    assert told["situations"]["N04"]["unmet"] == []
    cells = told["numbers"]["npf_table2/test_accuracy"]
    assert {"fc_sgd", "gconv_adam"} < set(cells)
    assert all(cell["stand_in"] and not cell["papers"] for cell in cells.values())
    assert not told["numbers"]["npf_text/best_depth"][""]["stand_in"]
    papers = plan("paper").claim_input.settings("npf")
    assert all(each["papers"] for each in papers["numbers"]["npf_table2/test_accuracy"].values())
    # our kernel sees a subset of the images at every preset
    gains = papers["numbers"]["npf_text/accuracy_gain"]
    assert {part: each["papers"] for part, each in gains.items()} == {
        "gconv_adam": True,
        "cntk": False,
    }
    assert not any(each["unmet"] for each in papers["situations"].values())


def test_a_claim_that_needs_a_larger_run_is_told_which_one_and_its_time():
    told = plan().claim_input.settings("npf")["situations"]
    assert told["N13"]["larger"].startswith("preset laptop takes ")
    assert told["N13"]["larger"].endswith(" min of one core for it, by forecast")
    assert told["N20"]["larger"].startswith("preset paper takes ")
    assert told["N20"]["larger"] == told["N20"]["papers"]
    assert told["N12"]["larger"] == ""  # nothing is missing
    papers = plan("paper").claim_input.settings("npf")["situations"]
    assert {each["larger"] + each["papers"] for each in papers.values()} == {""}


def test_a_claim_of_fewer_runs_than_the_papers_is_not_at_its_scale():
    few, enough = (
        plan(npf={"memorisation": {"descent": {"wide": {"runs": runs}}}}) for runs in (4, 10)
    )
    grades = {
        name: [
            each.claim_input.settings(paper)["situations"][name]["grade"] for each in (few, enough)
        ]
        for name, paper in (("N12", "npf"), ("N13", "npf"), ("D06", "dgn"))
    }
    reduced = "the paper's data, reduced scale"
    papers = "the paper's scale"
    assert grades == {"N12": [papers, papers], "N13": [reduced, papers], "D06": [reduced, papers]}


def test_runs_that_a_preset_leaves_out_are_not_counted():
    context = plan().claim_input.settings("npf")["situations"]["N12"]["context"]
    assert context.startswith("preset quick · 20 runs")


def test_a_step_size_search_trains_all_step_sizes_in_one_job():
    searched = plan("smoke", npf={"regimes": {"sgd_search": True}}).jobs.trainings
    assert len(searched) == len(plan("smoke").jobs.trainings)
