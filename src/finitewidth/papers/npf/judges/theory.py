"""Claims of npf on the tangent kernel of fixed gates at initialisation."""

import math
from typing import Unpack

import numpy as np
import pandas as pd

from finitewidth.claims import samples
from finitewidth.claims.ledger import Tables
from finitewidth.claims.verdicts import CannotDecideError, Part, PartFacts

DEPTHS = (3, 5, 8)
VARIANCE_DEPTHS = (4, 8, 16, 32)
WIDE = (512, 1024)
# entries K(s, s): a share of 1 and of 1/2 of the gates is open
ENTRIES = {"open": "all gates open", "half": "half open"}
# sigma'^2 = sigma^2 w, where sigma^2 is one over the number of open units
SIGMA2 = {"open": 1, "half": 2}
RATE = "the paper has a limit without a rate; its variance bound of order 1/w gives -1/2"
ORDER = "the bound is of order 1/w, a slope of -1 or less; 0.2 for the next order in 1/w"
BOUNDED = "bounded in d is a limit; 1.5 lies between 1 and the factor 2 of order d^4"
REST = (
    "the paper says only that the theorem leaves this case out; 0.5 is more than narrow widths add"
)


def n04(tables: Tables) -> list[Part]:
    """The mean kernel is d sigma^{2(d-1)} H, over all networks and over many drawn ones.

    The paper prints an equation. What the comparisons leave is rounding where all networks are
    listed, and the error of sampling elsewhere: of the largest of 210 standard normal numbers, 4.5
    is exceeded once in 700 times.
    """
    parts = []
    for row in _rows(tables["mean"], networks="enumerated").itertuples():
        part = Part(
            name=f"all {row.draws:,} networks, d={row.depth}, w={row.width}: largest error",
            value=row.mean_error,
            high=1e-12,
            paper=True,
            tolerance="rounding",
        )
        parts.append(part)
    for row in _rows(tables["mean"], networks="drawn").itertuples():
        name = f"{row.draws:,} networks, {row.gates} gates, d={row.depth}, w={row.width}"
        largest_z = Part(
            name=f"{name}: largest z",
            value=row.max_z,
            high=4.5,
            paper=True,
            tolerance="the largest of 210 standard normal numbers stays below",
        )
        trace = Part(
            name=f"{name}: trace over the formula's",
            value=row.trace_ratio,
            low=0.95,
            high=1.05,
            standard_error=row.trace_ratio_se,
            dof=row.draws - 1,
            paper=True,
            tolerance="the mean of the draws is known to less than 5 %",
        )
        parts += [largest_z, trace]
    return parts


def n05(tables: Tables) -> list[Part]:
    """Relative errors fall, like 1 / sqrt(w), while gates and values grow wide."""
    parts = []
    for depth in DEPTHS:
        runs = _rows(tables["runs"], grows="width", gates="independent", depth=depth)
        parts += _falling(f"d={depth}: slope over w", runs, "width", late=True)
        wide = np.log(_rows(runs, width=512)["error"])
        narrow = np.log(_rows(runs, width=64)["error"])
        name = f"d={depth}: log error at w=512 minus at w=64"
        parts.append(samples.difference(name, wide, narrow, high=0, paper=True))
    return parts


def n07(tables: Tables) -> list[Part]:
    """With gates of the value network's own weights the error does not fall with the width.

    That the two limits differ is in the paper's words. How much, and at which widths it shows, is
    not.
    """
    parts = []
    for depth in DEPTHS:
        runs = _rows(tables["runs"], grows="width", gates="own", depth=depth)
        error = _rows(runs, width=512)["error"]
        limit = _rows(tables["curves"], curve="limit", depth=depth)["y"].iloc[0]
        name = f"d={depth}: error at infinite width"
        parts += [
            samples.mean(f"d={depth}: error at w=512", error, low=0.5, ours=REST, late=True),
            _slope(
                f"d={depth}: slope over w from 64 on",
                runs[runs["width"] >= 64],
                "width",
                low=-0.25,
                late=True,
                ours="half of the -1/2 at which it falls where gates are independent",
            ),
            Part(name=name, value=limit, low=0, strict=True, paper=True),
            Part(name=f"{name}, clearly", value=limit, low=0.5, ours=REST, late=True),
        ]
    return parts


