"""Claims of dgn on networks that memorise.

These are experiments 1 (fixed random gates), 2 (points of the plane) and 8 (deep linear networks).
"""

import math
from collections.abc import Sequence
from itertools import combinations, pairwise
from operator import itemgetter

import numpy as np
import pandas as pd

from finitewidth.claims import samples
from finitewidth.claims.ledger import Tables
from finitewidth.claims.reported import Ours
from finitewidth.claims.verdicts import CannotDecideError, Part
from finitewidth.papers.npf.judges.memorisation import (
    DEPTHS,
    DESCENT,
    NARROW,
    WIDE,
    log_ratios,
    narrow_errors,
)

SHALLOW, DEEP = (2, 4, 6, 8), (8, 12, 16, 20)  # a turning point shows in one of them
LINEAR_DEPTHS = (2, 4, 6, 8, 10)
RATE = 0.1
IDEAL = (1 - RATE) ** 2
SIMILAR = math.log(1.3)
SHALLOWEST = "the paper does not say whether Figure 4 has a single layer of gates"
# Deeper, mu^(d-1) falls by less than the mean of 20 runs is known to.
FALLING = (2, 4, 6, 8)
RELATIVE = 0.25
# of the ideal entry at d = 2, the largest in Figure 2
OF_THE_PLOT = 0.05
BY_EYE = "follows, in a plot; the mean of 20 runs is known to a tenth at d = 20"
BY_SCALE = "follows, in a plot whose axis must reach 1/2: a twentieth of that"


def _by_depth(rows: pd.DataFrame, network: str, column: str, what: str) -> pd.DataFrame:
    """log10 of a column, a row per run and a column per depth."""
    found = rows[rows["network"] == network].pivot(index="run", columns="depth", values=column)
    if missing := sorted(set(DEPTHS) - set(found.columns)):
        raise CannotDecideError(f"{what} of {network}: no depth of {missing[0]}")
    return np.log10(found)


def _log_errors(tables: Tables, network: str) -> dict[int, pd.DataFrame]:
    """log10 error ratios of gradient descent by run and depth.

    They are those after 1000 steps, and also after 10,000 if there were so many.
    """
    errors = tables["errors"]
    descent = errors[errors["dynamics"] == DESCENT]
    return {
        time: _by_depth(
            descent[descent["time"] == time], network, "ratio", f"descent of {time} steps"
        )
        for time in (1000, 10_000)
        if time == 1000 or descent["time"].max() >= time
    }


def _log_spreads(kernels: pd.DataFrame, network: str) -> pd.DataFrame:
    """log10 of trace over largest eigenvalue of K_0 by run and depth."""
    return _by_depth(kernels, network, "trace_over_rho_max", "kernels")


def _slopes(values: pd.DataFrame, depths: Sequence[int]) -> np.ndarray:
    """The slope of a least-squares line over the depth, of every run."""
    centred = np.asarray(depths, float) - np.mean(depths)
    return values[list(depths)].to_numpy(float) @ centred / (centred @ centred)


def d07(tables: Tables) -> list[Part]:
    """GaLU: with depth the error falls and the spectrum evens out, up to 8 and from 8 on.

    Spectra are those of networks at initialisation that are not trained, of which there are more.
    """
    errors, spreads = _log_errors(tables, "galu"), _log_spreads(tables["spectra"], "galu")
    parts = []
    for depths in (SHALLOW, DEEP):
        span = f"d = {depths[0]} to {depths[-1]}"
        for time, logs in errors.items():
            name = f"GaLU, t = {time}: log10 error per layer, {span}"
            parts.append(samples.mean(name, _slopes(logs, depths), high=0, paper=True))
        name = f"GaLU: log10 of trace over largest eigenvalue per layer, {span}"
        parts.append(samples.mean(name, _slopes(spreads, depths), low=0, paper=True))
    return parts


def d08(tables: Tables) -> list[Part]:
    """GaLU has the smaller error and the more even spectrum, on average over some depths."""
    kernels = tables["kernels"]
    spread = _log_spreads(kernels, "galu") - _log_spreads(kernels, "relu")
    galu, relu = (_log_errors(tables, network) for network in ("galu", "relu"))
    parts = []
    for depths in (SHALLOW[:1], SHALLOW[1:], DEEP[1:]):
        at = f"d = {', '.join(map(str, depths))}"
        origin = {"paper": True, "outside": SHALLOWEST if depths == SHALLOW[:1] else ""}
        for time in galu:
            gaps = (galu[time] - relu[time])[list(depths)].mean(axis=1, skipna=False)
            name = f"{at}, t = {time}: log10 error, GaLU minus ReLU"
            parts.append(samples.mean(name, gaps, high=0, **origin))
        gaps = spread[list(depths)].mean(axis=1, skipna=False)
        name = f"{at}: log10 of trace over largest eigenvalue, GaLU minus ReLU"
        parts.append(samples.mean(name, gaps, low=0, **origin))
    return parts


def _linear_runs(tables: Tables, depth: int, column: str) -> pd.Series:
    runs = tables["runs"]
    values = runs[runs["depth"] == depth][column]
    if values.isna().any():
        raise CannotDecideError(f"d = {depth}: {values.isna().sum()} runs lack {column}")
    return values


