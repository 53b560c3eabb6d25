"""Our counterparts of the numbers that npf prints on trained networks: Table 2, Figure 3, text."""

import math
from collections.abc import Iterable
from itertools import product

import numpy as np
import pandas as pd

from finitewidth.claims import samples
from finitewidth.claims.ledger import Tables
from finitewidth.claims.reported import Ours
from finitewidth.claims.verdicts import CannotDecideError
from finitewidth.measures.compare import standard_error
from finitewidth.papers.npf.judges.training import (
    ADAM,
    LEARNT,
    RANDOM,
    ROWS,
    accuracies,
    at_stage,
    untrained,
    untrained_beside_cntk,
    untrained_stages,
)

GCONV = ("gconv_sgd", "gconv_adam")
# the parts of the tables on which single numbers rest; see `finitewidth.claims.reported.Numbers`
STAGES = "stages"
BOTH = " ".join(GCONV)


def table2_numbers(tables: Tables) -> list[Ours]:
    """Our Table 2: mean best test accuracy of every cell, percent."""
    numbers = []
    for (row, regime), runs in tables["runs"].groupby(["row", "regime"], sort=False):
        best = runs[(runs["chosen"] == 1) & (runs["diverged"] == 0)]["best_test"]
        numbers.append(
            Ours(
                row=row,
                column=regime,
                value=100 * best.mean(),
                standard_error=standard_error(100 * best.std(ddof=1), len(best), ddof=1),
                runs=len(best),
                part=str(row),
                untrained=untrained(runs, row, regime),
            )
        )
    return numbers


def fig3_numbers(tables: Tables) -> list[Ours]:
    """Accuracy at every stage and of the horizontal lines beside the curve, percent."""
    runs = tables["runs"]
    stages = tables["stages"]
    numbers = []
    for stage in sorted(stages["stage"].dropna().unique()):
        numbers += _stage(f"stage{stage:.0f}", "flnpf", stages, stage)
    numbers += _cell(ADAM, "reference", "relu", runs, ADAM, "relu")
    numbers += _stage("reference", "frnpf", stages, 0)
    return numbers


def text_numbers(tables: Tables) -> list[Ours]:
    """Accuracies in the text of both versions, percent; each version prints some of them.

    For the accuracy of random gates on CIFAR-10 the text names no network. We take the mean of
    GCONV over both kinds of random gates and both optimisers.
    """
    runs = tables["runs"]
    stages = tables["stages"]
    return [
        *_cell(ADAM, "gconv_adam", "frnpf", runs, ADAM, "frnpf_ii"),
        *_stage("stage0", "frnpf", stages, 0),
        *_stage("stage1", "flnpf", stages, 1),
        *_stage("stage6", "flnpf", stages, 6),
        *_mean_of_cells(BOTH, "cifar10", "frnpf", runs, product(GCONV, RANDOM)),
        *_cell(ADAM, "gconv", "relu", runs, ADAM, "relu"),
        *_cell(ADAM, "fully_trained", "relu", runs, ADAM, "relu"),
        *_cell(ADAM, "fully_trained", "flnpf", runs, ADAM, "flnpf"),
    ]


def gain_numbers(tables: Tables) -> list[Ours]:
    """The smallest gain of learnt over random gates on GCONV with Adam, points."""
    runs = tables["runs"]
    random = _cell(ADAM, "", "", runs, ADAM, "frnpf_ii")
    learnt = []
    for regime in LEARNT:
        learnt += _cell(ADAM, "", "", runs, ADAM, regime)
    if not random or len(learnt) < len(LEARNT):
        return []
    least = min(learnt, key=lambda ours: ours.value)
    return [
        Ours(
            row="npf_learning",
            column="over_frnpf",
            value=least.value - random[0].value,
            standard_error=math.hypot(least.standard_error, random[0].standard_error),
            runs=least.runs,
            part=ADAM,
            untrained=_first_reason([*random, *learnt]),
        )
    ]


def cntk_gain_numbers(tables: Tables) -> list[Ours]:
    """`gain_numbers`, and the gain of ReLU over the CNTK on the same images, points.

    Our one gain is compared with both ends of the printed range.
    """
    numbers = gain_numbers(tables)
    rows = tables["cntk"]
    networks = rows[(rows["kind"] == "network") & (rows["regime"] == "relu")]
    kernels = rows[rows["kind"] == "kernel"].sort_values("train")
    if networks.empty or kernels.empty:
        return numbers
    network = networks.iloc[0]
    kernel = kernels.iloc[-1]  # of the most training images
    for end in ("finite_cnn_low", "finite_cnn_high"):
        numbers.append(
            Ours(
                row=end,
                column="over_cntk",
                value=float(network["accuracy"] - kernel["accuracy"]),
                standard_error=math.hypot(network["standard_error"], kernel["standard_error"]),
                runs=int(network["runs"]),
                part="cntk",
                untrained=untrained_beside_cntk(network),
            )
        )
    return numbers


def train_numbers(tables: Tables) -> list[Ours]:
    """Train accuracy in the last epoch, percent, as the mean over all cells of Table 2."""
    cells = product(ROWS, (*RANDOM, *LEARNT))
    return _mean_of_cells("", "all", "all", tables["runs"], cells, "train_last")


def _cell(
    part: str,
    row: str,
    column: str,
    runs: pd.DataFrame,
    network: str,
    regime: str,
    kind: str = "best_test",
) -> list[Ours]:
    """The mean over the runs of a cell of Table 2; empty if there are none.

    ``row`` and ``column`` are those of the printed number, ``network`` and ``regime`` of the cell.
    """
    try:
        values = accuracies(runs, network, regime, kind)
    except CannotDecideError:
        return []
    return [samples.mean_of(row, column, values, part, untrained(runs, network, regime))]


def _stage(row: str, column: str, stages: pd.DataFrame, stage: int) -> list[Ours]:
    """The mean over the runs of a stage of Figure 3; empty if there are none."""
    try:
        values = at_stage(stages, stage)
    except CannotDecideError:
        return []
    return [samples.mean_of(row, column, values, STAGES, untrained_stages(stages, stage))]


def _mean_of_cells(
    part: str,
    row: str,
    column: str,
    runs: pd.DataFrame,
    cells: Iterable[tuple[str, str]],
    kind: str = "best_test",
) -> list[Ours]:
    """Mean of the means of cells of Table 2; empty unless all of them are there."""
    means = []
    for network, regime in cells:
        mean = _cell(part, row, column, runs, network, regime, kind)
        if not mean:
            return []
        means += mean
    errors = [mean.standard_error for mean in means]
    return [
        Ours(
            row=row,
            column=column,
            value=float(np.mean([mean.value for mean in means])),
            standard_error=math.hypot(*errors) / len(means),
            part=part,
            runs=min(mean.runs for mean in means if mean.runs is not None),
            untrained=_first_reason(means),
        )
    ]


def _first_reason(numbers: Iterable[Ours]) -> str:
    """The first reason why a number rests on untrained networks; empty if none of them does."""
    return next((ours.untrained for ours in numbers if ours.untrained), "")
