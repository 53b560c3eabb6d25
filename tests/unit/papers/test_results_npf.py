"""What the figures and tables of npf show, in a sentence or two: every branch of their rules."""

import math
from types import SimpleNamespace

import pandas as pd
import pytest

from finitewidth.figures.by_depth import DESCENT
from finitewidth.papers.npf.results import (
    extra_cntk,
    extra_energy,
    extra_limits,
    extra_theory,
    fig3,
    fig6,
    fig7,
    table2,
    text_numbers,
)

PERCENT = SimpleNamespace(unit="percent", networks=["v", "f"])
FRACTION = SimpleNamespace(unit="fraction", networks=["V", "F"])


def learnt(accuracies, nu=(9.0, 4.0), ratio=2.0, trained=1):
    """Accuracies by stage, nu at two epochs, and kernels of which one is larger."""
    rows = []
    for stage, accuracy in enumerate(accuracies):
        row = {"panel": "stages", "source": "ours", "series": "FLNPF", "stage": stage}
        spread = {"standard_deviation": 0.01, "runs": 3, "trained": trained}
        rows.append(row | {"accuracy": accuracy} | spread)
    relu = {"panel": "stages", "source": "ours", "series": "ReLU", "accuracy": 0.95}
    rows.append(relu | {"standard_deviation": 0.02, "runs": 3, "trained": 1})
    for epoch, value in enumerate(nu):
        of_nu = {"panel": "nu", "series": "nu", "epoch": epoch, "nu": value, "runs": 5}
        rows.append(of_nu | {"standard_deviation": 1.0})
    for size in ("trace", "Frobenius norm"):
        for kernel, value in (("K^v", ratio), ("K^f", 1.0)):
            rows.append({"panel": "sizes", "series": f"{size} of {kernel}", "size": value})
            rows[-1]["epoch"] = 0
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("rows", "settings", "words"),
    [
        (learnt([0.5, 0.6]), PERCENT, "rises with the stage of its training: 50.0 ± 1.0 %"),
        (
            learnt([0.5, 0.6]),
            PERCENT,
            "ReLU networks have 95.0 ± 2.0 % (± standard deviation over 3",
        ),
        (learnt([0.5, 0.6]), FRACTION, "0.500 ± 0.010 with those of stage 0 and 0.600 ± 0.010"),
        (learnt([0.5, 0.6, 0.4]), PERCENT, "with the stage of its training, but not from 1 to 2"),
        (
            learnt([0.6, 0.5]),
            PERCENT,
            "rises at no stage, while the paper has later gates do better",
        ),
        (learnt([0.5, 0.6], trained=0), PERCENT, "with networks that are not all trained"),
        (learnt([0.5]), PERCENT, "Gates of stage 0 alone reach 50.0 ± 1.0 %."),
        (learnt([math.nan]), PERCENT, "No network with gates fixed at a stage has an accuracy."),
        (learnt([0.5]), PERCENT, "$\\nu_t$ falls from 9 ± 1 to 4 ± 1 (over 5 runs)"),
        (learnt([0.5], nu=(4.0, 9.0)), PERCENT, "$\\nu_t$ does not fall: from 4 ± 1 to 9 ± 1"),
        (learnt([0.5], nu=(4.0,)), PERCENT, "Of $\\nu_t$ there are not two values"),
        (learnt([0.5]), PERCENT, "trace and norm of $K^v$ are 2 to 2 times those of $K^f$, which"),
        (learnt([0.5]), FRACTION, "trace and norm of $K^V$ are"),
        (learnt([0.5], ratio=0.0), PERCENT, "the sizes of $K^v$ and $K^f$ have no ratio."),
    ],
)
def test_figure_3_says_what_learning_does_to_gates_nu_and_kernels(rows, settings, words):
    assert words in fig3.result(rows, settings)


@pytest.mark.parametrize(
    ("distances", "words"),
    [
        (
            {2: 5.0, 4: 1.0},
            "comes closer to the line of the identity matrix with depth: its largest",
        ),
        ({2: 5.0, 4: 1.0}, "is 5 at depth 2 and 1 at depth 4 (in closed form)."),
        ({2: 1.0, 4: 5.0}, "does not always come closer"),
        ({2: 5.0}, "At the only depth, 2, the ideal cumulative spectrum lies up to 5 below"),
    ],
)
def test_figure_6_compares_the_least_with_the_greatest_depth(distances, words):
    rows = pd.DataFrame({"depth": list(distances), "shortfall": list(distances.values())})
    assert words in fig6.result(rows, {})


