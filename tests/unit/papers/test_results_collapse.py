"""What the figures and the table of collapse show, in a sentence: every branch of its rule."""

import math

import pandas as pd
import pytest

from finitewidth.papers.collapse.figures.decay import Look as LookOfDecay
from finitewidth.papers.collapse.figures.invariant import Look
from finitewidth.papers.collapse.results import blocks, decay, flow, invariant, length, table1
from finitewidth.settings.typed import section_from

LOOK = section_from(Look, {"artifact": "collapse_fig3", "ends": True})
LOOK_OF_DECAY = section_from(LookOfDecay, {"artifact": "collapse_extra_decay", "datasets": {}})
# alignment, norm, NC1, NC2, alignment with the labels, NC3
GOOD = (0.9, 1.0, 0.01, 0.1, 0.8, 0.2)
ACCURACY = {"collapsed": 97.9, "other": 97.5}
POOR = (0.5, 2.0, 0.02, 0.3, 0.6, 0.7)


def picked(models, relative=True):
    """Rows of picked networks from (initialisation, model) -> measures; None: none is found."""
    quantities = ["invariant_alignment", "e_norm", "nc1", "nc2", "alignment_theta_h", "nc3"]
    panels = ["b", "a", "c", "d", "legend", "e"]
    if relative:
        quantities[2] = "nc1_ratio"
        panels[2] = "m"
    rows = []
    for (init, model), values in models.items():
        network = {"initialisation": init, "model": model}
        accuracy = math.nan if values is None else ACCURACY[model]
        rows.append({**network, "panel": "legend", "quantity": "test_accuracy", "value": accuracy})
        for panel, quantity, value in zip(panels, quantities, values or (), strict=False):
            row = {**network, "panel": panel, "quantity": quantity, "value": value}
            if panel == "legend":
                rows.append(row)
            else:  # the first epoch does not count
                rows += [{**row, "epoch": 1, "value": 99.0}, {**row, "epoch": 2}]
    table = pd.DataFrame(
        rows, columns=["initialisation", "model", "panel", "quantity", "epoch", "value"]
    )
    return table.assign(network="VGG6", pixels=8.0, test_images=500.0)


def pair(init, close, far):
    return {(init, "collapsed"): close, (init, "other"): far}


def test_close_and_far_are_compared_where_both_are_found():
    models = pair("lecun", GOOD, POOR) | pair("torch", None, POOR) | pair("he", GOOD, POOR)
    words = invariant.result(picked(models), LOOK)
    assert words.startswith(
        "VGG6 on images of 8×8 pixels: both a network close to collapse and one far from it are "
        "found from LeCun and He (none close from PyTorch); their test accuracies are at most 2 of "
        "500 images apart. Close/far: alignment of the invariant 0.9/0.5 and 0.9/0.5, norm of the "
        "invariant 1/2 and 1/2, NC1 (within over between classes) 0.01/0.02 and 0.01/0.02, "
    )
    assert "NC3, by the rule, 0.2/0.7 and 0.2/0.7; " in words
    assert "; all of them have the sign that the paper describes, of one network each" in words


def test_differences_against_the_paper_are_named():
    reversed_one = (0.9, 1.0, 0.03, 0.301, 0.8, 0.2)
    models = pair("lecun", reversed_one, POOR) | pair("he", GOOD, POOR)
    words = invariant.result(picked(models), LOOK)
    assert "; all but NC1 from LeCun and NC2 from LeCun have the sign" in words
    assert "NC2 0.301/0.3 and 0.1/0.3" in words
    assert "found from LeCun and He (none trained from PyTorch)" in words


def test_it_is_said_if_all_differences_are_against_the_paper():
    words = invariant.result(picked(pair("he", POOR, GOOD)), LOOK)
    assert "; none but NC3 has the sign that the paper describes" in words


def test_the_nc1_of_the_paper_stands_in_where_the_ratio_is_not_drawn():
    words = invariant.result(picked(pair("lecun", GOOD, POOR), relative=False), LOOK)
    assert "NC1 0.01/0.02" in words


def test_missing_measures_are_not_compared():
    nothing = (math.nan,) * 6
    words = invariant.result(picked(pair("he", nothing, nothing)), LOOK)
    assert "alignment of the invariant –/–" in words
    assert "the paper describes" not in words


@pytest.mark.parametrize(
    ("close", "far", "words"),
    [
        (None, POOR, "none close from LeCun), so that nothing is compared."),
        (GOOD, None, "none far from LeCun), so that nothing is compared."),
        (None, None, "none close from LeCun, none far from LeCun), so that"),
    ],
)
def test_without_both_networks_nothing_is_compared(close, far, words):
    assert words in invariant.result(picked(pair("lecun", close, far)), LOOK)