def d11(tables: Tables) -> list[Part]:
    """The first step leaves 0.81 of the squared error on average, whatever the depth.

    The ratio of a run is (1 - 0.1 K_0/d)^2 but for the second order. The mean of K_0/d is exactly 1
    (Corollary 8.1). Therefore 2 · 0.1 · 0.9 (K_0/d - 1) has mean 0. When it is added, the mean of
    the runs stays what it is, and most of the scatter cancels.
    """
    parts = []
    for depth in LINEAR_DEPTHS:
        ratio, kernel = (_linear_runs(tables, depth, name) for name in ("first_ratio", "kernel"))
        adjusted = ratio + 2 * RATE * (1 - RATE) * (kernel / depth - 1)
        name = f"d = {depth}: mean of e_1^2/e_0^2, adjusted for K_0"
        parts.append(samples.mean(name, adjusted, low=0.805, high=0.815, paper=True))
    return parts


def d12(tables: Tables) -> list[Part]:
    """Errors fall faster than 0.81^t, and kernels grow."""
    ideal = math.log(0.01) / math.log(IDEAL)
    parts = []
    for depth in LINEAR_DEPTHS:
        steps = _linear_runs(tables, depth, "steps_to_hundredth")
        growth = _linear_runs(tables, depth, "kernel_growth")
        name = f"d = {depth}: kernel at the end over that at the start"
        parts += [
            samples.mean(
                f"d = {depth}: steps to a hundredth of e_0^2", steps, high=ideal, paper=True
            ),
            samples.mean(name, growth, low=1, paper=True),
        ]
    return parts


def d13(tables: Tables) -> list[Part]:
    """Any two depths take about the same number of steps to a hundredth of e_0^2."""
    logs = {d: np.log(_linear_runs(tables, d, "steps_to_hundredth")) for d in LINEAR_DEPTHS}
    return [
        samples.difference(
            f"log of steps at d = {depth} over those at d = {deeper}",
            logs[depth],
            logs[deeper],
            low=-SIMILAR,
            high=SIMILAR,
            late=True,
            ours="the paper says similar; a factor of 1.3 is what curves beside each other show",
        )
        for depth, deeper in combinations(LINEAR_DEPTHS, 2)
    ]


def ideal_ratio(tables: Tables) -> list[Ours]:
    """(1 - 0.1 E[K_0]/d)^2 with the mean of K_0/d over all runs and depths."""
    runs = tables["runs"]
    if len(runs) < 2:
        return []
    scaled = runs["kernel"] / runs["depth"]
    rest = 1 - RATE * float(scaled.mean())
    error = float(scaled.std(ddof=1)) / math.sqrt(len(scaled))
    return [
        Ours(
            row="first_step",
            column="ideal",
            value=rest**2,
            standard_error=2 * RATE * abs(rest) * error,
            runs=len(scaled),
        )
    ]


def d04(tables: Tables) -> list[Part]:
    """At w = 500 one diagonal and one off-diagonal entry of K_0/d follow the ideal ones."""
    diagonal, off = (
        {depth: _entry(tables, column, depth) for depth in DEPTHS}
        for column in ("diagonal", "off_diagonal")
    )
    parts = [
        samples.difference(
            f"off-diagonal entry of K_0/d at d = {depth} minus at d = {deeper}",
            off[depth][0],
            off[deeper][0],
            low=0,
            paper=True,
        )
        for depth, deeper in pairwise(FALLING)
    ]
    least = OF_THE_PLOT * off[DEPTHS[0]][1]
    for depth in DEPTHS:
        for name, (entry, ideal) in (("diagonal", diagonal[depth]), ("off-diagonal", off[depth])):
            allowed, ours = max((RELATIVE * ideal, BY_EYE), (least, BY_SCALE), key=itemgetter(0))
            parts.append(
                samples.mean(
                    f"d = {depth}: {name} entry of K_0/d minus ideal",
                    entry - ideal,
                    low=-allowed,
                    high=allowed,
                    ours=ours,
                    late=True,
                )
            )
    return parts


def _entry(tables: Tables, column: str, depth: int) -> tuple[np.ndarray, float]:
    """An entry of K_0/d of all runs at w = 500, and the ideal one."""
    kernels, entries = (
        rows[(rows["width"] == WIDE) & (rows["depth"] == depth)]
        for rows in (tables["kernels"], tables["entries"])
    )
    if kernels.empty or entries.empty:
        raise CannotDecideError(f"no kernels at w = {WIDE}, d = {depth}")
    return kernels[column].to_numpy(float), float(entries[f"{column}_ideal"].iloc[0])


def d05(tables: Tables) -> list[Part]:
    """The spectrum of wide networks is closer to the ideal one, at every depth."""
    kernels, parts = tables["kernels"], []
    for depth in DEPTHS:
        narrow, wide = (
            kernels[(kernels["width"] == width) & (kernels["depth"] == depth)]["distance"]
            for width in (NARROW, WIDE)
        )
        name = f"d = {depth}: distance to the ideal spectrum, w = {NARROW} minus w = {WIDE}"
        parts.append(samples.difference(name, narrow, wide, low=0, paper=True))
    return parts


def d06(tables: Tables) -> list[Part]:
    """The error of gradient descent after 100 steps falls from each depth of Figure 3 to the next.

    Error ratios of single runs differ by powers of ten, so that their logarithms are compared.
    """
    of_width = {NARROW: narrow_errors(tables), WIDE: tables["errors"]}
    return [
        samples.difference(
            f"w = {width}: log10 error at d = {deeper} minus at d = {depth}",
            log_ratios(errors, width, deeper, 100),
            log_ratios(errors, width, depth, 100),
            high=0,
            paper=True,
        )
        for width, errors in of_width.items()
        for depth, deeper in pairwise(DEPTHS)
    ]
