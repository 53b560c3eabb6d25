"""Claims of npf on the CNTK: random gates below it, learnt gates above."""

import math
from typing import TYPE_CHECKING, Any

from finitewidth.claims import samples
from finitewidth.claims.ledger import Tables
from finitewidth.claims.verdicts import CannotDecideError, Part
from finitewidth.papers.npf.judges.accuracy import (
    TITLES,
    accuracies,
    decides_nothing,
    some_trained,
    untrained,
)

if TYPE_CHECKING:
    import pandas as pd

IMAGES = 50_000  # of CIFAR-10, on which the paper's numbers rest
LEFT_OUT = "the paper's conclusion is about learnt gates, but it does not compare DLNPF itself"


def n16(tables: Tables) -> list[Part]:
    """Both kinds of random gates below, FLNPF and ReLU above the CNTK."""
    return _compared(tables, below=("frnpf_ii", "frnpf_di"), above=("flnpf", "relu"))


def n17(tables: Tables) -> list[Part]:
    """Every regime that learns gates above the CNTK; DLNPF is a comparison of ours."""
    return _compared(tables, below=(), above=("dlnpf", "flnpf", "relu"))


def _compared(tables: Tables, below: tuple[str, ...], above: tuple[str, ...]) -> list[Part]:
    """Comparisons on the same images; at the paper's scale also those with the printed 77.43."""
    rows = tables["cntk"]
    sides: dict[str, dict[str, Any]] = {
        regime: {"high" if regime in below else "low": 0}
        | ({"ours": LEFT_OUT} if regime == "dlnpf" else {"paper": True})
        for regime in (*below, *above)
    }
    parts = [_same_images(rows, regime, **side) for regime, side in sides.items()]
    printed = rows[(rows["kind"] == "printed") & (rows["comparable"] == 1)]
    for line in printed["accuracy"]:
        for regime, side in sides.items():
            gaps = accuracies(tables["runs"], "gconv_adam", regime) - line
            name = f"Table 2, GCONV/Adam: {TITLES[regime]} - {line:g}, points"
            why = untrained(tables["runs"], "gconv_adam", regime)
            parts.append(decides_nothing(samples.mean(name, gaps, **side), why))
    return some_trained(parts)


def _same_images(rows: "pd.DataFrame", regime: str, **side: Any) -> Part:
    """The difference on the same images, with errors as if the test images were independent.

    Both accuracies are measured on the same test images, so that this error is too large. The paper
    speaks about all images of CIFAR-10: on fewer a comparison is outside its range.
    """
    kernel = rows[rows["kind"] == "kernel"].sort_values("train").tail(1)
    network = rows[(rows["kind"] == "network") & (rows["regime"] == regime)]
    network = network[network["runs"] > 1]
    if kernel.empty or network.empty:
        raise CannotDecideError(f"{TITLES[regime]} or the CNTK lacks an accuracy with its error")
    ours, theirs = network.iloc[0], kernel.iloc[0]
    error = math.hypot(ours["standard_error"], theirs["standard_error"])
    few = theirs["train"] < IMAGES
    part = Part(
        name=f"{TITLES[regime]} - CNTK on the same {theirs['train']:.0f} images, points",
        value=float(ours["accuracy"] - theirs["accuracy"]), standard_error=error,
        dof=float(ours["dof"] * (error / ours["standard_error"]) ** 4),
        outside=f"{theirs['train']:.0f} images, the paper has all of CIFAR-10" if few else "",
        **side,
    )  # fmt: skip
    if ours["trained"]:
        return part
    lowest = f"{ours['train_accuracy_lowest']:.1f} % in a run"
    return decides_nothing(part, f"{TITLES[regime]} is not trained: {lowest}")
