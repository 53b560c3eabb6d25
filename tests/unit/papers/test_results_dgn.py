"""What the figures and tables of dgn show, as sentences: both outcomes of each of them."""

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from finitewidth.figures.by_depth import DESCENT
from finitewidth.papers.dgn.results import (
    extra_identities,
    fig1,
    fig2,
    fig3,
    fig4,
    fig5,
    fig6,
    fig7,
    fig8,
    fig10,
    table4,
    text_numbers,
    words,
)

TRAINED = {"trained": 0.95}


def test_numbers_and_counts_in_words():
    assert words.plainly(3823.2) == "3,820"
    assert words.plainly(-586.1, 2) == "−590"
    assert words.plainly(math.nan) == "–"
    assert words.spread_of_runs(1) == "1 run"
    assert words.between(pd.Series([2.0, 2.0])) == "2"
    assert words.between(pd.Series([2.0, 3.0])) == "2 to 3"
    assert (words.share(2, 2), words.share(1, 2)) == ("all 2", "1 of 2")


def gated_spectra(wide, narrow):
    """Sums of two eigenvalues of one depth; the expected ones are 1 and 2."""
    rows = []
    networks = {"ideal": (1.0, 2.0), "wide": wide, "narrow": narrow}
    for network, sums in networks.items():
        for index, value in enumerate(sums, 1):
            rows.append(
                {
                    "network": network,
                    "width": {"ideal": math.nan, "wide": 500.0, "narrow": 25.0}[network],
                    "depth": 4,
                    "index": index,
                    "sum": value,
                    "runs": 5,
                    "diverged": 0,
                }
            )
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("wide", "narrow", "said"),
    [
        ((1.1, 2.1), (1.5, 2.5), "at width 500 than at width 25 at all 1 depths: off by 0.1"),
        ((1.5, 2.5), (1.1, 2.1), "at 0 of 1 depths (not at 4): off by 0.5 on average"),
        ((1.1, 2.1), (1.5, 2.5), "mean traces at width 25 are themselves 2.5 (5 runs)."),
        ((), (1.5, 2.5), "no two spectra to compare"),
    ],
)
def test_figure_1_compares_the_widths(wide, narrow, said):
    assert said in fig1.result(gated_spectra(wide, narrow), {})


def entries(distance, error):
    rows = []
    for entry, expected in (("diagonal", 1.0), ("off_diagonal", 0.5)):
        for depth, shift in ((2, 0.0), (4, distance)):
            rows.append(
                {
                    "entry": entry,
                    "width": 500,
                    "depth": depth,
                    "mean": expected + shift,
                    "standard_error": error,
                    "ideal": expected,
                    "runs": 20,
                }
            )
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("distance", "error", "said"),
    [
        (0.1, 0.1, "at most 0.1 (depth 4; standard error 0.1) away from 1"),
        (0.1, 0.1, "all 4 means of 20 runs are within 2 standard errors"),
        (0.3, 0.1, "2 of 4 means of 20 runs are within 2 standard errors"),
        (0.3, math.nan, "a single run has no standard error."),
    ],
)
def test_figure_2_names_the_largest_distances(distance, error, said):
    assert said in fig2.result(entries(distance, error), {})


def test_figure_2_without_networks():
    assert fig2.result(entries(0.1, 0.1).iloc[:0], {}).startswith("All networks diverged")