def descents(errors, best=None, runs=10, spread=2.0, drawn=()):
    """Means of a width at the last step, the paper's best depth, and runs of depths."""
    rows = []
    for depth, error in errors.items():
        mean = {"panel": "errors", "dynamics": DESCENT, "depth": depth, "geometric_mean": error}
        ends = {"lowest": error / spread, "highest": error * spread}
        rows.append(mean | ends | {"runs": runs, "step": 1000.0})
    if best:
        rows.append({"panel": "best depth", "dynamics": DESCENT, "depth": best})
    for depth, error in drawn:
        rows.append({"panel": "run", "depth": depth, "step": 1000.0, "error_ratio": error})
    if not rows:
        rows.append({"panel": "spectrum", "dynamics": "none"})
    return pd.DataFrame(rows).assign(width=25.0)


TWO = {2: 0.5, 4: 0.1}


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (
            descents(TWO, best=4),
            "Among networks of width 25 with fixed random gates, after 1,000 steps (over 10 runs), "
            "depth 4 has the lowest error, 0.1 of that at the start (geometric mean), as the paper "
            "says; the next is depth 2 with 0.5, and their ranges of two standard errors do not",
        ),
        (descents(TWO, best=2), "not depth 2 as the paper says, which has 0.5"),
        (descents(TWO), "(geometric mean); the next is depth 2 with 0.5"),
        (descents(TWO, best=8), "(geometric mean); the next is depth 2 with 0.5"),
        (descents(TWO, spread=9.0), "and their ranges of two standard errors overlap."),
        (descents(TWO, spread=math.nan), ", each from a single run."),
        (
            descents(TWO, drawn=[(2, 0.4), (2, 0.6), (4, 0.1), (4, 0.2)]),
            "and their runs do not overlap.",
        ),
        (descents(TWO, drawn=[(2, 0.4), (2, 0.6), (4, 0.1), (4, 0.5)]), "and their runs overlap."),
        (descents(TWO, drawn=[(2, 0.5), (4, 0.1)]), ", each from a single run."),
        (descents({2: 0.5}), "; no other depth is left to compare it with."),
        (descents({}), "with fixed random gates, all descents diverged."),
    ],
)
def test_figure_7_names_the_depth_that_converges_best(rows, words):
    assert words in fig7.result(rows, {})


GATES = ["frnpf_ii", "frnpf_di", "dlnpf", "flnpf", "relu"]


def accuracies(ours, paper, bold=1, images="CIFAR-10"):
    """One row of Table 2."""
    rows = []
    for epoch, means, data in (("best_test", ours, images), ("none", paper, "CIFAR-10")):
        for regime, mean in zip(GATES, means, strict=True):
            row = {"network": "FC", "optimiser": "SGD", "epoch": epoch, "data": data}
            is_bold = int(epoch == "best_test" and sorted(means).index(mean) >= 5 - bold)
            rows.append(row | {"regime": regime, "mean": mean, "bold": is_bold})
    return pd.DataFrame(rows)


PRINTED = [50.0, 51.0, 60.0, 61.0, 62.0]


@pytest.mark.parametrize(
    ("rows", "paper", "words"),
    [
        (
            accuracies([50.0, 51.0, 63.0, 61.0, 62.0], PRINTED),
            "npf",
            "First in a row of Table 2, at the epoch of the best test accuracy, is DLNPF in 1, in "
            "1 of 1 by more than a standard deviation; the paper has ReLU in 1. All learnt gates "
            "are above both kinds of random gates in 1 of 1 rows, and in 1 of 1 of the paper's.",
        ),
        (accuracies([50.0, 51.0, 63.0, 61.0, 62.0], PRINTED), "npf0", "is DNPFL in 1"),
        (accuracies([64.0, 51.0, 63.0, 61.0, 62.0], PRINTED), "npf", "random gates in 0 of 1 rows"),
        (
            accuracies(PRINTED, PRINTED, bold=2),
            "npf",
            "in 0 of 1 by more than a standard deviation",
        ),
        (
            accuracies(PRINTED, PRINTED, images="P"),
            "npf",
            "accuracy, on other images than the paper",
        ),
        (accuracies([math.nan] * 5, PRINTED, bold=0), "npf", "All of our runs diverged."),
    ],
)
def test_table_2_says_which_gates_are_first(rows, paper, words):
    assert words in table2.result(rows, SimpleNamespace(paper=paper))


