"""Facts on trained networks of ``collapse``: Figures 1 to 20, and NC3 against weight decay.

Tables: those of `collapse_models_<pair>`, and `collapse_decay`.
"""

import re
from typing import Any

import numpy as np
import pandas as pd

from finitewidth.captions.facts import Tables
from finitewidth.captions.facts.rows import only, rises, span, values_of, where

NETWORKS = {"vgg": "VGG", "resnet": "ResNet", "densenet": "DenseNet"}
INITS = {"lecun": "LeCun", "torch": "PyTorch", "he": "He"}
MODELS = {"collapsed": "closest to collapse", "other": "far from collapse"}
CHOICES = {  # why a network is the one of the heat maps
    "printed": "the rate that the paper prints",
    "collapsed": "the rate of the network closest to collapse",
    "best": "the rate with the best test accuracy",
}
ALIKE = (0.8, 1.25)  # range of |E| / |W^T W| in which |E| measures |W^T W| alone
SMALL = 0.1  # of |H_2 H_2^T| / |H_1 H_1^T|, as in claim K14
UNEVEN = 0.5  # smallest over largest norm on the diagonal below which their range is told
LATE = 5.0  # tau from which on initialisations are compared
APART = 2.0  # ratio of medians from which on they count as different
FITTED = 0.95  # training accuracy below which the figure has hollow markers
BAND = 0.3  # below the best test accuracy: networks beyond it are triangles in pane h


def invariant(tables: Tables) -> dict[str, Any]:
    """Picked models, invariant and neural collapse, for panes a to h and, if shown, i and j."""
    rates, picks, curves = tables["rates"], tables["picks"], tables["curves"]
    pair, found = str(rates["pair"].iloc[0]), where(picks, found=1)
    epochs = values_of(curves, "epoch")
    known = rates["per_class"] if "per_class" in rates else pd.Series(dtype=float)
    smoothed = (curves["smooth"] - curves["value"]).abs() > 0
    return {
        "network": _network(pair), "squared": not pair.endswith("_ce"),
        "inits": _inits(rates["init"]), "rates": rates["rate_index"].nunique(),
        "rate_range": span(rates["rate"]),
        "points": len(epochs), "last": epochs[-1] if epochs else None,
        "smoothed": bool(smoothed.any()),
        "per_class": int(known.iloc[0]) if len(known) else None,
        "threshold": only(tables["lines"], "threshold"),
        "unfitted": int(tables["lines"]["epoch"].isna().sum()),
        "steps_text": _steps(found), "missing_text": _missing(picks),
        "collapsed_accuracy": span(where(found, model="collapsed")["test_accuracy"]),
        "other_accuracy": span(where(found, model="other")["test_accuracy"]),
        "both": set(found["model"]) == set(MODELS),
        "fitted": FITTED, "poor": bool((rates["train_accuracy"] < FITTED).any()),
        "cut": bool((rates["test_accuracy"] < rates["test_accuracy"].max() - BAND).any()),
        **_alone(curves), **_compared(curves, found), **_by_rate(rates), **_terms(tables),
    }  # fmt: skip


def _network(pair: str) -> str:
    return NETWORKS[pair.partition("_")[0]]


def _inits(names: pd.Series) -> list[str]:
    present = set(names)
    return [title for name, title in INITS.items() if name in present]


def _steps(found: pd.DataFrame) -> str:
    """Which models each step of the rule found."""
    parts = []
    for step, rows in found.groupby("step", sort=False):
        models = (f"{MODELS[model]}: {', '.join(_inits(own['init']))}"
                  for model, own in rows.groupby("model", sort=False))  # fmt: skip
        parts.append(f"{step} ({'; '.join(models)})")
    return ", ".join(parts)


def _missing(picks: pd.DataFrame) -> str:
    """Which models were not found."""
    lost = where(picks, found=0)
    parts = [f"{MODELS[model]} ({', '.join(_inits(own['init']))})"
             for model, own in lost.groupby("model", sort=False)]  # fmt: skip
    return " and ".join(parts)


def _ends(curves: pd.DataFrame, quantity: str) -> pd.DataFrame:
    """The raw values at the last epoch: initialisations by models."""
    own = where(curves, quantity=quantity)
    own = own[own["epoch"] == own["epoch"].max()]
    table = own.pivot_table(index="init", columns="model", values="value")
    return table.reindex(columns=list(MODELS))


def _alone(curves: pd.DataFrame) -> dict[str, Any]:
    """Whether |E| at the end is about |W^T W| in all models."""
    values = span(_ends(curves, "e_relative").to_numpy().ravel())
    alike = values is not None and values[0] >= ALIKE[0] and values[1] <= ALIKE[1]
    return {"relative": values, "alone": alike}


def _compared(curves: pd.DataFrame, found: pd.DataFrame) -> dict[str, Any]:
    """Both models of the same initialisation: alignments, NC3."""
    kernels = found.pivot_table(index="init", columns="model", values="alignment_theta_h")
    tables = {
        "invariant": (_ends(curves, "invariant_alignment"), 1), "nc3": (_ends(curves, "nc3"), -1),
        "kernel": (kernels.reindex(columns=list(MODELS)), 1),
    }  # fmt: skip
    facts = {}
    for name, (table, sign) in tables.items():
        both = table.dropna()
        differ = sign * (both["collapsed"] - both["other"])
        facts |= {
            f"{name}_collapsed": span(both["collapsed"]), f"{name}_other": span(both["other"]),
            f"{name}_apart": len(both) > 0 and bool((differ > 0).all()),
        }  # fmt: skip
    return facts


