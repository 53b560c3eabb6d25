"""Footers follow from the jobs upstream: a setting changes exactly those that rest on it."""

import json
from functools import cache
from pathlib import Path

import pytest

from finitewidth.claims import grades
from finitewidth.claims.grades import STATUSES
from finitewidth.common.declarations import artifacts_of, done, read_papers
from finitewidth.common.errors import ConfigError
from finitewidth.common.settings import leaves, merged, preset_only, replaced
from finitewidth.pipeline.configuration import sources_of
from finitewidth.pipeline.footers import Footers
from finitewidth.pipeline.jobs import Jobs
from finitewidth.pipeline.plan import checked

ROOT = Path(__file__).parents[2]
PAPERS = read_papers(ROOT / "workflow/papers")
DONE = [entry.artifact for entry in done(artifacts_of(PAPERS))]
PRESETS = {name: preset_only(name, ROOT / "config") for name in ("quick", "laptop", "paper")}
SOURCES = sources_of(PRESETS["paper"], [paper.name for paper in PAPERS])


JOBS = {name: Jobs(PAPERS, preset) for name, preset in PRESETS.items()}


def of(config):
    preset = config["preset"]
    footers = Footers(PAPERS, config, PRESETS[preset], PRESETS["paper"], SOURCES)
    # the same for every configuration; made once
    footers.__dict__ |= {"_preset": JOBS[preset], "_paper": JOBS["paper"]}
    return footers


def footer(artifact, preset="quick", **over):
    return of(merged(PRESETS[preset], over)).footer(artifact)


def test_a_stand_in_is_named_with_the_dataset_that_it_replaces():
    text = footer("dgn_fig6")
    assert text.startswith("preset quick · digits 8×8 (stand-in for MNIST) · 5 runs · ")
    assert text.endswith("other sizes than the paper's")


def test_at_the_papers_own_settings_nothing_is_a_stand_in():
    assert footer("npf_table2", "paper") == "preset paper · MNIST · CIFAR-10 · 5 runs"


def test_a_stand_in_at_the_papers_sizes_is_still_named():
    assert "digits 8×8 (stand-in for MNIST)" in footer(
        "dgn_fig6", "paper", data={"mnist": "digits"}
    )


def test_runs_of_all_jobs_upstream_are_counted():
    assert "· 1 run ·" in footer("dgn_fig6", npf={"nu": {"runs": 1}})
    assert "· (a) 3, (c) 4, (d) 5 runs ·" in footer("npf_fig3", npf={"nu": {"runs": 4}})
    assert "· 2 to 5 runs ·" in footer("npf_extra_text", "laptop")


def test_the_part_of_a_section_that_a_table_averages_is_counted():
    assert "· 7 runs" in footer("npf_extra_limits", npf={"theory": {"limits": {"runs": 7}}})
    assert "· 5,000 draws" in footer("dgn_extra_identities", "paper")
    assert "· 20 runs and 4,000 draws" in footer("npf_extra_theory")


@pytest.mark.parametrize(
    ("artifact", "over", "said"),
    [
        ("npf_fig7", {}, "20 runs drawn, 10 shown"),
        ("npf_fig7", {"npf": {"memorisation": {"runs": 8}}}, "8 runs"),
        ("dgn_fig2", {}, "20 runs"),
        ("dgn_fig10", {}, "200 runs drawn, 5 shown"),
        ("beyond_fig5", {}, "computed exactly, no draws"),
        ("thesis_fig2_1", {}, "a drawing, shows no result"),
        ("thesis_fig2_2", {}, "a drawing, shows no result"),
        ("npf_table3", {}, "equations, shows no result"),
    ],
)
def test_what_a_figure_shows_of_the_runs(artifact, over, said):
    assert footer(artifact, "paper", **over).split(" · ")[1] == said


@pytest.mark.parametrize(("runs", "said"), [(3, "3 runs drawn, 1 shown"), (1, "1 run")])
def test_a_fixed_number_of_runs_can_be_shown(runs, said):
    """The heat maps of the thesis are those of the first run."""
    over = {"beyond": {"training": {"runs": runs}}}
    assert footer("thesis_fig2_5", "paper", **over).split(" · ")[2] == said
    assert f" · {runs} run" in footer("beyond_fig4", "paper", **over)


