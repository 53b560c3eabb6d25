"""Made-up rows for the claims on fixed gates, of npf and dgn."""

import pandas as pd

DEPTHS = (3, 5, 8)
WIDTHS = (16, 32, 64, 128, 256, 512)


def means(error=1e-15, z=3.0, trace=1.001):
    common = {"depth": 3, "width": 64, "draws": 2000, "trace_ratio": trace, "trace_ratio_se": 0.002}
    rows = [
        {**common, "networks": "enumerated", "gates": "bernoulli", "mean_error": error},
        {**common, "networks": "drawn", "gates": "relu", "mean_error": 0.01, "max_z": z},
    ]
    return {"mean": pd.DataFrame(rows)}


def errors(grows, slope, gates="independent", start=1.0):
    """Four runs per place, errors start · (place / 16)^slope within 2 %."""
    rows = [
        {
            "grows": grows, "gates": gates, "depth": depth, "run": run,
            "width": place if grows == "width" else 16,
            "copies": 1 if grows == "width" else place / 16,
            "error": start * (place / 16) ** slope * (0.98 + 0.01 * run),
        }
        for depth in DEPTHS for place in WIDTHS for run in range(4)
    ]  # fmt: skip
    return {"runs": pd.DataFrame(rows)}


def own_gates(slope, limit):
    rows = [{"curve": "limit", "depth": depth, "x": 16, "y": limit} for depth in DEPTHS]
    return errors("width", slope, "own") | {"curves": pd.DataFrame(rows)}


def variances(power):
    """Var = d^power / w (1 - 1 / d), exactly."""
    rows = []
    for entry in ("open", "half"):
        for width in (64, 128, 256, 512, 1024):
            for depth in (4, 8, 16, 32):
                value = depth**power / width * (1 - 1 / depth)
                rows.append(
                    {"entry": entry, "form": "exact", "width": width, "depth": depth,
                     "variance": value, "per_d2": value * width / depth**2,
                     "per_d3": value * width / depth**3}
                )  # fmt: skip
    return {"variance": pd.DataFrame(rows)}


ROWS = {
    "N04": (means, lambda: means(trace=0.5)),
    "N05": (lambda: errors("width", -0.5), lambda: errors("width", 0.2)),
    "N06": (lambda: variances(3), lambda: variances(5)),
    "N07": (lambda: own_gates(0.0, 1.0), lambda: own_gates(-0.5, 0.0)),
    "N10": (lambda: errors("copies", -0.5), lambda: errors("copies", 0.2)),
}