def _by_rate(rates: pd.DataFrame) -> dict[str, Any]:
    """NC3 at the smallest and at the largest rate of each initialisation."""
    known = rates.dropna(subset=["nc3"]).sort_values("rate").groupby("init")["nc3"]
    first, last = known.first(), known.last()
    return {
        "nc3_slow": span(first), "nc3_fast": span(last),
        "falls": bool((rates.groupby("init")["rate"].nunique() > 1).all())
        and len(first) > 0 and bool(first.min() > last.max()),
    }  # fmt: skip


def _terms(tables: Tables) -> dict[str, Any]:
    """Norms of the terms of the features over that of the class means, near collapse."""
    facts: dict[str, Any] = dict.fromkeys(("within", "global"))
    if "ends" in tables:
        ends = where(tables["ends"], model="collapsed")
        table = ends.pivot_table(index="init", columns="quantity", values="value")
        if {"h1", "h2", "hbar"} <= set(table):
            facts = {"within": span(table["h2"] / table["h1"]),
                     "global": span(table["hbar"] / table["h1"])}  # fmt: skip
    return facts | {"small": facts["within"] is not None and facts["within"][1] < SMALL}


def blocks(tables: Tables) -> dict[str, Any]:
    """The network of the heat maps: blocks, norms and alignments of both kernels."""
    about, norms = tables["blocks"], tables["norms"]
    first = about.iloc[0]
    facts: dict[str, Any] = {
        "network": _network(first["pair"]), "init": INITS[first["init"]],
        "rate": float(first["rate"]), "choice": CHOICES.get(first["choice"], first["choice"]),
        "per_class": int(first["per_class"]), "classes": tables["traced"]["class_row"].nunique(),
        "outputs": int(where(norms, kernel="theta")["column"].max()) + 1,
        "features": int(where(norms, kernel="theta_h")["column"].max()) + 1,
    }  # fmt: skip
    ratios, medians, grows = [], [], []
    for kernel in ("theta", "theta_h"):
        own = where(about, kernel=kernel).sort_values("epoch").iloc[-1]
        curve = where(tables["alignments"], kernel=kernel).sort_values("epoch")
        values = [float(value) for value in curve["value"].iloc[[0, -1]]]
        ratios.append(float(own["ratio"]))
        medians.append(float(own["norm_ratio"]))
        grows.append(rises(values))
        facts |= {
            f"{kernel}_ratio": _finite(ratios[-1]), f"{kernel}_norms": _finite(medians[-1]),
            f"{kernel}_first": values[0], f"{kernel}_last": values[1],
        }  # fmt: skip
    own = where(norms, kernel="theta_h")
    diagonal = own[own["row"] == own["column"]]["value"]
    least = float(diagonal.min() / diagonal.max())
    return facts | {
        "blocked": all(np.isfinite(ratio) and ratio > 1 for ratio in ratios),
        "diagonal": all(np.isfinite(median) and median < 1 for median in medians),
        "rises": all(grows), "least": least, "uneven": least < UNEVEN,
    }  # fmt: skip


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


def decay(tables: Tables) -> dict[str, Any]:
    """How NC3 falls with tau, the control without decay, and He's initialisation."""
    runs, ranks = tables["runs"], tables["ranks"]
    plain, others = runs[runs["decay"] == 0], runs[runs["decay"] > 0]
    late = others[(others["tau"] >= LATE) & (others["train_accuracy"] >= FITTED)]
    fitted = plain[plain["train_accuracy"] >= FITTED]
    is_he = late["init"] == "he"
    medians = [float(late[mark]["nc3"].median()) for mark in (is_he, ~is_he)]
    used = sorted({name for text in ranks["inits"] for name in re.findall(r"[a-z]+", str(text))})
    least = float(plain["nc3"].min()) if len(plain) else None
    return {
        "runs": len(others), "tau_range": span(others["tau"]), "fitted": FITTED,
        "used": _inits(pd.Series(used, dtype=object)),
        "correlation": span(ranks["rank_correlation"]),
        "falls": len(ranks) > 0 and bool((ranks["rank_correlation"] < 0).all())
        and span(ranks["rank_correlation"]) is not None,
        "plain": len(plain), "plain_least": least,
        "plain_network": _network(plain["pair"].iloc[0]) if len(plain) else None,
        "plain_accuracy": span(fitted["test_accuracy"]),
        "late": LATE, "he_late": span(late[is_he]["nc3"]), "others_late": span(late[~is_he]["nc3"]),
        "he_runs": int(is_he.sum()), "he_dead": int((late[is_he]["dead"] > 0).sum()),
        "leaves": bool(medians[0] > APART * medians[1]),
        "no_collapse": least is not None and bool(least > _collapsed(late[~is_he])),
    }  # fmt: skip


def _collapsed(late: pd.DataFrame) -> float:
    """The largest NC3 at a late tau; infinite where there is none."""
    return float(late["nc3"].max()) if late["nc3"].notna().any() else float("inf")