def descents(ratios, spread, width=25, network="narrow", runs=5):
    """Errors of several depths, with the ends of the runs."""
    rows = []
    for depth, ratio in zip((2, 4, 6), ratios, strict=False):
        for step, value in ((1, 1.0), (100, ratio)):
            rows.append(
                {
                    "panel": "errors",
                    "network": network,
                    "width": width,
                    "depth": depth,
                    "dynamics": DESCENT,
                    "step": step,
                    "error_ratio": value,
                    "least": value - spread,
                    "greatest": value + spread,
                    "runs": runs,
                    "diverged": 0,
                }
            )
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("ratios", "spread", "said"),
    [
        ((0.9, 0.5, 0.3), 0.0, "lowest at depth 6 at width 25 (0.3; 5 runs)"),
        ((0.9, 0.5, 0.3), 0.0, "best at the largest depth, as the paper observes."),
        ((0.9, 0.3, 0.5), 0.05, "(0.3, but 0.5 at depth 6; ranges of 5 runs apart)"),
        ((0.9, 0.3, 0.5), 0.2, "(0.3, but 0.5 at depth 6; ranges of 5 runs overlap)"),
        ((0.9, 0.3, 0.5), 0.0, "here it does not beyond depth 4 at width 25."),
        ((0.9,), 0.0, "lowest at depth 2 at width 25 (0.9; 5 runs)"),
        ((), 0.0, "no convergence is seen"),
    ],
)
def test_figure_3_names_the_best_depth(ratios, spread, said):
    rows = descents(ratios, spread)
    rows = rows if len(rows) else pd.DataFrame(columns=descents((1.0,), 0.0).columns)
    assert said in fig3.result(rows, {})


def test_figure_3_compares_both_widths_at_a_step_that_both_have():
    wide = descents((0.9, 0.2, 0.1), 0.0, 500, "wide", 2)
    narrow = descents((0.9, 0.1, 0.2), 0.0)
    longer = narrow[narrow["step"] == 100].assign(step=1000, error_ratio=0.0)
    said = fig3.result(pd.concat([narrow, longer, wide]), {})
    assert said.startswith("After 100 steps")
    assert "here it does not beyond depth 4 at width 25." in said


def galu_and_relu(errors, traces):
    """Errors and traces of GaLU at three depths; those of ReLU are 0.5 and 2."""
    parts = []
    for network, of_network, sums in (("galu", errors, traces), ("relu", [0.5] * 3, [2.0] * 3)):
        parts.append(descents(of_network, 0.1, network=network))
        for depth, value in zip((2, 4, 6), sums, strict=False):
            spectrum = {"panel": "spectrum", "network": network, "depth": depth, "sum": value}
            parts.append(pd.DataFrame([spectrum]))
    return pd.concat(parts, ignore_index=True)


@pytest.mark.parametrize(
    ("errors", "traces", "said"),
    [
        ((0.9, 0.4, 0.1), (1, 3, 4), "falls with every depth, from 0.9 at depth 2 to 0.1"),
        ((0.9, 0.4, 0.1), (1, 3, 4), "below that of ReLU networks at 2 of 3 depths."),
        ((0.9, 0.1, 0.4), (1, 3, 4), "to 0.4 at depth 6, though not from 4 to 6;"),
        ((0.1, 0.4, 0.9), (1, 3, 4), "does not get better with depth: it goes from 0.1"),
        ((0.9, 0.4, 0.1), (3, 4, 5), "above that of ReLU networks at all 3 depths (means of 5"),
        ((0.9,), (3,), "is 0.9 at the only depth, 2;"),
        ((), (3, 4, 5), "GaLU and ReLU cannot be compared"),
    ],
)
def test_figure_4_compares_depths_and_networks(errors, traces, said):
    assert said in fig4.result(galu_and_relu(errors, traces), {})


def accuracies(galu, relu):
    """Three panels with the same train accuracies, and test accuracies, of three epochs."""
    rows = []
    for panel, (series, values) in itertools.product(
        ("mnist", "labels", "pixels", "test"), (("GaLU", galu), ("ReLU", relu))
    ):
        for epoch, value in enumerate(values, 1):
            rows.append(
                {
                    "panel": panel,
                    "series": series,
                    "source": "ours",
                    "epoch": float(epoch),
                    "accuracy": value,
                    "standard_deviation": 0.01,
                    "runs": 3,
                    "trained": 1.0,
                }
            )
    for series, value in (("GaLU", 0.965), ("ReLU", 0.985)):
        rows.append(
            {
                "panel": "test",
                "series": series,
                "source": "paper",
                "accuracy": value,
                "standard_deviation": math.nan,
                "runs": 0,
            }
        )
    return pd.DataFrame(rows)


