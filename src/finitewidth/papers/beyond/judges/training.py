"""Claims of beyond, and its printed numbers, on kernels during training (Figure 4)."""

import math
from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pandas as pd

from finitewidth.claims import samples
from finitewidth.claims.estimates import ABOVE
from finitewidth.claims.ledger import Tables
from finitewidth.claims.reported import Ours
from finitewidth.claims.verdicts import CannotDecideError, Part, PartFacts

EARLY = 6  # the early stage is this part of all steps: 500 of 3000
RISEN = 0.6  # share of the rise of the gap that is to be done by then
SMALL = 0.1  # gap up to which a kernel counts as label-agnostic
POSITIVE = "cannot fail: a positive semidefinite kernel has no larger mean off its diagonal"
BLIND = "the paper gives no size; images of one class are more alike whatever the kernel"
DOUBLE = "the paper only says that blocks develop; twice is more than the gap at the start"
SOON: PartFacts = {**ABOVE, "cut": "the paper says early stages; a sixth of the steps is ours"}
MOST = "the paper says more rapidly in the early stages; most of the rise in a sixth of the steps"


def _networks(tables: Tables) -> Iterator[tuple[float, pd.DataFrame]]:
    rows = tables["rows"]
    if rows.empty:
        raise CannotDecideError("no network was trained")
    yield from rows.groupby("sigma_w2")


def _at(rows: pd.DataFrame, step: float, column: str) -> np.ndarray:
    values = rows[rows["step"] == step].sort_values("seed")[column]
    if values.empty:
        raise CannotDecideError(f"no kernel was computed at step {step:g}")
    return values.to_numpy(float)


def b19(tables: Tables) -> Iterator[Part]:
    """Before training values lie below both of their diagonal ones, and the gap is small."""
    for sigma_w2, rows in _networks(tables):
        at = f"sigma_w^2 = {sigma_w2:g}, step 0"
        ratio = _at(rows, 0, "same_class") / _at(rows, 0, "diagonal")
        label = f"{at}: class mean over diagonal"
        yield samples.mean(label, ratio.tolist(), high=1, strict=True, paper=True, certain=POSITIVE)
        label = f"{at}: value of a pair over the smaller of its diagonal values, mean over pairs"
        shares = _at(rows, 0, "over_smaller_diagonal")
        yield samples.mean(label, shares.tolist(), high=1, strict=True, paper=True)
        gaps = _at(rows, 0, "gap")
        yield samples.mean(f"{at}: gap of classes", gaps.tolist(), high=SMALL, ours=BLIND)


def b20(tables: Tables) -> Iterator[Part]:
    """The gap rises, faster in the first sixth of the steps than after, and so does alignment."""
    for sigma_w2, rows in _networks(tables):
        last = int(rows["step"].max())
        early = last / EARLY
        gap_at_start = _at(rows, 0, "gap")
        gap_early = _at(rows, early, "gap")
        gap_at_end = _at(rows, last, "gap")
        rise = gap_at_end - gap_at_start
        at = f"sigma_w^2 = {sigma_w2:g}"
        yield samples.mean(f"{at}: rise of the gap in {last} steps", rise, **ABOVE)
        early_speed = (gap_early - gap_at_start) / early
        late_speed = (gap_at_end - gap_early) / (last - early)
        label = f"{at}: rise of the gap per 100 steps, up to step {early:g} minus after"
        yield samples.mean(label, 100 * (early_speed - late_speed), **SOON)
        alignment = _at(rows, last, "alignment") - _at(rows, 0, "alignment")
        yield samples.mean(f"{at}: rise of the alignment", alignment, **ABOVE)
        label = f"{at}: gap at the end minus twice that at the start"
        excess = gap_at_end - 2 * gap_at_start
        yield samples.mean(label, excess, low=0, strict=True, ours=DOUBLE)
        label = f"{at}: rise of the gap up to step {early:g} minus {RISEN:g} of the whole"
        most = gap_early - gap_at_start - RISEN * rise
        yield samples.mean(label, most, low=0, ours=MOST)


def b21(tables: Tables) -> Iterator[Part]:
    """Of any two sigma_w^2 the one with the larger gap has the smaller test loss at the end."""
    ends = {}  # sigma_w2 -> gaps and test losses of all runs
    for sigma_w2, rows in _networks(tables):
        last = rows["step"].max()
        ends[sigma_w2] = (_at(rows, last, "gap"), _at(rows, last, "test_loss"))
    if len(ends) < 2:
        raise CannotDecideError("one sigma_w^2 has no order")
    for first, second in combinations(ends, 2):
        names = f"sigma_w^2 = {first:g} and {second:g}"
        yield _order_of_losses(names, *ends[first], *ends[second])


def _order_of_losses(
    names: str, gap_a: np.ndarray, loss_a: np.ndarray, gap_b: np.ndarray, loss_b: np.ndarray
) -> Part:
    """Log of the test loss at the smaller gap, less that at the larger, over paired runs.

    Which gap is the smaller one is itself estimated. Therefore the error makes the comparison as
    uncertain as the less certain of both differences: it fails only if both are clear. Runs are
    paired, since those of one number start from the same random numbers.
    """
    if len(gap_a) != len(gap_b) or len(gap_a) < 2:
        raise CannotDecideError(f"{names}: {len(gap_a)} runs beside {len(gap_b)}")
    gap = gap_a - gap_b
    loss = np.log(loss_b) - np.log(loss_a)
    value = math.copysign(1, gap.mean()) * float(loss.mean())
    certain = min(_score(gap), _score(loss))
    # with equal means, or with runs that are all alike, the order is not known
    error = abs(value) / certain if certain > 0 else math.nan
    return Part(
        name=f"{names}: log of the test loss at the smaller gap - at the larger",
        value=value,
        standard_error=error,
        dof=len(gap) - 1,
        **ABOVE,
    )


def _score(values: np.ndarray) -> float:
    """The mean over its standard error, without sign; 0 if all runs are alike."""
    error = float(values.std(ddof=1)) / math.sqrt(len(values))
    if error > 0 and np.isfinite(error):
        return abs(float(values.mean())) / error
    return 0.0


def _numbers(tables: Tables, column: str, name: str, over: str = "") -> list[Ours]:
    """Means over runs at the last step, under the names of the printed numbers."""
    numbers = []
    for sigma_w2, rows in tables["rows"].groupby("sigma_w2"):
        ends = rows[rows["step"] == rows["step"].max()]
        values = ends[column] / ends[over] if over else ends[column]
        row = f"sigma_w2_{sigma_w2:.1f}_step3000"
        numbers.append(samples.mean_of(row, name, values.tolist()))
    return numbers


def kernel_ratio(tables: Tables) -> list[Ours]:
    """Theta_c, with the diagonal as in the authors' code, and Theta_n over Theta_d."""
    return [
        *_numbers(tables, "same_class_with_diagonal", "same_class_over_diagonal", "diagonal"),
        *_numbers(tables, "other_class", "other_class_over_diagonal", "diagonal"),
    ]


def test_loss(tables: Tables) -> list[Ours]:
    """Test losses at the last step."""
    return _numbers(tables, "test_loss", "test")


def train_loss(tables: Tables) -> list[Ours]:
    """Training losses at the last step."""
    return _numbers(tables, "train_loss", "train")