def same_images(networks, images=400.0):
    """A kernel at two sizes, and networks of one of them."""
    rows = [
        {"method": "cntk", "training_images": 50.0, "accuracy": 20.0, "standard_error": 2.0},
        {"method": "cntk", "training_images": 400.0, "accuracy": 55.0, "standard_error": 3.0},
    ]
    for method, accuracy, error in networks:
        row = {"method": method, "training_images": images, "accuracy": accuracy}
        rows.append(row | {"standard_error": error})
    ours = pd.DataFrame(rows).assign(source="ours")
    return pd.concat([ours, pd.DataFrame([{"method": "cntk", "source": "paper"}])])


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (
            same_images([("relu", 75.0, 4.0), ("dlnpf", 70.0, 4.0), ("frnpf_ii", 40.0, 4.0)]),
            "On the same 400 training images the CNTK reaches 55.0 ± 3.0 % (± standard error): "
            "ReLU (75.0 ± 4.0) and DLNPF (70.0 ± 4.0) are above it by more than two standard "
            "errors; FRNPF (II) (40.0 ± 4.0) is below it",
        ),
        (same_images([("flnpf", 60.0, 4.0)]), "FLNPF (60.0 ± 4.0) is not to be told apart from it"),
        (same_images([("flnpf", 99.0, math.nan)]), "FLNPF (99.00) is not to be told apart"),
        (same_images([("flnpf", 60.0, 4.0)], images=30.0), "No network was trained on the images"),
    ],
)
def test_the_cntk_is_compared_with_networks_on_the_same_images(rows, words):
    assert words in extra_cntk.result(rows, {})


def limits(factors, error=0.01):
    """Factors of the paper's kernel at both output variances; 1 is expected at the smaller one."""
    rows = []
    for depth, factor in enumerate(factors, start=3):
        row = {"limit": "halved", "depth": depth, "width": 2048}
        at_one = {"output_variance_times_width": 1.0, "expected": 1.0, "factor": 1.01}
        rows.append(row | at_one | {"factor_standard_error": error})
        at_two = {"output_variance_times_width": 2.0, "expected": math.nan, "factor": factor}
        rows.append(row | at_two | {"factor_standard_error": error})
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (limits([1.3, 1.4]), "2 of 2 factors between a tangent kernel of width 2,048 and its own"),
        (limits([1.3, 1.4], error=0.001), "0 of 2 factors"),
        (
            limits([1.3, 1.4]),
            "$K^{(d)}$ as the paper defines it is too small by a factor of 1.3 to",
        ),
        (limits([1.3]), "too small by a factor of 1.3."),
        (limits([1.3]).iloc[:1], "are within 3 standard errors of 1."),
        (
            limits([1.3], error=math.nan),
            "No factor has both an expected value and a standard error",
        ),
    ],
)
def test_wide_limits_say_which_factors_are_one(rows, words):
    assert words in extra_limits.result(rows, {})


