"""Facts of the captions of the thesis."""

from typing import Any

import pandas as pd

from finitewidth.captions.facts import Tables, blocks
from finitewidth.captions.facts.rows import CLEAR, ERRORS, falls, only, rises, span, where
from finitewidth.experiments.thesis import classical, risk

CLOSE, FAR = 0.05, 0.5  # distances of the ratio from 1: up to which, and from which on
HALF, TWICE = 0.5, 2.0  # ratios that the peak is compared with
HEAVY = 100  # mean over median from which on a few datasets are told to rule the mean


def thesis_fig2_1(tables: Tables) -> dict[str, Any]:
    """Sizes and numbers of parameters of the network."""
    nodes = where(tables["network"], kind="node")
    sizes = nodes.groupby("layer")["end"].count().tolist()
    weights = len(where(tables["network"], kind="weight"))
    return {
        "depth": len(sizes) - 1, "inputs": sizes[0], "hidden": sizes[1:-1], "outputs": sizes[-1],
        "weights": weights, "biases": sum(sizes[1:]), "parameters": weights + sum(sizes[1:]),
    }  # fmt: skip


def thesis_fig2_2(tables: Tables) -> dict[str, Any]:
    """Sizes of the three drawings."""
    layers = tables["layers"]
    image, recurrent, residual = (
        where(layers, drawing=name) for name in ("convolution", "recurrent", "residual")
    )
    pixels = where(image, kind="node").groupby("layer")["end"].count()
    return {
        "side": round(int(pixels[0]) ** 0.5), "across": round(int(pixels[1]) ** 0.5),
        "weights": int(image["weight"].max()), "dense": int(pixels[0] * pixels[1]),
        "units": int(where(recurrent, kind="recurrent")["end"].max()),
        "loops": len(where(recurrent, kind="recurrent")),
        "added": len(where(residual, kind="identity")),
    }  # fmt: skip


def thesis_fig2_3(tables: Tables) -> dict[str, Any]:
    """Where the expected risk is lowest, and whether the curves have the classical form."""
    rows = tables["risks"]
    training, expected = (
        where(rows, kind=kind).sort_values("degree") for kind in ("training", "expected")
    )
    best = int(only(where(expected, best=True), "degree"))
    medians = expected.set_index("degree")["median"]
    outliers = float(expected["mean"].iloc[-1] / expected["median"].iloc[-1])
    last = int(medians.index[-1])
    return {
        "samples": int(rows["samples"].iloc[0]),
        "draws": int(rows["draws"].iloc[0]),
        "largest": last,
        "noise": float(rows["noise"].iloc[0]),
        "best": best,
        "lowest": float(medians[best]),
        "training_ends": [float(training["median"].iloc[place]) for place in (0, -1)],
        "training_falls": falls(training["median"].tolist()),
        "last": float(medians[last]),
        "turns": falls(medians.loc[:best].tolist()) and rises(medians.loc[best:].tolist()),
        "band": list(classical.BAND),
        "outliers": HEAVY,
        "heavy": outliers > HEAVY,
    }


def thesis_fig2_4(tables: Tables) -> dict[str, Any]:
    """Peak, agreement of draws with the exact mean, and what (2.46) says on either side of 1."""
    drawn, curves = tables["drawn"], tables["curves"]
    means = drawn[drawn["has_variance"].astype(bool)]
    scores = ((means["mean"] - means["exact"]) / means["mean_error"]).abs()
    signal = [_case(own) for _, own in curves.groupby("case", sort=False)]
    strong, weak = ([one for one in signal if one["turns"] == turns] for turns in (True, False))
    found = {
        "samples": int(drawn["size"].iloc[0]),
        "draws": int(drawn["draws"].iloc[0]),
        "agree": len(scores) > 0 and bool(scores.max() <= CLEAR),
        "compared": len(scores),
        "errors": CLEAR,
        "bar": ERRORS,
        "band": list(risk.BAND),
        "middle": 1.0,
        "turns": bool(strong),
        "turn_noise": strong[0]["noise"] if strong else None,
        "turn": strong[0]["turn"] if strong else None,
        "turn_risk": strong[0]["lowest"] if strong else None,
        "end_ratio": float(curves["x"].max()),
        "end_risk": strong[0]["end"] if strong else None,
        "falls": bool(weak),
        "falls_noise": weak[0]["noise"] if weak else None,
        "negative": span(signal[0]["negative"]),
        "negative_noise": signal[0]["noise"],
    }
    return found | _peak(drawn) | _near(curves)


def thesis_fig2_5(tables: Tables) -> dict[str, Any]:
    """Blocks of classes in the kernel of one network."""
    return blocks.heat_maps(tables)


def _case(curves: pd.DataFrame) -> dict[str, Any]:
    """How the corrected limit goes on above 1, and where the printed one is negative."""
    above = where(curves, curve="corrected").query("x > 1").sort_values("x")
    printed = where(curves, curve="printed").query("y < 0")
    lowest = above.loc[above["y"].idxmin()] if len(above) else None
    return {
        "noise": float(curves["noise"].iloc[0]),
        "turns": len(above) > 0 and float(lowest["x"]) < float(above["x"].iloc[-1]),
        "turn": float(lowest["x"]) if len(above) else None,
        "lowest": float(lowest["y"]) if len(above) else None,
        "end": float(above["y"].iloc[-1]) if len(above) else None,
        "negative": printed["x"].tolist(),
    }


def _peak(drawn: pd.DataFrame) -> dict[str, Any]:
    """Median at the ratio 1 over the larger of those at half and at twice this ratio."""
    factors = []
    for _, own in drawn.groupby("case"):
        medians = own.set_index("x")["median"]
        beside = [ratio for ratio in (HALF, TWICE) if ratio in medians.index]
        if beside and 1.0 in medians.index:
            factors.append(float(medians[1.0] / medians[beside].max()))
    return {
        "half": HALF, "twice": TWICE, "peak": span(factors),
        "peaks": bool(factors) and min(factors) > 1,
    }  # fmt: skip


def _near(curves: pd.DataFrame) -> dict[str, Any]:
    """By how much the exact mean is larger than the limit, close to the ratio 1 and far from it."""
    exact, limit = (
        where(curves, curve=name).set_index(["case", "x"])["y"] for name in ("exact", "corrected")
    )
    excess = (exact / limit - 1).dropna()
    distance = (excess.index.get_level_values("x").to_series(index=excess.index) - 1).abs()
    close, far = excess[distance <= CLOSE + 1e-9], excess[distance >= FAR - 1e-9]
    return {
        "close": CLOSE,
        "far": FAR,
        "excess_close": span(close),
        "excess_far": float(far.abs().max()) if len(far) else None,
        "finite_larger": len(far) > 0 and len(close) > 0 and bool(close.min() > 0),
    }