PIXELS = SimpleNamespace(pixels="random_pixels", trained=0.95)


@pytest.mark.parametrize(
    ("galu", "relu", "said"),
    [
        ((0.5, 1.0, 1.0), (0.5, 0.6, 1.0), "at epochs 2, 2 and 2 with GaLU and at epochs 3, 3"),
        ((0.5, 0.6, 0.7), (0.5, 0.6, 1.0), "reaches 99 % on none with GaLU"),
        ((0.5, 0.6, 0.7), (0.5, 0.6, 1.0), "70.0 ± 1.0 % with GaLU and 100.0 ± 1.0 % with ReLU"),
        ((1.0,), (1.0,), "the paper has 96.5 % with GaLU and 98.5 % with ReLU on MNIST."),
    ],
)
def test_figure_5_says_when_images_are_learnt(galu, relu, said):
    assert said in fig5.result(accuracies(galu, relu), PIXELS)


def test_figure_5_names_the_panel_that_is_never_learnt():
    rows = accuracies((1.0, 1.0), (1.0, 1.0))
    rows.loc[(rows["panel"] == "labels") & (rows["series"] == "ReLU"), "accuracy"] = 0.8
    assert "at epochs 1, never and 1 with ReLU" in fig5.result(rows, PIXELS)
    assert "trained" not in fig5.result(rows, PIXELS)
    rows.loc[(rows["panel"] == "labels") & (rows["series"] == "ReLU"), "trained"] = 0.0
    assert fig5.result(rows, PIXELS).endswith("our threshold): ReLU on random labels.")
    assert "All runs diverged" in fig5.result(rows[rows["source"] == "paper"], PIXELS)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (
            (3000.0, 2500.0, 2000.0),
            "falls from 3000 ± 100 to 2000 ± 100 after 2 epochs (± standard ",
        ),
        (
            (3000.0, 1500.0, 2000.0),
            "with the least, 1,500, at epoch 1 (± standard deviation of 5 runs).",
        ),
        ((2000.0, 1500.0, 3000.0), "does not fall: it goes from 2000 ± 100"),
        ((2000.0,), "does not fall: it goes from 2000 ± 100 to 2000 ± 100 after 0 epochs"),
        ((math.nan,), "No run has a value"),
    ],
)
def test_figure_6_says_whether_nu_falls(values, said):
    epochs = np.arange(len(values), dtype=float)
    rows = pd.DataFrame({"epoch": epochs, "nu": values, "standard_deviation": 100.0, "runs": 5.0})
    assert said in fig6.result(rows, {})


def losses(frozen, others, trained=1.0):
    """Errors on test images of all networks; those with frozen gates have one error."""
    rows = []
    for panel, (fixed, better) in fig7.BETTER.items():
        for name in (fixed, *better):
            rows.append(
                {
                    "panel": panel,
                    "series": name,
                    "split": "test",
                    "epoch": 40,
                    "squared_error": frozen if name == fixed else others,
                    "standard_deviation": 0.01,
                    "test_accuracy": 0.98 if name == fixed else 1.0,
                    "test_images": 144.0,
                    "runs": 5,
                    "trained": trained,
                }
            )
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("frozen", "others", "trained", "said"),
    [
        (0.2, 0.1, 1.0, "smaller with gates that adapt or were learnt in 5 of 5 pairs"),
        (0.2, 0.1, 1.0, "unlearnt gates 0.200 ± 0.010, learnt gates 0.100 ± 0.010;"),
        (0.2, 0.1, 1.0, "Of 144 test images 98.0 to 100.0 % are classified rightly."),
        (0.1, 0.2, 1.0, "in 0 of 5 pairs, in the paper in all"),
        (
            0.2,
            0.1,
            0.0,
            "Not trained (train accuracy below 95 % in some run, our threshold): all networks.",
        ),
    ],
)
def test_figure_7_counts_the_pairs(frozen, others, trained, said):
    assert said in fig7.result(losses(frozen, others, trained), TRAINED)


