"""What Figures 1 and 13 to 20 of collapse show: blocks of classes in both kernels of a network."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from finitewidth.common.number_words import listed, number
from finitewidth.papers.collapse.figures.looks import INITIALISATIONS, network_of

NAMES = {"theta": "$\\Theta$", "theta_h": "$\\Theta^h$"}
WHY = {  # why this network is shown
    "printed": "with the initial rate of the paper's caption",
    "collapsed": "the one closest to collapse",
    "best": "the most accurate one, since none is close to collapse by a rule of ours",
}
MANY = 0.01  # share of negative entries that is named
CHANGE = 0.05  # fall of an alignment from its largest value that is named


def result(rows: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    """Compare both kernels within and between classes, and those of one and two outputs."""
    network = (
        f"{network_of(rows)}, {INITIALISATIONS[rows['initialisation'].iloc[0]]} initialisation, "
        f"{WHY[rows['choice'].iloc[0]]}"
    )
    ratios = []
    alignments = []
    larger = []
    for kernel, name in NAMES.items():
        ratio = between_classes(rows, kernel)
        ratios.append(f"{number(ratio, 2)} ({name})")
        alignments.append(_alignment(rows, kernel, name))
        if ratio < 1:
            larger.append(name)
    blocks = f"blocks of classes in {listed(larger)}" if larger else "no blocks of classes"
    return (
        f"{network}: {blocks}; the mean kernel of images of different classes is {listed(ratios)} "
        "of that of images of one class, and the alignment with the labels at the end is "
        f"{listed(alignments)}{_negative(rows)}. {_norms(rows)}"
    )


def between_classes(rows: pd.DataFrame, kernel: str) -> float:
    """Mean entry of a traced kernel for two classes over that for different images of a class."""
    traced = rows[rows["panel"].isin(["a", "b"]) & (rows["kernel"] == kernel)]
    pairs = traced[traced["row"] != traced["column"]]
    same_class = pairs["class_row"] == pairs["class_column"]
    within = pairs.loc[same_class, "share"].mean()
    return float(pairs.loc[~same_class, "share"].mean() / within)


def _alignment(rows: pd.DataFrame, kernel: str, name: str) -> str:
    """The alignment of a kernel at the end, and where it was largest if it fell since."""
    curve = rows[(rows["panel"] == "e") & (rows["kernel"] == kernel)]
    curve = curve.dropna(subset=["alignment"]).sort_values("epoch")
    if curve.empty:
        return f"not known ({name})"
    last = curve["alignment"].iloc[-1]
    best = curve.loc[curve["alignment"].idxmax()]
    if best["alignment"] - last < CHANGE:
        return f"{number(last, 2)} ({name})"
    peak = number(best["alignment"], 2)
    return f"{number(last, 2)} ({name}, down from {peak} at epoch {best['epoch']:.0f})"


def _negative(rows: pd.DataFrame) -> str:
    """How many entries of the traced kernels are negative, drawn darkest, if there are many."""
    parts = []
    for panel, name in zip("ab", NAMES.values(), strict=True):
        entries = rows[rows["panel"] == panel]
        # an entry off the diagonal stands for two
        weights = np.where(entries["row"] == entries["column"], 1, 2)
        share = float(np.average(entries["share"] < 0, weights=weights))
        if share >= MANY:
            parts.append(f"{number(100 * share, 2)} % of the entries of {name}")
    if not parts:
        return ""
    return f"; negative, and drawn darkest: {listed(parts)}"


def _norms(rows: pd.DataFrame) -> str:
    """Median norms of the kernels of two outputs or features over those of one, and dead ones."""
    parts = []
    for panel, unit in (("c", "outputs"), ("d", "features")):
        norms = rows[rows["panel"] == panel]
        diagonal = norms["row"] == norms["column"]
        of_one = norms.loc[diagonal, "share"].median()
        of_two = norms.loc[~diagonal, "share"].median()
        if of_one > 0:
            parts.append(f"{number(of_two / of_one, 2)} for {unit}")
        else:
            parts.append(f"not known for {unit}, most of which are 0")
    features = rows[rows["panel"] == "d"]
    alone = features.loc[features["row"] == features["column"], "share"]
    dead = int((alone == 0).sum())
    crosses = ""
    if dead:
        crosses = f"; {dead} of {len(alone)} features are 0 on all images (black crosses in d)"
    return (
        f"The median norm of the kernel of two, over that of one, is {listed(parts)}{crosses}; it "
        "is one network, so that these numbers have no standard errors."
    )
