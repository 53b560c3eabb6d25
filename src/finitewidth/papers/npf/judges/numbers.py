"""Our counterparts of the numbers that npf and npf0 print in Figure 3, left, and in their text."""

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from finitewidth.claims.ledger import Tables
from finitewidth.claims.reported import Ours
from finitewidth.claims.samples import mean_of
from finitewidth.claims.verdicts import CannotDecideError
from finitewidth.papers.npf.judges.accuracy import (
    RANDOM,
    ROWS,
    accuracies,
    at_stage,
    untrained,
    untrained_stages,
)

if TYPE_CHECKING:
    import pandas as pd

GCONV = ("gconv_sgd", "gconv_adam")
# the parts of the tables on which single numbers rest; see `finitewidth.claims.reported.Numbers`
ADAM, STAGES, BOTH = "gconv_adam", "stages", " ".join(GCONV)
LEARNT = ("dlnpf", "flnpf", "relu")


def fig3_numbers(tables: Tables) -> list[Ours]:
    """Accuracy at every stage and of the horizontal lines beside the curve, percent."""
    runs, stages = tables["runs"], tables["stages"]
    return [
        *(one for stage in sorted(stages["stage"].dropna().unique())
          for one in _ours(STAGES, f"stage{stage:.0f}", "flnpf", at_stage, stages, stage)),
        *_ours(ADAM, "reference", "relu", accuracies, runs, ADAM, "relu"),
        *_ours(STAGES, "reference", "frnpf", at_stage, stages, 0),
    ]  # fmt: skip


def text_numbers(tables: Tables) -> list[Ours]:
    """Accuracies in the text of both versions, percent; each version prints some of them.

    For the accuracy of random gates on CIFAR-10 the text names no network. We take the mean of
    GCONV over both kinds of random gates and both optimisers.
    """
    runs, stages = tables["runs"], tables["stages"]
    adam = accuracies, runs, ADAM
    return [
        *_ours(ADAM, "gconv_adam", "frnpf", *adam, "frnpf_ii"),
        *_ours(STAGES, "stage0", "frnpf", at_stage, stages, 0),
        *_ours(STAGES, "stage1", "flnpf", at_stage, stages, 1),
        *_ours(STAGES, "stage6", "flnpf", at_stage, stages, 6),
        *_mean_of(BOTH, "cifar10", "frnpf", runs, product(GCONV, RANDOM)),
        *_ours(ADAM, "gconv", "relu", *adam, "relu"),
        *_ours(ADAM, "fully_trained", "relu", *adam, "relu"),
        *_ours(ADAM, "fully_trained", "flnpf", *adam, "flnpf"),
    ]


def gain_numbers(tables: Tables) -> list[Ours]:
    """The smallest gain of learnt over random gates on GCONV with Adam, points."""
    adam = accuracies, tables["runs"], ADAM
    random = _ours(ADAM, "", "", *adam, "frnpf_ii")
    learnt = [one for regime in LEARNT for one in _ours(ADAM, "", "", *adam, regime)]
    if not random or len(learnt) < len(LEARNT):
        return []
    least = min(learnt, key=lambda ours: ours.value)
    return [
        Ours(
            row="npf_learning", column="over_frnpf", value=least.value - random[0].value,
            standard_error=math.hypot(least.standard_error, random[0].standard_error),
            runs=least.runs, part=ADAM, untrained=_first(random[0], *learnt),
        )
    ]  # fmt: skip


def cntk_gain_numbers(tables: Tables) -> list[Ours]:
    """`gain_numbers`, and the gain of ReLU over the CNTK on the same images, points.

    Our one gain is compared with both ends of the printed range.
    """
    rows = tables["cntk"]
    relu = rows[(rows["kind"] == "network") & (rows["regime"] == "relu")]
    kernel = rows[rows["kind"] == "kernel"].sort_values("train")
    if relu.empty or kernel.empty:
        return gain_numbers(tables)
    network, kernel = relu.iloc[0], kernel.iloc[-1]
    lowest = f"ReLU is not trained: {network['train_accuracy_lowest']:.1f} % in a run"
    gain = {
        "untrained": "" if network["trained"] == 1 else lowest,
        "value": float(network["accuracy"] - kernel["accuracy"]),
        "standard_error": math.hypot(network["standard_error"], kernel["standard_error"]),
        "runs": int(network["runs"]),
        "part": "cntk",
    }
    ends = ("finite_cnn_low", "finite_cnn_high")
    return gain_numbers(tables) + [Ours(row=end, column="over_cntk", **gain) for end in ends]


def train_numbers(tables: Tables) -> list[Ours]:
    """Train accuracy in the last epoch, percent, as the mean over all cells of Table 2."""
    cells = product(ROWS, (*RANDOM, *LEARNT))
    return _mean_of("", "all", "all", tables["runs"], cells, "train_last")


def _ours(
    part: str, row: str, column: str, find: Callable[..., Sequence[float]], *what: Any
) -> list[Ours]:
    """The mean of the runs that ``find(*what)`` returns; empty if there are none."""
    try:
        why = untrained_stages(*what) if find is at_stage else untrained(*what[:3])
        return [mean_of(row, column, find(*what), part, why)]
    except CannotDecideError:
        return []


def _first(*numbers: Ours) -> str:
    """Why the first number of a network that is not trained says nothing; empty without one."""
    return next((number.untrained for number in numbers if number.untrained), "")


def _mean_of(
    part: str,
    row: str,
    column: str,
    runs: "pd.DataFrame",
    cells: Iterable[tuple[str, str]],
    kind: str = "best_test",
) -> list[Ours]:
    """Mean of the means of cells of Table 2; empty unless all of them are there."""
    found = [_ours(part, row, column, accuracies, runs, *cell, kind) for cell in cells]
    if not all(found):
        return []
    cells = [ours for (ours,) in found]
    return [
        Ours(
            row=row, column=column, value=float(np.mean([ours.value for ours in cells])),
            standard_error=math.hypot(*(ours.standard_error for ours in cells)) / len(cells),
            runs=min(ours.runs for ours in cells), part=part, untrained=_first(*cells),
        )
    ]  # fmt: skip
