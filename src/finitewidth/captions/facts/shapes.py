"""Facts of the figure that compares growing, constant and shrinking networks of ``beyond``."""

from typing import Any

import pandas as pd

from finitewidth.captions.facts import Tables
from finitewidth.captions.facts.rows import only, span, values_of, where

EDGE = 2.0  # sigma_w^2 at the edge of chaos
EARLY = 0.5  # of k/L: layers up to it are near the input
LITTLE = 0.5  # coefficient of a layer, of at most 5, up to which it hardly counts


def compared(tables: Tables) -> dict[str, Any]:
    """Where which of the architectures has the larger exact r, and how layers count."""
    dispersions, ratios = tables["dispersions"], tables["ratios"]
    inputs = where(dispersions, input="own")
    own, common = (
        where(ratios, input=kind, first="growing", second="shrinking") for kind in ("own", "common")
    )
    found: dict[str, Any] = {
        name: only(where(inputs, architecture=name), "input_width")
        for name in ("growing", "constant", "shrinking")
    }
    found["points"] = len(own)
    found |= _around_the_edge(own)
    found["common_larger"] = int((common["y"] > 0).sum())
    found["input_decides"] = found["around"] and len(common) > 0 and not found["common_larger"]
    found |= _against_constant(where(ratios, input="own", second="constant"))
    chaotic = own[own["sigma_w2"] > EDGE]
    found["chaotic_points"], found["chaotic_below"] = len(chaotic), int((chaotic["y"] < 0).sum())
    found["both_ways"] = found["chaotic_below"] > 0 and found["ordered_above"] > 0
    return found | _of_layers(tables["layers"])


def _around_the_edge(rows: pd.DataFrame) -> dict[str, Any]:
    """Whether growing networks have the larger r in one range of sigma_w^2 around the edge."""
    deepest = rows[rows["depth"] == rows["depth"].max()].sort_values("sigma_w2")
    larger = deepest[deepest["y"] > 0]["sigma_w2"]
    inside = deepest[deepest["sigma_w2"].between(larger.min(), larger.max())]
    one_range = len(larger) > 0 and bool((inside["y"] > 0).all()) and len(inside) < len(deepest)
    return {
        "deepest": int(rows["depth"].max()),
        "larger": int((rows["y"] > 0).sum()),
        "range": span(larger),
        "around": bool(one_range and larger.min() <= EDGE <= larger.max()),
        "factor": float(10 ** rows["y"].max()),
    }


def _against_constant(rows: pd.DataFrame) -> dict[str, Any]:
    """Growing networks against constant ones below the edge; all of them at the edge and above."""
    growing = where(rows, first="growing")
    ordered, rest = growing[growing["sigma_w2"] < EDGE], rows[rows["sigma_w2"] >= EDGE]
    return {
        "ordered_points": len(ordered),
        "ordered_above": int((ordered["y"] > 0).sum()),
        "constant_lowest": len(rest) > 0 and bool((rest["y"] > 0).all()),
    }


def _of_layers(layers: pd.DataFrame) -> dict[str, Any]:
    """Coefficients of layers near the input, below the edge and at the edge."""
    early = layers[layers["x"] <= EARLY]
    below = early[early["sigma_w2"] < EDGE]
    start = where(early, sigma_w2=EDGE, input="own").sort_values("layer")
    growing, shrinking = (
        only(where(start, architecture=name), "y") for name in ("growing", "shrinking")
    )
    known = growing is not None and shrinking is not None
    return {
        "early": EARLY,
        "variances": values_of(below, "sigma_w2"),
        "layers_depth": int(layers["depth"].max()),
        "below": float(below["y"].max()) if len(below) else None,
        "output_counts": len(below) > 0 and bool(below["y"].max() <= LITTLE),
        "start_growing": growing,
        "start_shrinking": shrinking,
        "start_differs": bool(known and growing > shrinking),
    }
