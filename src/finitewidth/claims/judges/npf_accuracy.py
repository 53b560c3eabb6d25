"""Claims of npf on accuracies: Table 2 and Figure 3, left."""

import math
from typing import TYPE_CHECKING, Any

from finitewidth.claims.judges import samples
from finitewidth.claims.judges.runs import by_seed
from finitewidth.claims.ledger import Tables
from finitewidth.claims.reported import Ours
from finitewidth.claims.verdicts import LEVEL, CannotDecideError, Part, holm
from finitewidth.measures.compare import standard_error

if TYPE_CHECKING:
    import pandas as pd

POINT = 1.0  # percent of accuracy, for settings that the paper leaves open
CLOSE = 95.0  # percent of train accuracy: "trained close to 100%" (caption of Table 2)
ROWS = ("fc_sgd", "fc_adam", "vconv_sgd", "vconv_adam", "gconv_sgd", "gconv_adam")
TITLES = {"frnpf_ii": "FRNPF (II)", "frnpf_di": "FRNPF (DI)", "dlnpf": "DLNPF", "flnpf": "FLNPF",
          "relu": "ReLU"}  # fmt: skip
RANDOM = ("frnpf_ii", "frnpf_di")
PARTS = dict.fromkeys(ROWS, "")  # see `finitewidth.claims.reported.Numbers`


def accuracies(runs: "pd.DataFrame", row: str, regime: str, kind: str = "best_test") -> "pd.Series":
    """Accuracies of a cell's runs, percent, by seed; by default the best test accuracies.

    Diverged runs and step sizes that a search did not choose are left out.

    Raises:
        CannotDecideError: no run is left, or a run has several rows and would count repeatedly.
    """
    what = f"{regime} in row {row}"
    return 100 * by_seed(runs, kind, what, row=row, regime=regime, chosen=1)


def untrained(runs: "pd.DataFrame", row: str, *regimes: str) -> str:
    """Why a row is outside the range of Table 2, in which all models are trained close to 100 %.

    Empty if the mean train accuracy of all regimes is close to it.
    """
    for regime in regimes:
        reached = accuracies(runs, row, regime, "train_last").mean()
        if not reached >= CLOSE:
            return f"{TITLES[regime]} is trained to {reached:.0f} %, in the paper close to 100 %"
    return ""


def _difference(runs: "pd.DataFrame", row: str, first: str, second: str, **thresholds: Any) -> Part:
    """A regime minus another in one row, in points; it binds only where both are trained.

    A row that is outside the paper's range and has a single sound run is shown without a value.
    """
    a, b = accuracies(runs, row, first), accuracies(runs, row, second)
    name = f"{row}: {TITLES[first]} - {TITLES[second]}, points"
    outside = untrained(runs, row, first, second)
    if outside and min(len(a), len(b)) < 2:
        return Part(name=name, value=math.nan, outside=outside, **thresholds)
    return samples.difference(name, a, b, outside=outside, **thresholds)


def n14(tables: Tables) -> list[Part]:
    """FRNPF (II) and FRNPF (DI): no significant difference, and none of more than a point."""
    runs = tables["runs"]
    ours = "the paper gives no size; the largest difference in its Table 2 is half a point"
    points = [_difference(runs, row, *RANDOM, low=-1, high=1, ours=ours) for row in ROWS]
    orders = [_difference(runs, row, *RANDOM, low=0, paper=True) for row in ROWS]
    # two-sided, by Welch's t
    p_values = holm([min(1.0, 2 * min(o.p_inside, o.p_outside)) for o in orders])
    return points + [
        # A p-value errs as a test does, though it has no standard error: hence the chance of 0.
        Part(
            name=f"{row}: p-value of a difference, after Holm's correction for {len(ROWS)} rows",
            value=math.nan if order.undefined else p_value, low=LEVEL, chance=0.0, paper=True,
            tolerance="the paper gives no level of significance",
            outside=order.outside,
        )
        for row, order, p_value in zip(ROWS, orders, p_values, strict=True)
    ]  # fmt: skip


def n15(tables: Tables) -> list[Part]:
    """DLNPF is better than both kinds of random gates in every row."""
    runs = tables["runs"]
    return [
        _difference(runs, row, "dlnpf", regime, low=0, paper=True)
        for row in ROWS
        for regime in RANDOM
    ]