def n10(tables: Tables) -> list[Part]:
    """Relative errors fall, like 1 / sqrt(m), with m copies of the gates of a feature network."""
    parts = []
    for depth in DEPTHS:
        runs = _rows(tables["runs"], grows="copies", gates="independent", depth=depth)
        parts += _falling(f"d={depth}: slope over m", runs, "copies", late=False)
    return parts


def _falling(name: str, runs: pd.DataFrame, over: str, late: bool) -> list[Part]:
    """The slope of the error against 0, which is the paper's limit, and against our band."""
    return [
        _slope(name, runs, over, high=0, paper=True),
        _slope(f"{name} near -1/2", runs, over, low=-0.65, high=-0.35, ours=RATE, late=late),
    ]


def n06(tables: Tables) -> list[Part]:
    """Exact variances at widths above 6 d, where the series of the proof converges.

    They lie below the bound that the proof prints. Since its constant is large, they are also
    tested for its order: proportional to 1 / w, and Var w / d^3 levels off with depth.
    """
    parts = []
    for entry, words in ENTRIES.items():
        exact = _rows(tables["variance"], form="exact", entry=entry)
        for depth in VARIANCE_DEPTHS:
            parts += _variance(
                f"{words}, d={depth}", _rows(exact, depth=depth), depth, SIGMA2[entry]
            )
        for width in WIDE:
            deep = _rows(exact, width=width, depth=32)["per_d3"].iloc[0]
            shallow = _rows(exact, width=width, depth=16)["per_d3"].iloc[0]
            growth = float(deep / shallow) if shallow else math.nan
            name = f"{words}, w={width}: Var w / d^3, d=32 over d=16"
            parts.append(Part(name=name, value=growth, high=1.5, ours=BOUNDED, late=True))
    return parts


def _variance(case: str, rows: pd.DataFrame, depth: int, sigma2: float) -> list[Part]:
    """Exact variances of one depth: below the printed bound, and proportional to 1 / w."""
    wide = rows[rows["width"] > 6 * depth]
    if len(wide) < 3:
        raise CannotDecideError(f"d={depth}: a slope needs three widths above 6 d")
    # 6 d_in^2 sigma'^2 (6 d^3 / w) / (1 - 6 d / w); here d_in = 1, and the input is 1
    bound = 36 * sigma2 * depth**3 / (wide["width"].astype(float) - 6 * depth)
    slope, _ = np.polyfit(np.log(wide["width"]), np.log(wide["variance"]), 1)
    return [
        Part(
            name=f"{case}: largest Var over the printed bound",
            value=float((wide["variance"] / bound).max()),
            high=1,
            paper=True,
        ),
        Part(
            name=f"{case}: slope of Var over w",
            value=float(slope),
            low=-1.2,
            high=-0.8,
            ours=ORDER,
            late=True,
        ),
    ]


def _rows(rows: pd.DataFrame, **values: object) -> pd.DataFrame:
    """The rows that have these values; an error if there is none."""
    for column, value in values.items():
        rows = rows[rows[column] == value]
    if rows.empty:
        names = ", ".join(f"{column} {value}" for column, value in values.items())
        raise CannotDecideError(f"no rows of {names}")
    return rows


def _slope(name: str, runs: pd.DataFrame, over: str, **thresholds: Unpack[PartFacts]) -> Part:
    x = np.log(runs[over].to_numpy(float))
    y = np.log(runs["error"].to_numpy(float))
    return samples.slope(f"{name}, log-log", x, y, **thresholds)
