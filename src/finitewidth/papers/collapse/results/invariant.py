"""What Figures 2 to 12 of collapse show: networks close to collapse beside those far from it."""

from typing import NamedTuple

import pandas as pd

from finitewidth.common.number_words import listed, number
from finitewidth.papers.collapse.figures.invariant import KEY, Look
from finitewidth.papers.collapse.figures.looks import INITIALISATIONS, network_of

CLOSE = "collapsed"
FAR = "other"


class Measure(NamedTuple):
    """A measure of both networks at the end of the training."""

    panel: str
    quantity: str
    name: str
    larger: bool  # whether the paper has the larger value close to collapse


ALIGNMENT = Measure("b", "invariant_alignment", "alignment of the invariant", True)
NORM = Measure("a", "e_norm", "norm of the invariant", False)
NC1 = Measure("c", "nc1", "NC1", False)
NC1_RELATIVE = Measure("m", "nc1_ratio", "NC1 (within over between classes)", False)
NC2 = Measure("d", "nc2", "NC2", False)
NC3 = Measure("e", "nc3", "NC3", False)  # part of the rule by which networks are picked
LABELS = Measure(KEY, "alignment_theta_h", "alignment of $\\Theta^h$ with the labels", True)


def result(rows: pd.DataFrame, settings: Look) -> str:
    """Say from which initialisations both networks are found, and how they differ."""
    found = found_networks(rows)
    compared = [init for init in INITIALISATIONS if found.get((init, CLOSE), False)]
    compared = [init for init in compared if found.get((init, FAR), False)]
    lacking = _lacking(found)
    if not compared:
        return (
            f"{network_of(rows)}: no initialisation has both a network close to collapse and one "
            f"far from it by a rule of ours ({lacking}), so that nothing is compared."
        )
    return (
        f"{network_of(rows)}: both a network close to collapse and one far from it are found from "
        f"{_names(compared)}{f' ({lacking})' if lacking else ''}; their test accuracies are at "
        f"most {_images_apart(rows, compared)} images apart. {comparison(rows, compared)}"
    )


def found_networks(rows: pd.DataFrame) -> dict[tuple[str, str], bool]:
    """(Initialisation, model) -> whether a network was picked."""
    legend = rows[(rows["panel"] == KEY) & (rows["quantity"] == "test_accuracy")]
    keys = zip(legend["initialisation"], legend["model"], strict=True)
    return dict(zip(keys, legend["value"].notna(), strict=True))


def comparison(rows: pd.DataFrame, inits: list[str]) -> str:
    """The measures of both networks of some initialisations, and which go against the paper."""
    relative = (rows["panel"] == NC1_RELATIVE.panel).any()
    pairs = []
    signs = []
    reversed_ones = []
    for measure in (ALIGNMENT, NORM, NC1_RELATIVE if relative else NC1, NC2, LABELS):
        values = []
        against = []
        for init in inits:
            close = _at_end(rows, measure, init, CLOSE)
            far = _at_end(rows, measure, init, FAR)
            values.append(_both(close, far))
            if pd.isna(close) or pd.isna(far):
                continue
            agrees = close > far if measure.larger else close < far
            signs.append(agrees)
            if not agrees:
                against.append(init)
        pairs.append(f"{measure.name} {listed(values)}")
        if against:
            short_name, _, _ = measure.name.partition(" (")
            reversed_ones.append(f"{short_name} from {_names(against)}")
    by_rule = []
    for init in inits:
        by_rule.append(_both(_at_end(rows, NC3, init, CLOSE), _at_end(rows, NC3, init, FAR)))
    pairs.append(f"NC3, by the rule, {listed(by_rule)}")
    return f"Close/far: {', '.join(pairs)}{_agreement(signs, reversed_ones)}."


def _agreement(signs: list[bool], reversed_ones: list[str]) -> str:
    """Which differences have the sign of the paper; ``signs`` has one entry for each."""
    if not signs:
        return ""
    agree = f"all but {listed(reversed_ones)} have" if reversed_ones else "all of them have"
    if not any(signs):
        agree = "none but NC3 has"
    return (
        f"; {agree} the sign that the paper describes, of one network each and so without standard "
        "errors"
    )


def _both(close: float, far: float) -> str:
    """Two numbers with two digits, or with three if they read the same otherwise."""
    digits = 2 if number(close, 2) != number(far, 2) else 3
    return f"{number(close, digits)}/{number(far, digits)}"


def _at_end(rows: pd.DataFrame, measure: Measure, init: str, model: str) -> float:
    """A measure of a picked network at the last epoch; nan if there is none."""
    chosen = rows[
        (rows["panel"] == measure.panel)
        & (rows["quantity"] == measure.quantity)
        & (rows["initialisation"] == init)
        & (rows["model"] == model)
    ]
    if chosen.empty:
        return float("nan")
    return float(chosen.sort_values("epoch")["value"].iloc[-1])


def _images_apart(rows: pd.DataFrame, inits: list[str]) -> str:
    """How many test images the accuracies of both networks are apart at most, of how many."""
    images = int(rows["test_images"].iloc[0])
    accuracy = Measure(KEY, "test_accuracy", "", True)
    apart = 0
    for init in inits:
        close = _at_end(rows, accuracy, init, CLOSE)
        far = _at_end(rows, accuracy, init, FAR)
        apart = max(apart, round(abs(close - far) / 100 * images))
    return f"{apart} of {images}"


def _lacking(found: dict[tuple[str, str], bool]) -> str:
    """From which initialisations a network was not found or none was trained, in words."""
    trained = {init for init, _ in found}
    untrained = [init for init in INITIALISATIONS if init not in trained]
    parts = [f"none trained from {_names(untrained)}"] if untrained else []
    for model, words in ((CLOSE, "close"), (FAR, "far")):
        inits = [init for init in INITIALISATIONS if not found.get((init, model), True)]
        if inits:
            parts.append(f"none {words} from {_names(inits)}")
    return ", ".join(parts)


def _names(inits: list[str]) -> str:
    return listed(INITIALISATIONS[init] for init in inits)
