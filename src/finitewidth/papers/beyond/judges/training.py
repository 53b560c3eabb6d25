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
from finitewidth.claims.verdicts import CannotDecideError, Part

EARLY = 6  # the early stage is this part of all steps: 500 of 3000
RISEN = 0.6  # share of the rise of the gap that is to be done by then
SMALL = 0.1  # gap up to which a kernel counts as label-agnostic
POSITIVE = "cannot fail: a positive semidefinite kernel has no larger mean off its diagonal"
BLIND = "the paper gives no size; images of one class are more alike whatever the kernel"
DOUBLE = "the paper only says that blocks develop; twice is more than the gap at the start"
SOON = "the paper says early stages; a sixth of the steps is ours"
MOST = "the paper says more rapidly in the early stages; most of the rise in a sixth of the steps"


def _networks(tables: Tables) -> Iterator[tuple[float, pd.DataFrame]]:
    rows = tables["rows"]
    if rows.empty:
        raise CannotDecideError("no network was trained")
    yield from rows.groupby("sigma_w2")


def _at(rows: pd.DataFrame, step: float, column: str) -> np.ndarray:
    found = rows[rows["step"] == step].sort_values("seed")[column]
    if found.empty:
        raise CannotDecideError(f"no kernel was computed at step {step:g}")
    return found.to_numpy(float)


def b19(tables: Tables) -> Iterator[Part]:
    """Before training values lie below both of their diagonal ones, and the gap is small."""
    for sigma_w2, rows in _networks(tables):
        at = f"sigma_w^2 = {sigma_w2:g}, step 0"
        ratio = _at(rows, 0, "same_class") / _at(rows, 0, "diagonal")
        label = f"{at}: class mean over diagonal"
        yield samples.mean(label, ratio, high=1, strict=True, paper=True, certain=POSITIVE)
        label = f"{at}: value of a pair over the smaller of its diagonal values, mean over pairs"
        shares = _at(rows, 0, "over_smaller_diagonal")
        yield samples.mean(label, shares, high=1, strict=True, paper=True)
        yield samples.mean(f"{at}: gap of classes", _at(rows, 0, "gap"), high=SMALL, ours=BLIND)


def b20(tables: Tables) -> Iterator[Part]:
    """The gap rises, faster in the first sixth of the steps than after, and so does alignment."""
    for sigma_w2, rows in _networks(tables):
        last = int(rows["step"].max())
        early = last / EARLY
        start, soon, end = (_at(rows, step, "gap") for step in (0, early, last))
        rise = end - start
        aligned = _at(rows, last, "alignment") - _at(rows, 0, "alignment")
        faster = (soon - start) / early - (end - soon) / (last - early)
        at = f"sigma_w^2 = {sigma_w2:g}"
        yield samples.mean(f"{at}: rise of the gap in {last} steps", rise, **ABOVE)
        label = f"{at}: rise of the gap per 100 steps, up to step {early:g} minus after"
        yield samples.mean(label, 100 * faster, cut=SOON, **ABOVE)
        yield samples.mean(f"{at}: rise of the alignment", aligned, **ABOVE)
        twice = end - 2 * start
        label = f"{at}: gap at the end minus twice that at the start"
        yield samples.mean(label, twice, low=0, strict=True, ours=DOUBLE)
        most = soon - start - RISEN * rise
        label = f"{at}: rise of the gap up to step {early:g} minus {RISEN:g} of the whole"
        yield samples.mean(label, most, low=0, ours=MOST)


def b21(tables: Tables) -> Iterator[Part]:
    """Of any two sigma_w^2 the one with the larger gap has the smaller test loss at the end.

    Which gap is the smaller one is itself estimated. Therefore the error makes the comparison as
    uncertain as the less certain of both differences: it fails only if both are clear. Runs are
    paired, since those of one number start from the same random numbers.
    """
    ends = {
        sigma_w2: tuple(_at(rows, rows["step"].max(), name) for name in ("gap", "test_loss"))
        for sigma_w2, rows in _networks(tables)
    }
    if len(ends) < 2:
        raise CannotDecideError("one sigma_w^2 has no order")
    for (first, (gap_a, loss_a)), (second, (gap_b, loss_b)) in combinations(ends.items(), 2):
        names = f"sigma_w^2 = {first:g} and {second:g}"
        if len(gap_a) != len(gap_b) or len(gap_a) < 2:
            raise CannotDecideError(f"{names}: {len(gap_a)} runs beside {len(gap_b)}")
        gap, loss = gap_a - gap_b, np.log(loss_b) - np.log(loss_a)
        value = math.copysign(1, gap.mean()) * float(loss.mean())
        certain = min(_score(gap), _score(loss))
        # with equal means, or with runs that are all alike, the order is not known
        error = abs(value) / certain if certain > 0 else math.nan
        yield Part(
            name=f"{names}: log of the test loss at the smaller gap - at the larger",
            value=value,
            standard_error=error,
            dof=len(gap) - 1,
            **ABOVE,
        )


def _score(values: np.ndarray) -> float:
    """The mean over its standard error, without sign; 0 if all runs are alike."""
    error = float(values.std(ddof=1)) / math.sqrt(len(values))
    return abs(float(values.mean())) / error if error > 0 and np.isfinite(error) else 0.0


def _numbers(tables: Tables, column: str, name: str, over: str = "") -> list[Ours]:
    """Means over runs at the last step, under the names of the printed numbers."""
    found = []
    for sigma_w2, rows in tables["rows"].groupby("sigma_w2"):
        ends = rows[rows["step"] == rows["step"].max()]
        values = ends[column] / ends[over] if over else ends[column]
        found.append(samples.mean_of(f"sigma_w2_{sigma_w2:.1f}_step3000", name, values.tolist()))
    return found


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
