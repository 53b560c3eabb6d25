"""Claims of npf and dgn on the tangent kernel of fixed gates at initialisation."""

import math
from typing import TYPE_CHECKING

import numpy as np

from finitewidth.claims.judges import samples
from finitewidth.claims.ledger import Tables
from finitewidth.claims.verdicts import CannotDecideError, Part

if TYPE_CHECKING:
    import pandas as pd

DEPTHS = (3, 5, 8)
VARIANCE_DEPTHS = (4, 8, 16, 32)
WIDE = (512, 1024)
# entries K(s, s): a share of 1 and of 1/2 of the gates is open
ENTRIES = {"open": "all gates open", "half": "half open"}


def n04(tables: Tables) -> list[Part]:
    """The mean kernel is d sigma^{2(d-1)} H, over all networks and over many drawn ones."""
    parts = []
    for row in _some(tables["mean"], networks="enumerated").itertuples():
        name = f"all {row.draws:,} networks, d={row.depth}, w={row.width}: largest error"
        parts.append(Part(name=name, value=row.mean_error, high=1e-12))
    for row in _some(tables["mean"], networks="drawn").itertuples():
        name = f"{row.draws:,} networks, {row.gates} gates, d={row.depth}, w={row.width}"
        parts.append(Part(name=f"{name}: largest z", value=row.max_z, high=4.5))
        parts.append(
            Part(
                name=f"{name}: trace over the formula's", value=row.trace_ratio, low=0.95,
                high=1.05, standard_error=row.trace_ratio_se, dof=row.draws - 1,
            )
        )  # fmt: skip
    return parts


def n05(tables: Tables) -> list[Part]:
    """Relative errors fall like 1 / sqrt(w) while gates and values grow wide."""
    parts = []
    for depth in DEPTHS:
        runs = _some(tables["runs"], grows="width", gates="independent", depth=depth)
        parts.append(_slope(f"d={depth}: slope over w", runs, "width", low=-0.65, high=-0.35))
        wide, narrow = (np.log(_some(runs, width=w)["error"]) for w in (512, 64))
        name = f"d={depth}: log error at w=512 minus at w=64"
        parts.append(samples.difference(name, wide, narrow, high=0))
    return parts


def n07(tables: Tables) -> list[Part]:
    """With gates of the value network's own weights the error does not fall with the width."""
    parts = []
    for depth in DEPTHS:
        runs = _some(tables["runs"], grows="width", gates="own", depth=depth)
        error = _some(runs, width=512)["error"]
        parts.append(samples.mean(f"d={depth}: error at w=512", error, low=0.5))
        wide = runs[runs["width"] >= 64]
        parts.append(_slope(f"d={depth}: slope over w from 64 on", wide, "width", low=-0.25))
        limit = _some(tables["curves"], curve="limit", depth=depth)["y"].iloc[0]
        parts.append(Part(name=f"d={depth}: error at infinite width", value=limit, low=0.5))
    return parts


def n10(tables: Tables) -> list[Part]:
    """Relative errors fall like 1 / sqrt(m) with m copies of the gates of one feature network."""
    parts = []
    for depth in DEPTHS:
        runs = _some(tables["runs"], grows="copies", gates="independent", depth=depth)
        parts.append(_slope(f"d={depth}: slope over m", runs, "copies", low=-0.65, high=-0.35))
    return parts


def n06(tables: Tables) -> list[Part]:
    """Exact variances: proportional to 1 / w where 6 d < w; Var w / d^3 levels off with depth."""
    parts = []
    for entry, words in ENTRIES.items():
        exact = _some(tables["variance"], form="exact", entry=entry)
        for depth in VARIANCE_DEPTHS:
            wide = _some(exact[exact["width"] > 6 * depth], depth=depth)
            if len(wide) < 3:
                raise CannotDecideError(f"d={depth}: a slope needs three widths above 6 d")
            slope = np.polyfit(np.log(wide["width"]), np.log(wide["variance"]), 1)[0]
            name = f"{words}, d={depth}: slope of Var over w"
            parts.append(Part(name=name, value=float(slope), low=-1.2, high=-0.8))
        for width in WIDE:
            name = f"{words}, w={width}: Var w / d^3, d=32 over d=16"
            parts.append(Part(name=name, value=_growth(exact, width, "per_d3", 16), high=1.5))
    return parts


def d02(tables: Tables) -> list[Part]:
    """Exact variances: Var w / d^2 from depth 4 to 32."""
    return [
        Part(
            name=f"{words}, w={width}: Var w / d^2, d=32 over d=4",
            value=_growth(
                _some(tables["variance"], form="exact", entry=entry), width, "per_d2", 4
            ),
            high=2,
        )
        for entry, words in ENTRIES.items()
        for width in WIDE
    ]  # fmt: skip


def _some(rows: "pd.DataFrame", **wanted: object) -> "pd.DataFrame":
    """The rows that have these values.

    Raises:
        CannotDecideError: there is none.
    """
    for column, value in wanted.items():
        rows = rows[rows[column] == value]
    if rows.empty:
        words = ", ".join(f"{column} {value}" for column, value in wanted.items())
        raise CannotDecideError(f"no rows of {words}")
    return rows


def _slope(name: str, runs: "pd.DataFrame", over: str, **thresholds: float) -> Part:
    x, y = np.log(runs[over].to_numpy(float)), np.log(runs["error"].to_numpy(float))
    return samples.slope(f"{name}, log-log", x, y, **thresholds)


def _growth(exact: "pd.DataFrame", width: int, column: str, depth: int) -> float:
    """The column at depth 32 over that at ``depth``."""
    deep, shallow = (_some(exact, width=width, depth=d)[column].iloc[0] for d in (32, depth))
    return float(deep / shallow) if shallow else math.nan