def test_what_shows_no_result_says_so_and_nothing_else_does():
    footers = of(PRESETS["quick"])
    for name in DONE:
        drawn = footers.status(name) == grades.DRAWN
        assert ("shows no result" in footers.footer(name)) == drawn, name


def test_averaged_pixels_are_named_with_the_networks_that_see_them():
    over = {"dgn": {"sweep": {"pool": 2}, "gates_only": {"pool": 1}}}
    assert "· pixels averaged 2×2 ·" in footer("dgn_table4", **over)
    assert "· pixels averaged 2×2 for some networks ·" in footer("dgn_extra_text", **over)
    assert "averaged" not in footer("npf_table2", **over)
    images = {"collapse": {"pairs": {"resnet_cifar": {"images": {"pool": 4}}}}}
    assert "· pixels averaged 4×4 ·" in footer("collapse_fig8", **images)
    assert "averaged" not in footer("collapse_fig6", **images)


def test_networks_that_are_trained_once_are_one_run():
    assert footer("collapse_fig6", "paper") == "preset paper · MNIST · 1 run"
    assert footer("collapse_table1", "paper") == "preset paper · computed exactly, no draws"


def test_more_draws_than_the_papers_are_at_its_scale_and_fewer_are_not():
    for draws, reduced in ((501, False), (499, True)):
        text = footer("beyond_fig1", "paper", beyond={"diagonal": {"draws": draws}})
        assert text.endswith("fewer runs or draws than the paper's") == reduced
        assert "stand-in" not in text


def test_a_difference_in_a_choice_of_ours_is_reported_as_such():
    text = footer("dgn_fig4")
    assert text.endswith("our own choice: steps 1,000 of 10,000")
    assert "stand-in" not in text


def test_a_value_that_the_paper_or_its_code_also_gives_is_the_papers():
    assert footer("npf_fig3", "paper", npf={"kvf": {"gate": {"eps": 0}}}) == (
        "preset paper, modified · MNIST · CIFAR-10 · 5 runs"
    )
    assert footer("npf_fig3", "paper", npf={"kvf": {"gate": {"eps": 0.3}}}).endswith(
        "other sizes than the paper's"
    )


def test_a_network_of_another_job_reaches_the_figures_that_train_it():
    tiny = {"npf": {"regimes": {"networks": {"gconv": {"channels": [2, 2, 2, 2], "dense": [4]}}}}}
    for artifact in ("npf_fig3", "npf0_fig3", "npf_extra_cntk", "npf_table2"):
        text = footer(artifact, "paper", **tiny)
        assert text.startswith("preset paper, modified · ")
        assert text.endswith("other sizes than the paper's")
    assert footer("dgn_fig6", "paper", **tiny) == footer("dgn_fig6", "paper")


def test_numbers_are_comparable_dataset_by_dataset():
    def comparable(config):
        footers = of(config)
        return footers.comparable(footers.jobs["npf_table2"].reads)

    assert comparable(PRESETS["quick"]) == {"mnist": False, "cifar10": False}
    assert comparable(PRESETS["paper"]) == {"mnist": True, "cifar10": True}
    mixed = merged(PRESETS["paper"], {"data": {"mnist": "digits"}})
    assert comparable(mixed) == {"mnist": False, "cifar10": True}
    adam = merged(PRESETS["paper"], {"npf": {"regimes": {"rows": {"fc_adam": {"epochs": 2}}}}})
    assert comparable(adam) == {"mnist": False, "cifar10": True}


def differs(preset="paper", read="npf_regimes.runs", rows=(), role=None, **over):
    footers = of(merged(PRESETS[preset], over))
    return footers.differences([footers.jobs.read("", read)], role, rows)