def test_figure_7_leaves_out_networks_that_diverged():
    rows = losses(0.2, 0.1)
    assert "in 3 of 3 pairs" in fig7.result(rows[rows["panel"] == "test"], TRAINED)
    assert "Networks diverged" in fig7.result(rows[rows["series"] == "GaLU"], TRAINED)
    rows.loc[rows["series"] == "GaLU", "trained"] = 0.0
    assert fig7.result(rows, TRAINED).endswith("in some run, our threshold): GaLU.")


def energies(learnt, start=5.0):
    """Energies of all kernels at three epochs; those of the bounds are 2."""
    rows = []
    for panel, (series, bound, _) in fig8.PAIRS.items():
        curves = {series: learnt}
        if bound == fig8.START:
            rows.append({"panel": panel, "series": bound, "nu": start, "trained": 0.0})
        else:
            curves[bound] = (9.0, 2.0, 2.0)
        for (name, values), epoch in itertools.product(curves.items(), (0, 1, 2)):
            if epoch < len(values):
                row = {"epoch": float(epoch), "nu": values[epoch], "trained": 1.0}
                rows.append({"panel": panel, "series": name} | row)
    return pd.DataFrame(rows).assign(runs=5)


@pytest.mark.parametrize(
    ("learnt", "start", "said"),
    [
        ((9.0, 1.0, 1.5), 5.0, "with learnt than with unlearnt gates at all 2 (at the last 1.5 "),
        (
            (9.0, 3.0, 1.5),
            5.0,
            "with ReLU than with frozen ReLU at 1 of 2 (at the last 1.5 against",
        ),
        ((9.0, 1.0, 1.5), 1.0, "of the gating weights than at the start at 0 of 2"),
        ((9.0,), 5.0, "No kernel of these networks has a value"),
        ((9.0, math.nan, math.nan), 5.0, "No kernel of these networks has a value"),
    ],
)
def test_figure_8_counts_epochs_below_the_bounds(learnt, start, said):
    sentence = fig8.result(energies(learnt, start), TRAINED)
    assert said in sentence
    assert "trained" not in sentence


def linear_networks(ratios, growths=(1.4, 3.0)):
    """Errors that fall by a ratio in each of ten steps, at two depths, and 0.5 for the ideal."""
    rows = []
    for (depth, ratio), step in itertools.product(zip((2.0, 4.0), ratios, strict=True), range(11)):
        rows.append(("error", DESCENT, "ours", depth, step, ratio**step))
    for step in range(11):
        rows.append(("error", "ideal", "ours", math.nan, step, 0.5**step))
    for depth, growth in zip((2.0, 4.0), growths, strict=True):
        rows.append(("kernel", DESCENT, "ours", depth, 10, growth))
    rows.append(("error", "ideal", "paper", math.nan, 1, 0.81))
    names = ["quantity", "dynamics", "source", "depth", "step", "value"]
    return pd.DataFrame(rows, columns=names).assign(runs=5)


@pytest.mark.parametrize(
    ("ratios", "said"),
    [
        ((0.4, 0.3), "first step leaves 0.3 to 0.4 of the squared error (paper: 0.81)"),
        ((0.4, 0.3), "kernel ends at 1.4 to 3 times what it was (means of 5 runs)"),
        ((0.4, 0.3), "after 6 steps at depth 2 and 4 at depth 4"),
        ((0.4, 0.3), "that stays $d$ (7 steps) at all 2 depths"),
        ((0.6, 0.3), "that stays $d$ (7 steps) at 1 of 2 depths"),
        ((0.9, 0.3), "After 10 steps 5.9·10⁻⁶ to 0.349 of the error is left."),
    ],
)
def test_figure_10_compares_depths(ratios, said):
    assert said in fig10.result(linear_networks(ratios), {})


def test_figure_10_without_runs():
    rows = linear_networks((0.4, 0.3))
    assert "All runs diverged" in fig10.result(rows[rows["dynamics"] != DESCENT], {})