def n18(tables: Tables) -> list[Part]:
    """FLNPF is better than random gates, and at most 1.2 points worse than ReLU, in every row."""
    runs = tables["runs"]
    above = [
        _difference(runs, row, "flnpf", regime, low=0, paper=True)
        for row in ROWS
        for regime in RANDOM
    ]
    ours = "the paper gives no size; its Table 2 has up to 1.03 in five rows, 3.96 in one"
    return above + [_difference(runs, row, "relu", "flnpf", high=1.2, ours=ours) for row in ROWS]


def n25(tables: Tables) -> list[Part]:
    """Every cell of Table 2 lies within twice the printed spread and a point of the printed one.

    The point is ours, in the paper's favour: it allows for settings that the paper leaves open.
    """
    cells, parts = tables["cells"], []
    for cell in cells[cells["paper"] == "npf"].to_dict("records"):
        printed, allowed = cell["reported_mean"], 2 * cell["reported_spread"] + POINT
        parts.append(
            samples.mean(
                f"{cell['row']}, {cell['regime']}: accuracy, percent",
                accuracies(tables["runs"], cell["row"], cell["regime"]),
                low=printed - allowed, high=printed + allowed, paper=True,
                tolerance="two printed spreads and a point for settings that the paper leaves open",
                outside=untrained(tables["runs"], cell["row"], cell["regime"]),
            )
        )  # fmt: skip
    return parts


def at_stage(runs: "pd.DataFrame", stage: int) -> "pd.Series":
    """Best test accuracies of a stage's runs, percent, by seed; diverged runs are left out.

    Raises:
        CannotDecideError: no run is left, or a run has several rows and would count repeatedly.
    """
    return 100 * by_seed(runs, "best_test", f"stage {stage}", stage=stage)


def n19(tables: Tables) -> list[Part]:
    """Every stage is better than the one before, and the last is better than the first."""
    runs = tables["stages"]
    last = _last_stage(runs)
    steps = [
        _gain(runs, stage, stage + 1, "stage {1} - stage {0}, points", low=0, paper=True)
        for stage in range(1, last)
    ]
    return [*steps, _gain(runs, 1, last, "stage {1} - stage {0}, points", low=0, paper=True)]


def n20(tables: Tables) -> list[Part]:
    """Stage 1 beats random gates, the last is as good as ReLU; the CNTK lies between them."""
    runs, curves = tables["stages"], tables["curves"]
    last = _last_stage(runs)
    cntk = curves[curves["series"] == "CNTK on CIFAR-10, as printed"]["y"]
    if cntk.empty:
        raise CannotDecideError("no number of the CNTK")
    line = 100 * float(cntk.iloc[0])
    relu = accuracies(tables["runs"], "gconv_adam", "relu")
    return [
        _gain(runs, 0, 1, "stage 1 - random gates, points", low=0, paper=True),
        samples.difference(
            f"ReLU - stage {last}, points", relu, at_stage(runs, last), high=1.5,
            ours='"as well as" has no size; the paper\'s own numbers differ by 0.89 points',
        ),
        samples.mean(
            "stage 1, percent, below the CNTK", at_stage(runs, 1), high=line, paper=True
        ),
        samples.mean(
            f"stage {last}, percent, above the CNTK", at_stage(runs, last), low=line, paper=True
        ),
    ]  # fmt: skip


def _last_stage(runs: "pd.DataFrame") -> int:
    if runs.empty or runs["stage"].max() < 2:
        raise CannotDecideError("fewer than two stages of learnt gates")
    return int(runs["stage"].max())


def _gain(runs: "pd.DataFrame", before: int, after: int, name: str, **thresholds: Any) -> Part:
    """Differences paired by seed, since the runs of all stages share their random streams."""
    gains = (at_stage(runs, after) - at_stage(runs, before)).dropna()
    return samples.mean(name.format(before, after), gains, **thresholds)


def table2_numbers(tables: Tables) -> list[Ours]:
    """Our Table 2: mean best test accuracy of every cell, percent."""
    found = []
    for (row, regime), runs in tables["runs"].groupby(["row", "regime"], sort=False):
        sound = runs[(runs["chosen"] == 1) & (runs["diverged"] == 0)]
        spread = 100 * sound["best_test"].std(ddof=1)
        found.append(
            Ours(
                row=row, column=regime, value=100 * sound["best_test"].mean(),
                standard_error=standard_error(spread, len(sound), ddof=1), runs=len(sound),
                part=str(row),
            )
        )  # fmt: skip
    return found