def test_what_differs_from_the_paper_is_told_in_words():
    assert differs("laptop", rows=["fc_sgd"]) == (
        "MNIST whole", "networks whole", "epochs 30 of 300", "runs 3 of 5"
    )  # fmt: skip
    assert differs("laptop", role="mnist")[2] == "epochs 30 of 300 and 20 of 100"
    jpeg = differs("laptop", rows=["gconv_sgd"], data={"cifar10": "cifar10_jpeg"})
    assert jpeg == (
        "CIFAR-10 (JPEG re-encoded)",
        "4,000 of 50,000 training and 1,000 of 10,000 test images",
        "channels 8-8-16-16, dense layers 32 (paper 64-64-128-128, 256-256)",
        "epochs 8 of 100", "runs 3 of 5", "initialisation he uniform (paper glorot uniform)",
        "step size 0.15 (paper 0.1)",
    )  # fmt: skip
    quick = differs("quick", rows=["fc_adam"])
    assert quick[:2] == ("digits 8×8 (stand-in for MNIST)", "hidden layers 5 × 64 (paper 5 × 128)")
    few = {"trust": {"heat_widths": {"widths": [50, 100]}}}
    widths = differs(read="trust_heat_widths.cells", **few)
    assert widths == ("widths 50 and 100 (paper 50, 100, 200 and 500)",)


def test_a_long_list_of_differences_is_cut():
    told = differs("laptop", read="npf_stages.curves")
    assert len(told) == 7
    assert told[-1].startswith("and ")
    assert int(told[-1].split()[1]) >= 2


def test_nothing_differs_at_the_papers_settings_or_in_choices_and_accepted_values():
    for name in DONE:
        footers = of(PRESETS["paper"])
        assert footers.differences(footers.jobs[name].reads) == ()
    assert differs(read="dgn_planar.errors", dgn={"planar": {"steps": 7}}) == ()
    assert differs(read="npf_kvf.curves", npf={"kvf": {"gate": {"eps": 0}}}) == ()
    assert differs(read="beyond_diagonal.estimates", beyond={"diagonal": {"draws": 501}}) == ()
    assert differs(read="beyond_diagonal.estimates", beyond={"diagonal": {"draws": 499}}) == (
        "draws 499 of 500",
    )  # fmt: skip


def test_the_same_images_re_encoded_differ_but_are_no_stand_in():
    config = merged(PRESETS["paper"], {"data": {"cifar10": "cifar10_jpeg"}})
    footers = of(config)
    reads = footers.jobs["dgn_table4"].reads
    scale = footers.scale(reads)
    assert (scale.originals, scale.stand_in, scale.sizes) == (False, False, True)
    assert footers.differences(reads) == ("CIFAR-10 (JPEG re-encoded) whole", "networks whole")
    assert footers.grade(reads) == grades.REDUCED
    mine = {"cifar10": "mine", "imagefolder": {"mine": "folder"}}
    assert of(merged(config, {"data": mine})).scale(reads).stand_in


def test_shorter_trainings_of_our_own_choice_are_told_and_count_as_reduced():
    footers = of(PRESETS["laptop"])
    reads = footers.jobs["dgn_fig5"].reads
    own = "our own choice: epochs 14 of 100"
    assert footers.differences(reads) == ("MNIST whole", "networks whole", own)
    assert (footers.scale(reads).reduced, footers.scale(reads).sizes) == (False, False)
    assert footers.status("dgn_fig5") == "reduced"
    longer = {"dgn": {"mnist": {"epochs": 101, "step_size": 0.1, "runs": 2}}}
    assert differs(read="dgn_mnist.curves", **longer) == ()
    pooled = {"npf": {"cntk": {"pool": 4, "epochs": 20}}}
    assert differs(read="npf_cntk.runs", rows=["cntk"], **pooled)[-1] == (
        "our own choice: epochs 20 of 200, pixels averaged per side 4 (preset paper 1)"
    )


def test_fewer_runs_or_draws_are_no_size():
    def sizes(read, **over):
        footers = of(merged(PRESETS["paper"], over))
        scale = footers.scale([footers.jobs.read("", read)])
        return scale.sizes, scale.papers

    fewer = {"runs": 2}
    assert sizes("npf_regimes.runs", npf={"regimes": fewer}) == (True, False)
    assert sizes("npf_regimes.runs", npf={"regimes": {**fewer, "train": 100}}) == (False, False)
    draws = {"draws": 9, "paper_draws": 9}
    assert sizes("trust_depth.curves", trust={"depth": draws}) == (True, False)
    pairs = {"pairs": [[1, 1]]}
    assert sizes("trust_depth.curves", trust={"depth": {**draws, **pairs}}) == (False, False)