def sweep(soft, relu=0.6):
    """Test accuracies of ReLU and of soft-ReLU networks of one eps, by beta, ours and printed."""
    rows = []
    networks = [("linear", math.nan, 0.3), ("relu", math.nan, relu)]
    networks += [("soft_relu", beta, mean) for beta, mean in soft.items()]
    for (network, beta, mean), source in itertools.product(networks, ("ours", "paper")):
        about = {
            "network": network,
            "eps": 0.1 if network == "soft_relu" else math.nan,
            "beta": beta,
            "data": "patches" if source == "ours" else "CIFAR-10",
            "source": source,
            "standard_deviation": 0.02 if source == "ours" else math.nan,
            "runs": 3.0,
        }
        ours = source == "ours"
        test_mean = mean if ours else 0.7
        rows.append(about | {"split": "test", "epoch": "best_test", "mean": test_mean})
        if ours:
            rows.append(about | {"split": "train", "epoch": "best_train", "mean": mean + 0.2})
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("soft", "said"),
    [
        (
            {1: 0.5, 8: 0.7},
            "On patches, 1 of 2 soft-ReLU networks have a higher mean test accuracy than",
        ),
        ({1: 0.5, 8: 0.7}, "(0.600 ± 0.020, best epochs, ± standard deviation of 3 runs), in"),
        ({1: 0.5, 8: 0.7}, r"from 0.5 at $\beta$ = 1 to 0.7 at 8 (the highest; paper: 0.7, 0.7)"),
        ({1: 0.5, 4: 0.8, 8: 0.7}, "to 0.7 at 8 (highest at 4, 0.8; paper"),
        ({1: 0.5}, r"it is 0.5 at the only $\beta$, 1."),
        (
            {1: 0.5, 8: 0.7},
            "deep linear network fits 0.5 of its training images, the others 0.7 to",
        ),
        ({}, "ReLU and soft-ReLU cannot be compared"),
    ],
)
def test_table_4_ranks_relu(soft, said):
    assert said in table4.result(sweep(soft), {})


def test_table_4_without_the_linear_network_or_printed_numbers():
    rows = sweep({1: 0.5, 8: 0.7})
    rows = rows[(rows["network"] != "linear") & (rows["source"] == "ours")]
    said = table4.result(rows, {})
    assert "in the paper none;" in said
    assert said.endswith("(the highest). Train accuracies are 0.7 to 0.9.")


def identities(means, error=0.1):
    rows = []
    for depth, mean in zip((2, 4), means, strict=True):
        about = {"place": "Lemma 2.4", "quantity": "mean kernel", "depth": depth}
        ours = {"source": "ours", "mean": mean, "standard_error": error, "draws": 500.0}
        paper = {"source": "paper", "mean": float(depth)}
        rows += [about | ours, about | paper]
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("means", "error", "said"),
    [
        ((2.0, 4.1), 0.1, "All 2 drawn means are within 3 standard errors"),
        ((2.0, 4.1), 0.1, "4.10 ± 0.10 instead of 4 (mean kernel, depth 4, 500 draws)"),
        ((2.0, 4.5), 0.1, "1 of 2 drawn means are within 3 standard errors"),
        ((2.0, 4.0), 0.0, "All 2 drawn means are within 3 standard errors"),
    ],
)
def test_the_table_of_identities_names_the_farthest_mean(means, error, said):
    assert said in extra_identities.result(identities(means, error), {})


@pytest.mark.parametrize(
    ("mean", "trained", "said"),
    [
        (
            54.0,
            1.0,
            "Ours (± standard deviation over runs), on digits, and the paper's numbers, in "
            "percent: 54.0 ± 1.0 and 56 (gates only).",
        ),
        (54.0, 0.0, "Of ours, 1 of 1 are of networks not trained."),
        (math.nan, 0.0, "– and 56 (gates only)"),
    ],
)
def test_the_numbers_of_the_text_stand_beside_the_printed_ones(mean, trained, said):
    about = {"what": "gates only", "data": "digits"}
    ours = {"source": "ours", "mean": mean, "standard_deviation": 1.0, "trained": trained}
    rows = pd.DataFrame([about | ours, about | {"source": "paper", "mean": 56.0}])
    assert said in text_numbers.result(rows, {})
