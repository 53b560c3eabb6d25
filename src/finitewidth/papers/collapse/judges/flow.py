"""Claims of collapse on the flow under a block kernel: convergence, invariant, neural collapse.

The flow is integrated numerically, so that values carry no statistical error. It ends at a finite
time, whereas the paper speaks of limits. At late times NC3 and |H2| fall with the power -1/2 of the
time (`finitewidth.papers.collapse.experiments.flow.leading_terms`); a limit is therefore
extrapolated with this power.
"""

import itertools
import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Unpack

from finitewidth.claims.estimates import exactly, largest, required, smallest
from finitewidth.claims.ledger import Tables
from finitewidth.claims.reported import Ours
from finitewidth.claims.verdicts import CannotDecideError, Part, PartFacts

if TYPE_CHECKING:
    import pandas as pd

NAMES = {"global": "global mean", "class": "class means", "single": "single samples"}
EARLIER = 4  # the last time is compared with the last time over this
CASE = "kappa_n = 0.01, beta = 0"  # where NC3 is judged
PERCENT: PartFacts = {
    "low": 0.99,
    "high": 1.01,
    "paper": True,
    "tolerance": "1 %: the formula is the limit of a flow that ends at a finite time",
}
DRIFT: PartFacts = {
    "high": 1e-8,
    "paper": True,
    "tolerance": "the paper has 0; 1e-8 is far above what the integration leaves",
}
ORDER: PartFacts = {
    "low": 3.7,
    "high": 4.3,
    "ours": "what drift there is belongs to the integrator if it falls with the order of that",
}
POWER: PartFacts = {
    "low": -0.55,
    "high": -0.45,
    "ours": "the paper states no rate; at leading order (25) gives the power -1/2",
}
LIMIT: PartFacts = {
    "low": -0.005,
    "high": 0.005,
    "paper": True,
    "tolerance": "the paper has 0; the extrapolation leaves terms of higher order in 1/t",
}
FRAME = "the paper has 0 in the limit; the flow ends at a finite time"
STAYS: PartFacts = {
    "high": 0.05,
    "late": True,
    "ours": "the paper says that there is no collapse, not how fast; collapse has the power 1/2",
}
BOUND: PartFacts = {
    "high": 1 + 1e-9,
    "ours": "a bound of docs/collapse.md, which needs no end of training; 1e-9 is for rounding",
}
AGREE: PartFacts = {
    "low": 0.99,
    "late": True,
    "ours": "the paper has 1 in the limit, for all points; at a finite time some lie in between",
}
UNALIGNED: PartFacts = {
    "high": 0.9,
    "late": True,
    "ours": "the claim is about such flows; the paper gives no bound for what counts as aligned",
}
NEAR: PartFacts = {
    "high": 0.02,
    "paper": True,
    "tolerance": "the paper has an equality at the end of training; the flow ends at a finite time",
}
SHIFTED: PartFacts = {
    "low": 0.01,
    "strict": True,
    "late": True,
    "ours": "the paper has 1/C for a global mean of 0 only; a smaller shift would decide nothing",
}


def k02(tables: Tables) -> Iterator[Part]:
    """The global mean of residuals converges first, then class means, then single samples."""
    for kernel, rows in required(tables["residuals"], "residuals").groupby("kernel", sort=False):
        times = rows.pivot(index="run", columns="component", values="reached")
        for first, second in itertools.pairwise(NAMES):
            ratios = exactly(times[first] / times[second])
            name = f"kernel {kernel}: time of the {NAMES[first]} over that of the {NAMES[second]}"
            yield largest(name, ratios, high=1, strict=True, paper=True)


def k03(tables: Tables) -> Iterator[Part]:
    """The flow conserves E."""
    frozen = tables["frozen"]
    drifts = {
        "starts": tables["curves"]["drift"],
        "frozen biases": frozen[frozen["quantity"] == "drift"]["value"],
    }
    for name, values in drifts.items():
        yield largest(f"{name}: largest drift of E, relative", exactly(values), **DRIFT)
    steps = tables["orders"][tables["orders"]["method"] == "RK4"].sort_values("step")
    if len(steps) < 2:
        raise CannotDecideError("fewer than two steps of Runge-Kutta")
    fine, coarse = steps.iloc[:2].to_dict("records")
    refinement = coarse["step"] / fine["step"]
    power = _power(coarse["drift"], fine["drift"], refinement)
    yield Part(name="Runge-Kutta of order 4: power of the step in the drift", value=power, **ORDER)
    name = f"Runge-Kutta of order 4, step {fine['step']:g}: drift"
    yield Part(name=name, value=fine["drift"], **DRIFT)