CONCEPTUAL = """npf_table1 npf_table3 npf_table4 npf_table5 npf_fig1 npf_fig2 npf_fig4 npf_fig5
npf0_table1 npf0_fig1 npf0_fig2 dgn_table1 dgn_table2 dgn_table3 dgn_table5 dgn_fig9
thesis_fig2_1 thesis_fig2_2"""


def test_drawings_and_tables_of_equations_are_named_as_such():
    footers = of(PRESETS["quick"])
    drawn = {name for name in DONE if footers.status(name) == "drawing"}
    assert drawn == set(CONCEPTUAL.split())
    assert {footers.grade_of_artifact(name) for name in drawn} == {grades.DRAWING}
    # a claim on the same tables rests on what was computed
    assert footers.grade(footers.jobs["dgn_fig9"].reads) == grades.EXACT


def test_the_status_of_a_figure_is_its_own():
    quick, laptop, paper = (of(PRESETS[name]) for name in ("quick", "laptop", "paper"))
    assert quick.status("npf_fig3") == "on a stand-in"
    assert laptop.status("npf_fig3") == "reduced"
    assert paper.status("npf_fig3") == "at the paper's sizes"
    assert quick.status("beyond_fig5") == "at the paper's sizes"
    assert quick.grade_of_artifact("beyond_fig5") == grades.EXACT
    assert quick.grade_of_artifact("beyond_fig1") == grades.PAPER
    assert {quick.status(name) for name in DONE} <= set(STATUSES)


def test_device_and_checkpoints_change_no_footer():
    assert footer("npf_fig3", device="auto", checkpoint_seconds=3) == footer("npf_fig3")


# --- every setting, one at a time ---------------------------------------------------------------

DATA = {
    ("data", "mnist"): "warped_digits",
    ("data", "fashion_mnist"): "digits",
    ("data", "cifar10"): "digits",
}


