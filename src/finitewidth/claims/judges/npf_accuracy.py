"""Claims of npf on accuracies: Table 2 and Figure 3, left."""

from typing import TYPE_CHECKING

from finitewidth.claims.judges import samples
from finitewidth.claims.judges.runs import by_seed
from finitewidth.claims.ledger import Tables
from finitewidth.claims.reported import Ours
from finitewidth.claims.verdicts import CannotDecideError, Part
from finitewidth.measures.compare import standard_error

if TYPE_CHECKING:
    import pandas as pd

POINT = 1.0  # percent of accuracy: a smaller drop between stages is not counted as a drop
ROWS = ("fc_sgd", "fc_adam", "vconv_sgd", "vconv_adam", "gconv_sgd", "gconv_adam")
PARTS = dict.fromkeys(ROWS, "")  # see `finitewidth.claims.reported.Numbers`


def accuracies(runs: "pd.DataFrame", row: str, regime: str, kind: str = "best_test") -> "pd.Series":
    """Accuracies of a cell's runs, percent, by seed; by default the best test accuracies.

    Diverged runs and step sizes that a search did not choose are left out.

    Raises:
        CannotDecideError: no run is left, or a run has several rows and would count repeatedly.
    """
    what = f"{regime} in row {row}"
    return 100 * by_seed(runs, kind, what, row=row, regime=regime, chosen=1)


def n14(tables: Tables) -> list[Part]:
    """FRNPF (II) and FRNPF (DI) agree within a point in every row."""
    runs = tables["runs"]
    return [
        samples.difference(
            f"{row}: FRNPF (II) - FRNPF (DI), points", accuracies(runs, row, "frnpf_ii"),
            accuracies(runs, row, "frnpf_di"), low=-1, high=1,
        )
        for row in ROWS
    ]  # fmt: skip


def n15(tables: Tables) -> list[Part]:
    """DLNPF is better than both kinds of random gates in every row."""
    runs = tables["runs"]
    return [
        samples.difference(
            f"{row}: DLNPF - {title}, points", accuracies(runs, row, "dlnpf"),
            accuracies(runs, row, regime), low=0,
        )
        for row in ROWS
        for regime, title in (("frnpf_ii", "FRNPF (II)"), ("frnpf_di", "FRNPF (DI)"))
    ]  # fmt: skip


def n18(tables: Tables) -> list[Part]:
    """ReLU is at most 1.2 points better than FLNPF in every row."""
    runs = tables["runs"]
    return [
        samples.difference(
            f"{row}: ReLU - FLNPF, points", accuracies(runs, row, "relu"),
            accuracies(runs, row, "flnpf"), high=1.2,
        )
        for row in ROWS
    ]  # fmt: skip


def n25(tables: Tables) -> list[Part]:
    """Every cell of Table 2 lies within twice the printed spread and a point of the printed one."""
    cells, parts = tables["cells"], []
    for cell in cells[cells["paper"] == "npf"].to_dict("records"):
        printed, allowed = cell["reported_mean"], 2 * cell["reported_spread"] + POINT
        parts.append(
            samples.mean(
                f"{cell['row']}, {cell['regime']}: accuracy, percent",
                accuracies(tables["runs"], cell["row"], cell["regime"]),
                low=printed - allowed, high=printed + allowed,
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
    """No stage is worse than the one before by a point, and the last is better than the first."""
    runs = tables["stages"]
    last = _last_stage(runs)
    steps = [
        _gain(runs, stage, stage + 1, "stage {1} - stage {0}, points", low=-POINT)
        for stage in range(1, last)
    ]
    return [*steps, _gain(runs, 1, last, "stage {1} - stage {0}, points", low=0)]


def n20(tables: Tables) -> list[Part]:
    """Stage 1 beats random gates, the last is as good as ReLU; where the curve crosses the CNTK."""
    runs, curves = tables["stages"], tables["curves"]
    last = _last_stage(runs)
    cntk = curves[curves["series"] == "CNTK on CIFAR-10, as printed"]["y"]
    if last < 4 or cntk.empty:
        raise CannotDecideError(f"{last} stages, {len(cntk)} numbers of the CNTK: 4 and 1 are due")
    line = 100 * float(cntk.iloc[0])
    relu = accuracies(tables["runs"], "gconv_adam", "relu")
    return [
        _gain(runs, 0, 1, "stage 1 - random gates, points", low=3),
        samples.difference(f"ReLU - stage {last}, points", relu, at_stage(runs, last), high=1.5),
        samples.mean("stage 3, percent, below the CNTK", at_stage(runs, 3), high=line),
        samples.mean("stage 4, percent, above the CNTK", at_stage(runs, 4), low=line),
    ]


def _last_stage(runs: "pd.DataFrame") -> int:
    if runs.empty or runs["stage"].max() < 2:
        raise CannotDecideError("fewer than two stages of learnt gates")
    return int(runs["stage"].max())


def _gain(runs: "pd.DataFrame", before: int, after: int, name: str, **thresholds: float) -> Part:
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