def fixed_gates(drawn=1.05, power=3.0, depths=(4, 8), own=True):
    """Errors at two widths, and variances over the depth to the third power."""
    rows = []
    for width, exact in ((16.0, 2.0), (64.0, 1.0)):
        row = {"panel": "width", "depth": 3, "width": width, "copies": math.nan}
        rows.append(row | {"gates": "independent", "curve": "exact", "error": exact})
        errors = {"error": drawn * exact, "standard_error": 0.1}
        rows.append(row | {"gates": "independent", "curve": "drawn"} | errors)
        if own:
            rows.append(row | {"gates": "own", "curve": "drawn", "error": 3.0})
    for depth in depths:
        row = {"panel": "d3", "gates": "open", "curve": "exact", "width": 1024, "depth": depth}
        rows.append(row | {"variance": float(depth) ** (power - 3)})
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (fixed_gates(), "2 of 2 drawn errors of the tangent kernel are within 3 standard"),
        (fixed_gates(drawn=2.0), "0 of 2 drawn errors"),
        (
            fixed_gates(),
            "at width 64 the errors are 1.1, while networks with gates of their own keep",
        ),
        (fixed_gates(own=False), "at width 64 the errors are 1.1. From"),
        (
            fixed_gates(),
            "From depth 4 to 8, at width 1,024, the variance of $K(s, s)$ grows with the",
        ),
        (fixed_gates(), "the power 3 of the depth, nearer to $d^3$ (Theorem B.2 of npf) than"),
        (fixed_gates(power=2.0), "the power 2 of the depth, nearer to $d^2$ (Theorem 2.3 of dgn)"),
        (fixed_gates(depths=(4,)), "The depths are too few for a rate of growth"),
        (fixed_gates().query("panel == 'd3'"), "No networks are drawn."),
    ],
)
def test_fixed_gates_say_how_errors_and_variances_go(rows, words):
    assert words in extra_theory.result(rows, {})


def energy(shares, nu=(9.0, 4.0)):
    """The share of the first eigenvectors at two epochs, and nu."""
    rows = []
    for count, (before, after) in shares.items():
        for epoch, share in ((0.0, before), (50.0, after)):
            row = {"panel": "top", "series": "labels", "epoch": epoch, "eigenvectors": count}
            rows.append(row | {"share": share, "standard_deviation": 0.1})
    for epoch, value in zip((0.0, 50.0), nu, strict=False):
        row = {"panel": "nu", "series": "labels", "epoch": epoch, "eigenvectors": 120}
        rows.append(row | {"nu": value})
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (
            energy({1: (0.0, 0.1), 2: (0.5, 0.9)}),
            "the share of the squared norm of the labels in the first 2 eigenvectors of the path "
            "kernel changes most; it grows from 50 ± 10 % at epoch 0 to 90 ± 10 % at epoch 50",
        ),
        (
            energy({1: (0.5, 0.1)}),
            "first eigenvector alone of the path kernel changes most; it does",
        ),
        (energy({1: (0.5, 0.1)}), "does not grow: from 50 ± 10 %"),
        (energy({1: (0.5, 0.1)}), ", and $\\nu_t$ falls from 9 to 4."),
        (energy({1: (0.5, 0.1)}, nu=(4.0, 9.0)), ", and $\\nu_t$ does not fall: from 4 to 9."),
        (energy({1: (0.5, 0.1)}, nu=(4.0,)), "(± standard deviation over runs)."),
        (energy({1: (0.5, math.nan)}), "There are not two epochs at which the path kernel has"),
    ],
)
def test_the_energy_of_the_labels_names_the_share_that_changes_most(rows, words):
    assert words in extra_energy.result(rows, {})


def numbers(images="CIFAR-10", accuracies=(70.0, 80.0), gain=12.0):
    """Accuracies and a gain, ours and the paper's, which prints a range of the gain."""
    ours = {"source": "ours", "data": images, "standard_deviation": 1.0, "runs": 3}
    paper = {"source": "paper", "data": "CIFAR-10"}
    rows = []
    for name, mean in zip(("a", "b"), accuracies, strict=False):
        rows += [ours | {"what": name, "mean": mean}, paper | {"what": name, "mean": 72.0}]
    title = "gain of ReLU over the CNTK, points"
    rows.append(ours | {"what": title, "mean": gain})
    rows += [paper | {"what": title, "mean": end} for end in (5.0, 6.0)]
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (
            numbers(),
            "On the paper's images (± standard deviation over 3 runs): gain of ReLU over the CNTK: "
            "12.0 ± 1.0 points (paper: 5 to 6); 2 accuracies less the paper's: −2 to 8 points.",
        ),
        (numbers(images="P"), "On other images than the paper's (±"),
        (numbers(accuracies=(70.0,)), "; one accuracy less the paper's: −2 points."),
        (numbers(accuracies=()), "(paper: 5 to 6)."),
        (numbers(accuracies=(), gain=math.nan), "All of our runs diverged."),
    ],
)
def test_numbers_of_the_text_stand_beside_the_paper_s(rows, words):
    assert words in text_numbers.result(rows, {})