def others(value):
    """Values of the same type that may be allowed in the place of one."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, value - 1, 0, 1, 2, 2 * value]
    if isinstance(value, float):
        return [value * 1.01, value * 0.99, value / 2]
    if value is None:
        return [37]
    if isinstance(value, str):
        return ["last", "best_test", "sgd", "adam", "he_uniform", "glorot_uniform", "valid", "same",
                "hard", "random_pixels", "permuted_pixels", "gaussian", "kernel_over_depth",
                "float32", "float64", "epoch", "best", "softmax_sum", "vconv", "gconv", "mnist",
                "cifar10", "bias_corrected", "best_so_far", "convolutional", "each",
                "steps", "cross_entropy", "scaled", "common"]  # fmt: skip
    if isinstance(value, dict):
        return [{**value, key: other} for key in value for other in others(value[key])]
    if value and isinstance(value[0], list):
        return [value[:-1], value[::-1]] + [[inner, *value[1:]] for inner in others(value[0])]
    return [value[:-1], value[1:], value[::-1], [*value[:-1], *(others(value[-1])[:1])]]


def changed(config, path, value):
    """The first allowed configuration with another value at a path; None if there is none."""
    for other in [DATA[path]] if path in DATA else others(value):
        if other == value:
            continue
        tried = replaced(config, {path: other})
        try:
            checked(tried, PAPERS)
        except (ConfigError, KeyError, IndexError):
            continue
        return tried
    return None


def parameters(config):
    """Job -> what it depends on beside other jobs, as text; and job -> jobs upstream."""
    jobs = Jobs(PAPERS, config)
    names = [*jobs.experiments, *DONE, *jobs.trainings]
    own, makers = {}, {}
    for name in names:
        own[name] = json.dumps([jobs[name].params, jobs[name].inputs], sort_keys=True)
        makers |= dict.fromkeys(jobs.outputs(name).values(), name)
    upstream = {}
    for name in names:
        files = [f for given in jobs[name].inputs.values()
                 for f in ([given] if isinstance(given, str) else given)]  # fmt: skip
        upstream[name] = {makers[file] for file in files if file in makers}
    return own, upstream


def resting_on(changes, upstream):
    """The artifacts with a changed job at or above them."""

    @cache
    def reached(name):
        return name in changes or any(reached(other) for other in upstream[name])

    return {artifact for artifact in DONE if reached(artifact)}


# path of settings -> artifacts that rest on a job with them and show nothing of them
UNSEEN = {
    ("npf", "memorisation", "descent"): {"dgn_fig1", "dgn_fig2"},
    **{("npf", "memorisation", "shown", figure): {"npf_fig7", "dgn_fig1", "dgn_fig2", "dgn_fig3"} -
       {figure} for figure in ("npf_fig7", "dgn_fig1", "dgn_fig2", "dgn_fig3")},
    **{("npf", "theory", key): {"npf_extra_limits"} for key in ("runs", "widths", "padding",
                                                                "variance")},
    ("npf", "theory", "mean"): {"npf_extra_theory", "npf_extra_limits"},
    ("npf", "theory", "limits"): {"npf_extra_theory"},
    ("thesis", "risk", "doubled"): {"thesis_fig2_4"},
    ("thesis", "risk", "descent"): {"thesis_fig2_4"},
    ("dgn", "theory", "fit"): {"dgn_extra_identities"},
    ("dgn", "theory", "runs"): {"dgn_extra_identities"},
}  # fmt: skip


def unseen(path):
    """The artifacts that show nothing of a setting (see test_seen.py)."""
    return {a for start, names in UNSEEN.items() if path[: len(start)] == start for a in names}


# the pairs of collapse are declared alike; the one that several figures show is tried
ALIKE = {("collapse", key, pair) for key in ("pairs", "maps")
         for pair in PRESETS["quick"]["collapse"][key]
         if pair != "resnet_mnist"}  # fmt: skip
SETTINGS = {path: value for path, value in leaves(PRESETS["quick"]).items()
            if (path[0] in {p.name for p in PAPERS} or path in DATA)
            and path[:3] not in ALIKE}  # fmt: skip
# settings for which the schema, or another setting, allows a single value
FIXED = {"dgn.sweep.in_text.eps", "dgn.concepts.convolution.inputs", "npf.concepts.toy.width",
         "npf.theory.variance.drawn.widths", "trust.descent_tanh.activation",
         "trust.descent_relu.activation",
         # tables and captions name these datasets
         *(f"npf.regimes.rows.{row}.dataset" for row in PRESETS["quick"]["npf"]["regimes"]["rows"]),
         "npf.cntk.dataset", "npf.stages.dataset", "dgn.mnist.dataset", "dgn.sweep.dataset",
         "dgn.gates_only.dataset", "beyond.training.dataset",
         "collapse.pairs.resnet_mnist.dataset",
         # among these must be the times of the heat maps
         "beyond.training.times",
         # a control has the networks of the map that it is compared with, and their one method
         "trust.descent_tanh.rate_rule", "trust.descent_relu.rate_rule",
         *(f"trust.descent_scaled_{each}.{key}" for each in ("tanh", "relu")
           for key in ("activation", "mode", "rate_rule", "width", "widths")),
         # an odd number; names of random streams; initialisations whose weights are kept
         "collapse.models.smoothing.window", "collapse.maps.resnet_mnist.init",
         "collapse.pairs.resnet_mnist.pair", "collapse.pairs.resnet_mnist.keep"}  # fmt: skip


def test_every_setting_changes_exactly_the_footers_of_what_rests_on_it(full):
    quick = PRESETS["quick"]
    own, upstream = parameters(quick)
    before = of(quick)
    footers = {artifact: before.footer(artifact) for artifact in DONE}
    untried, idle = [], []
    tried = list(SETTINGS.items())[:: 1 if full else 5]
    for path, value in tried:
        config = changed(quick, path, value)
        if config is None:
            untried.append(path)
            continue
        theirs, _ = parameters(config)
        changes = {name for name in own.keys() | theirs.keys() if own.get(name) != theirs.get(name)}
        wanted = resting_on(frozenset(changes), upstream) - unseen(path)
        after = of(config)
        found = {artifact for artifact in DONE if after.footer(artifact) != footers[artifact]}
        assert found == wanted, ".".join(path)
        idle += [path] if not changes else []
    assert {".".join(p) for p in untried if p[-1] != "kind"} <= FIXED
    assert len(idle) < len(tried) / 10, idle
