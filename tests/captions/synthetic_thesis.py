"""Small tables of the thesis in which what a caption speaks of is so (``effect``), or is not."""

import pandas as pd

from finitewidth.common.settings import preset_only
from finitewidth.experiments.thesis import concepts

RATIOS = (0.5, 0.96, 1.0, 1.04, 2.0, 10.0)


def drawings(effect):
    """Drawings, which show the same whatever the data."""
    return concepts.measure({}, preset_only("quick", "config")["thesis"]["concepts"])


def polynomials(effect):
    """Risks by degree; effect: training risk falls, expected risk turns, its mean is far off."""
    curves = {
        "training": [0.5, 0.3, 0.2, 0.1] if effect else [0.5, 0.6, 0.2, 0.1],
        "expected": [0.5, 0.2, 0.4, 4.0] if effect else [0.5, 0.6, 0.4, 0.5],
    }
    rows = [
        {
            "degree": degree, "parameters": degree + 1, "kind": kind, "median": median,
            "low": median / 2, "high": 2 * median, "mean": median * (500 if effect else 1),
            "best": median == min(medians), "noise": 0.09, "samples": 20, "draws": 400,
        }
        for kind, medians in curves.items() for degree, median in enumerate(medians)
    ]  # fmt: skip
    return {"risks": pd.DataFrame(rows)}


def regression(effect):
    """Risks by ratio; effect: draws agree, a peak, finite N is larger, signs, and one rise."""
    drawn, curves = [], []
    for noise in (0.25, 4.0):
        case = {"case": f"r^2/sigma^2 = {1 / noise:g}", "noise": noise}
        for x in RATIOS:
            near = abs(x - 1) < 0.1
            limit = noise * (3.0 if near else 1 + 1 / x)
            if effect and x == 10 and noise < 1:
                limit *= 5
            if not effect and x > 1:
                limit = noise * {1.04: 0.5, 2.0: 1.0, 10.0: 2.0}[x]
            exact = limit * (1.2 if effect and near else 1.01 if effect else 0.9)
            drawn.append({
                **case, "x": x, "size": 200, "draws": 200, "mean": exact + (0 if effect else 1),
                "mean_error": 0.01, "median": exact * (50 if effect and x == 1 else 1),
                "median_error": 0.01, "low": exact / 2, "high": 2 * exact, "exact": exact,
                "has_mean": x != 1, "has_variance": not near,
            })  # fmt: skip
            if x != 1:
                printed = -limit if effect and x in (1.04, 2.0) else limit
                for curve, y in (("exact", exact), ("corrected", limit), ("printed", printed)):
                    curves.append({**case, "curve": curve, "x": x, "size": 200, "y": y})
    return {"drawn": pd.DataFrame(drawn), "curves": pd.DataFrame(curves)}


TABLES = {
    "thesis_fig2_1": drawings, "thesis_fig2_2": drawings,
    "thesis_fig2_3": polynomials, "thesis_fig2_4": regression,
}  # fmt: skip