def k04(tables: Tables) -> Iterator[Part]:
    """From E = 0 and a global mean of 0 the flow tends to neural collapse."""
    rows = _starting(tables["curves"], "zero_invariant")
    first = rows[rows["time"] == rows["time"].min()].set_index(["case", "run"])
    early = _at_end(rows, EARLIER)
    last = _at_end(rows)
    distances = exactly(last["nc2"])
    yield largest("distance from NC2 at the end", distances, high=0.01, paper=True, tolerance=FRAME)
    yield _farthest("NC3: limit", _limit(early["nc3"], last["nc3"]), **LIMIT)
    shares = _limit(early["h2"], last["h2"]) / first["h2"]
    # a run without a last time has no limit: its share is nan
    yield _farthest("|H2|: limit over the start", shares, **LIMIT)
    for name, quantity in (("NC3", "nc3"), ("|H2|", "h2")):
        for run, power in enumerate(_powers(early[quantity], last[quantity])):
            yield Part(name=f"{name}: power of the time, run {run}", value=-power, **POWER)
    positive = required(tables["curves"][tables["curves"]["bound"].notna()], "bounds of |H2|")
    ratios = exactly(positive["h2"] / positive["bound"])
    yield largest("|H2| over its bound for E >= 0, at all times", ratios, **BOUND)
    name = "NC4: share of points at which both rules agree"
    yield smallest(name, exactly(last["nc4"]), **AGREE)


def k05(tables: Tables) -> Iterator[Part]:
    """Without an aligned invariant the flow does not tend to neural collapse.

    NC1 and NC3 make the alignment 1, so that they cannot both hold where it stays below. The rate
    at which NC3 still falls is measured.
    """
    rows = _starting(tables["curves"], "random_weights")
    early = _at_end(rows, EARLIER)
    last = _at_end(rows)
    aligned = _at_end(_starting(tables["curves"], "zero_invariant"))
    limits = exactly(_limit(early["nc3"], last["nc3"]))
    yield smallest("NC3: smallest limit", limits, low=0, strict=True, paper=True)
    gap = float(last["nc3"].min() - aligned["nc3"].max())
    name = "NC3 at the end: smallest minus largest from E = 0"
    yield Part(name=name, value=gap, low=0, strict=True, paper=True)
    yield largest("alignment at the end, largest", exactly(last["alignment"]), **UNALIGNED)
    for case, ends in last.groupby("case", sort=False):
        powers = _powers(early.loc[ends.index, "nc3"], ends["nc3"])
        sizes = exactly(abs(power) for power in powers)
        yield largest(f"{case}: size of the power of the time in NC3", sizes, **STAYS)


def k06(tables: Tables) -> Iterator[Part]:
    """The biases end at 1/C - W <h>, which is 1/C if the global mean <h> is 0."""
    last = _at_end(required(tables["uncentred"], "flows with a global mean"))
    free = _at_end(_starting(required(tables["curves"], "the flow"), "free_biases"))
    for case, ends in last.groupby("case", sort=False):
        shares = exactly(ends["error"] / ends["gap"])
        yield largest(f"{case}: largest |b - 1/C + W <h>| over |b - 1/C|", shares, **NEAR)
        yield smallest(f"{case}: smallest |b - 1/C|", exactly(ends["gap"]), **SHIFTED)
    name = "E = 0, <h> = 0 and b = 0 at the start: largest |b - 1/C| at the end"
    near: PartFacts = {
        **NEAR,
        "outside": "the global mean of the features is near 0 there, not 0",
    }
    yield largest(name, exactly(free["bias_gap"]), **near)


