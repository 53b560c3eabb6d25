"""Facts of the caption of ``trust_extra_scaled``: the same networks at a common and a scaled rate.

Tables: ``<activation>_<rule>_<table>`` of `finitewidth.experiments.trust.descent`.
"""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.captions.facts import Tables
from finitewidth.captions.facts.rows import only, span, values_of
from finitewidth.captions.facts.trained import CHAOTIC, NAMES, ORDERED

RULES = ("common", "scaled")
TABLES = ("changes", "networks", "borders")
KEPT = 0.9  # of the loss of the best constant output, as in claim T14
STEEP = 2.0  # rate times lambda_max
CELL = ["activation", "sigma_w2", "depth"]
NETWORK = [*CELL, "seed"]


def control(tables: Tables) -> dict[str, Any]:
    """Which ordered networks train at their own rate, and which orders of the phases remain."""
    rows = pd.concat([_pairs(tables, activation) for activation in NAMES], ignore_index=True)
    steep = rows.groupby(CELL)["eta_lambda_common"].transform("mean") > STEEP
    flat = rows[~steep]
    deep = {activation: _deepest(flat[flat["activation"] == activation]) for activation in NAMES}
    deep = {activation: own for activation, own in deep.items() if len(own)}
    turned = [NAMES[name] for name, own in deep.items() if _turned(own)]
    return {
        "pairs": len(rows), "width": only(rows, "width"), "bias": only(rows, "sigma_b2"),
        "steps_common": _last(tables, "common"), "steps_scaled": _last(tables, "scaled"),
        "rates": span(rows["rate_scaled"]), "rate": only(rows, "rate_common"),
        **_gained(rows[rows["place"] <= ORDERED + 1e-9]),
        "lines": "; ".join(_line(name, own) for name, own in deep.items()),
        "turned": turned, "names": " and ".join(turned),
        "changes_alike": bool(deep) and all(_grows(own, rule)
                                            for own in deep.values() for rule in RULES),
        "diverged": int(rows[[f"diverged_{rule}" for rule in RULES]].to_numpy().sum()),
    }  # fmt: skip


def _pairs(tables: Tables, activation: str) -> pd.DataFrame:
    """One row per network: change at the end, lowest loss over a constant's, and rate, of both."""
    found = [_ended(tables, activation, rule) for rule in RULES]
    rows = found[1].merge(found[0], on=[*NETWORK, "sigma_b2", "width"],
                          suffixes=("_scaled", "_common"))  # fmt: skip
    borders = tables[f"{activation}_scaled_borders"].rename(columns={"sigma_w2": "border"})
    rows = rows.merge(borders, on=["activation", "sigma_b2"])
    return rows.assign(place=rows["sigma_w2"] / rows["border"])


def _ended(tables: Tables, activation: str, rule: str) -> pd.DataFrame:
    changes, networks, _ = (tables[f"{activation}_{rule}_{name}"] for name in TABLES)
    keys = [*NETWORK, "sigma_b2", "width"]
    ends = changes.loc[changes["time"] == changes["time"].max(), [*keys, "change"]]
    ratio = networks["lowest_loss"] / networks["constant_loss"]
    rows = networks.assign(loss=ratio.where(networks["diverged"] == 0))
    return ends.merge(rows[[*keys, "loss", "rate", "eta_lambda", "diverged"]], on=keys)


def _gained(ordered: pd.DataFrame) -> dict[str, Any]:
    """Ordered cells that keep the loss of a constant at the common rate, and not at their own."""
    cells = ordered.groupby(CELL, as_index=False)[["loss_common", "loss_scaled"]].mean()
    lost = cells[cells["loss_common"] >= KEPT]
    trained = lost["loss_scaled"] < KEPT
    deepest = lost["depth"] == cells["depth"].max()
    return {
        "kept": KEPT, "lost": len(lost), "trained": int(trained.sum()),
        "mostly": bool(len(lost) and trained.mean() > 0.5),
        "deepest": int(cells["depth"].max()) if len(cells) else None,
        "lost_deep": int(deepest.sum()), "trained_deep": int((trained & deepest).sum()),
    }  # fmt: skip


def _deepest(flat: pd.DataFrame) -> pd.DataFrame:
    """The networks of the largest depth that has cells of both phases."""
    phases = _phases(flat)
    both = set(phases["ordered"]["depth"]) & set(phases["chaotic"]["depth"])
    return flat[flat["depth"] == max(both)] if both else flat.iloc[:0]


def _phases(rows: pd.DataFrame) -> Mapping[str, pd.DataFrame]:
    return {
        "ordered": rows[rows["place"] <= ORDERED + 1e-9],
        "chaotic": rows[rows["place"] >= CHAOTIC - 1e-9],
    }


def _means(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """Mean of each phase for each seed."""
    phases = _phases(rows)
    return pd.DataFrame({name: own.groupby("seed")[column].mean() for name, own in phases.items()})


def _turned(rows: pd.DataFrame) -> bool:
    """Whether, in every seed, ordered networks keep more of the loss at the common rate only."""
    common, scaled = (_means(rows, f"loss_{rule}") for rule in RULES)
    return bool(
        len(common)
        and (common["ordered"] > common["chaotic"]).all()
        and (scaled["ordered"] <= scaled["chaotic"]).all()
    )


def _grows(rows: pd.DataFrame, rule: str) -> bool:
    means = _means(rows, f"change_{rule}").mean()
    return bool(means["chaotic"] > means["ordered"])


def _line(activation: str, rows: pd.DataFrame) -> str:
    """``tanh, L = 15: 1.00 and 0.70 (common), 0.85 and 1.40 (scaled)``."""
    words = []
    for rule in RULES:
        means = _means(rows, f"loss_{rule}").mean()
        words.append(f"{means['ordered']:.2f} and {means['chaotic']:.2f} ({rule})")
    return f"{NAMES[activation]}, L = {int(rows['depth'].iloc[0])}: {', '.join(words)}"


def _last(tables: Tables, rule: str) -> int | None:
    times = values_of(tables[f"tanh_{rule}_changes"], "time")
    return int(times[-1]) if times else None