def maps(off=0.2, alignments=(0.3, 0.8), feature=1.0, choice="collapsed"):
    """Maps of two images of each of two classes, of two outputs and of two features."""
    rows = []
    for panel, kernel in (("a", "theta"), ("b", "theta_h")):
        for row in range(4):
            for column in range(row, 4):
                classes = {"class_row": row // 2, "class_column": column // 2}
                share = 1.0 if row // 2 == column // 2 else off
                entry = {"panel": panel, "kernel": kernel, "row": row, "column": column}
                rows.append({**entry, **classes, "share": share})
        for epoch, value in enumerate(alignments):
            rows.append({"panel": "e", "kernel": kernel, "epoch": epoch, "alignment": value})
    for panel, of_one in (("c", 1.0), ("d", feature)):
        for row, column, share in ((0, 0, of_one), (0, 1, of_one / 4), (1, 1, of_one)):
            rows.append({"panel": panel, "row": row, "column": column, "share": share})
    facts = {"initialisation": "torch", "choice": choice, "network": "VGG6", "pixels": 8.0}
    return pd.DataFrame(rows).assign(**facts)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {},
            "VGG6 on images of 8×8 pixels, PyTorch initialisation, the one closest to collapse: "
            "blocks of classes in $\\Theta$ and $\\Theta^h$; the mean kernel of images of "
            "different classes is 0.2 ($\\Theta$) and 0.2 ($\\Theta^h$) of that of images of one "
            "class, and the alignment with the labels at the end is 0.8 ($\\Theta$) and 0.8 "
            "($\\Theta^h$). The median norm of the kernel of two, over that of one, is 0.25 "
            "for outputs and 0.25 for features; it is one network",
        ),
        ({"off": 1.0}, ": no blocks of classes;"),
        ({"off": -0.5}, "; negative, and drawn darkest: 50 % of the entries of $\\Theta$ and 50 %"),
        ({"alignments": (0.8, 0.5)}, "0.5 ($\\Theta$, down from 0.8 at epoch 0)"),
        ({"alignments": (math.nan, math.nan)}, "is not known ($\\Theta$) and"),
        ({"feature": 0.0}, "not known for features, most of which are 0; 2 of 2 features are 0"),
        ({"choice": "printed"}, "with the initial rate of the paper's caption"),
        ({"choice": "best"}, "since none is close to collapse by a rule of ours"),
    ],
)
def test_blocks_are_compared_within_and_between_classes(changes, words):
    assert words in blocks.result(maps(**changes), {})


def weight_decay(ranks, cells=((1.0, 0.3, math.nan),), fits=()):
    rows = []
    for sweep, against, value, low, high, same in ranks:
        row = {"panel": "rank", "sweep": sweep, "quantity": against, "value": value}
        rows.append({**row, "low": low, "high": high, "same": same, "seeds": 3.0})
    for tau, overlap, imbalance in cells:
        rows.append({"panel": "cell", "tau": tau, "overlap": overlap, "imbalance": imbalance})
    for quantity, value in (("overlap", 0.3), ("imbalance", 0.1)):
        rows.append({"panel": "decay_alone", "quantity": quantity, "tau": 1.0, "value": value})
    for form, misfit in fits:
        row = {"panel": "fit", "sweep": "with_normalisation", "quantity": form}
        rows.append({**row, "misfit": misfit})
    numbers = ["value", "low", "high", "same", "seeds", "tau", "overlap", "imbalance", "misfit"]
    return pd.DataFrame(rows).reindex(columns=["panel", "sweep", "quantity", *numbers])


BOTH = "with_normalisation"


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (
            {
                "ranks": [
                    (BOTH, "tau", -0.9, -0.95, -0.85, 0),
                    (BOTH, "rates", -0.2, math.nan, math.nan, 1),
                    ("patches", "tau", -0.8, math.nan, math.nan, 0),
                ],
                "fits": [("power", 0.165), ("exponential", 0.169)],
            },
            "NC3 of networks with batch normalisation has a rank correlation of −0.9 (−0.95 to "
            "−0.85, 3 seeds) with $\\tau$, −0.2 (3 seeds, all the same) with the sum of rates and "
            "no known value with the weight decay; on other images it is −0.8 (3 seeds) with "
            "$\\tau$; its logarithm is fitted by a power of $\\tau$ to within 0.17 and an "
            "exponential of $\\tau$ to within 0.17. The last layer's overlap with its start is 1 "
            "times the $e^{-\\tau}$ that weight decay alone leaves; the imbalance of the last two "
            "layers is not known.",
        ),
        (
            {"ranks": [], "cells": [(1.0, 0.15, 0.1), (1.0, 0.6, 0.1), (2.0, 9.0, 9.0)]},
            "is 0.5 to 2 times the $e^{-\\tau}$",
        ),
        ({"ranks": [], "cells": []}, "overlap with its start is not known"),
    ],
)
def test_nc3_and_the_weight_decay(table, words):
    assert words in decay.result(weight_decay(**table), LOOK_OF_DECAY)