def k07(tables: Tables) -> Iterator[Part]:
    """At equal biases W W^T has the gamma of (68); NC2 holds, NC3 does not."""
    frozen = required(tables["frozen"], "frozen biases")
    yield from _angles(tables, "gamma", "corrected")
    nc2 = _quantity(frozen, "nc2")
    nc3 = _quantity(frozen, "nc3")
    early = _quantity(frozen, "nc3_earlier")
    name = "distance from NC2 at the end, largest"
    yield largest(name, exactly(nc2), high=1e-3, paper=True, tolerance=FRAME)
    limits = exactly(_limit(early, nc3))
    yield smallest("NC3: smallest limit", limits, low=0, strict=True, paper=True)
    ends = exactly(nc3[nc3.index.get_level_values("case") == CASE])
    yield smallest(
        f"{CASE}: NC3 at the end",
        ends,
        low=0.1,
        strict=True,
        ours="the paper says that NC3 fails, not by how much",
    )


def k08(tables: Tables) -> Iterator[Part]:
    """At equal biases H1^T H1 has the theta of (66) and (68), as printed."""
    yield from _angles(tables, "theta", "printed")


def _angles(tables: Tables, quantity: str, form: str) -> Iterator[Part]:
    """The fitted value over the formula for each case; the run that is farthest from 1."""
    formulas = tables["formulas"]
    frozen = required(tables["frozen"], "frozen biases")
    chosen = formulas[(formulas["quantity"] == quantity) & (formulas["form"] == form)]
    predicted = chosen.set_index("case")["value"]
    for case, rows in frozen[frozen["quantity"] == quantity].groupby("case", sort=False):
        if case not in predicted.index:
            raise CannotDecideError(f"no formula for {case}")
        formula = float(predicted.loc[case])
        ratios = [value / formula if formula else math.nan for value in rows["value"]]
        name = f"{case}: fitted {quantity} over the formula"
        yield _farthest(name, ratios, at=1, **PERCENT)


def _starting(rows: "pd.DataFrame", start: str) -> "pd.DataFrame":
    """The rows of one kind of start."""
    return required(rows[rows["start"] == start], f"the start {start}")


def _quantity(frozen: "pd.DataFrame", name: str) -> "pd.Series":
    """The values of one quantity, by case and run."""
    return frozen[frozen["quantity"] == name].set_index(["case", "run"])["value"]


def _at_end(rows: "pd.DataFrame", fraction: float = 1) -> "pd.DataFrame":
    """Each run at the last time divided by ``fraction``, by case and run."""
    time = rows["time"].max() / fraction
    at_time = rows[(rows["time"] / time - 1).abs() < 1e-9] if time > 0 else rows.iloc[:0]
    return required(at_time, f"the time {time:g}").set_index(["case", "run"])


def _limit(early: "pd.Series", last: "pd.Series") -> "pd.Series":
    """The limit of what goes as limit + c t^(-1/2), from t / `EARLIER` = t / 4 and t."""
    return 2 * last - early


def _powers(early: Iterable[float], last: Iterable[float]) -> list[float]:
    """By which power of the time each run falls from the last time over `EARLIER` to the last."""
    pairs = zip(early, last, strict=True)
    return [_power(before, after, EARLIER) for before, after in pairs]


def _power(before: float, after: float, factor: float) -> float:
    """The exponent p of a quantity that falls by factor^p; nan of what is not above 0."""
    if not (before > 0 and after > 0):
        return math.nan
    return math.log(before / after) / math.log(factor)


def _farthest(
    name: str, values: Iterable[float], at: float = 0, **thresholds: Unpack[PartFacts]
) -> Part:
    """The comparison of what differs most from ``at``; nan if one of the values is nan."""

    def distance(value: float) -> float:
        return math.inf if math.isnan(value) else abs(value - at)

    farthest = max(values, key=distance)
    return Part(name=name, value=float(farthest), **thresholds)


def multiplicity(tables: Tables) -> list[Ours]:
    """Table 1: number of independent eigenvectors of the largest eigenvalue."""
    ranks = tables["rows"].query("component == 'global'")["rank"]
    return [Ours(row="lambda_global", column="multiplicity", value=float(rank)) for rank in ranks]