def spreads(rows):
    names = ["tau", "across", "factor", "low", "high"]
    return pd.DataFrame(rows, columns=names).assign(panel="spread", seeds=3.0)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (
            [
                (1.8, "decay", 0.97, 0.8, 1.2),
                (1.8, "decay", 1.01, 0.9, 1.1),
                (3.0, "decay", 9.0, 8.0, 10.0),
                (5.4, "decay", 1.94, 1.6, 2.3),
                (5.4, "epochs", 0.9, 0.85, 0.95),
            ],
            "at $\\tau$ = 1.8 by factors of 0.97 to 1.01 between the weight decays (95 % intervals "
            "without 1: 0 of 2); at $\\tau$ = 5.4 by a factor of 1.94 between the weight decays "
            "(95 % intervals without 1: 1 of 1) and by a factor of 0.9 between the lengths of "
            "training (95 % intervals without 1: 1 of 1)",
        ),
        ([(1.8, "decay", 2.0, math.nan, math.nan)], "by a factor of 2 between the weight decays"),
        ([(1.8, "decay", math.nan, math.nan, math.nan)], "NC3 cannot be compared"),
    ],
)
def test_nc3_at_equal_tau(rows, words):
    assert words in length.result(spreads(rows), {})


def flows(bound):
    rows = []
    for start, nc3, h2 in (
        ("zero_invariant", 0.03, 0.01),
        ("random_weights", 0.5, 1.0),
        ("positive_invariant", 1.0, 0.02),
    ):
        for run in (0.0, 1.0):
            flow_row = {"series": "flow", "start": start, "run": run, "time": 200.0}
            rows.append({**flow_row, "quantity": "nc3", "value": nc3 + run})
            rows.append({**flow_row, "quantity": "h2", "value": h2})
            rows.append({**flow_row, "quantity": "h2", "time": 1.0, "value": 9.0})
    if bound:
        row = {"series": "bound", "start": "positive_invariant", "quantity": "h2", "run": 0.0}
        rows.append({**row, "time": 200.0, "value": 0.04})
    for quantity in ("gamma", "theta"):
        for series, value in (("end", 0.1), ("corrected", 0.101), ("printed", 0.4)):
            row = {"series": series, "quantity": quantity, "kappa_n": 0.01, "beta": 0.0}
            rows.append({**row, "value": value})
    columns = ["weight_scale", "run", "time", "kappa_n", "beta", "value"]
    return pd.DataFrame(rows).reindex(columns=["series", "start", "quantity", *columns])


@pytest.mark.parametrize(
    ("bound", "words"),
    [
        (
            True,
            "from a vanishing invariant NC3 is 0.03 to 1 and the variation within classes $\\Vert "
            "H_2 \\Vert$ 0.01 at time 200, on the way to 0 (Theorem 5.2); from random weights NC3 "
            "is 0.5 to 1.5 then; from a positive semidefinite invariant the variation is at most "
            "0.5 of our bound. Flows with fixed equal biases end near the corrected formulas: "
            "$\\gamma$ within 0.001 (as printed: 0.3) and $\\theta$ within 0.001 (as printed: 0.3)",
        ),
        (False, "is 0.5 to 1.5 then. Flows with fixed"),
    ],
)
def test_flows_end_near_the_corrected_formulas(bound, words):
    assert words in flow.result(flows(bound), {})


@pytest.mark.parametrize(
    ("residual", "words"),
    [
        (
            0.0,
            "of the 6, 3 and 1 printed vectors 3, 2 and 1 are independent, as the printed",
        ),
        (0.5, "fails for the component class (largest $|K v - \\lambda v|$: 0.5)"),
    ],
)
def test_the_decomposition_is_exact_or_not(residual, words):
    rows = pd.DataFrame(
        {
            "component": ["single", "class", "global"],
            "classes": 3,
            "samples": 2,
            "vectors": [6, 3, 1],
            "rank": [3, 2, 1],
            "residual": [0.0, residual, 0.0],
            "small_classes": 2,
            "small_samples": 2,
            "power": [2, 1, 1],
        }
    )
    assert words in table1.result(rows, {})
