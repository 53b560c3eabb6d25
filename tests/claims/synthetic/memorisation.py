"""Made-up errors of memorisation networks, which claims of two papers read."""

from itertools import product

import pandas as pd

DEPTHS = (2, 4, 6, 8, 12, 16, 20)


def errors_of(levels, runs=10):
    """log10 errors by width and depth, the same after 100 and 1000 steps."""
    rows = []
    for width, of_depth in levels.items():
        for (depth, level), dynamics, run, time in product(
            of_depth.items(), ("gradient descent", "linear recursion"), range(runs), (100, 1000)
        ):
            rows.append(
                {
                    "width": width,
                    "depth": depth,
                    "dynamics": dynamics,
                    "run": run,
                    "time": time,
                    "ratio": 10 ** (level + 0.01 * (run - (runs - 1) / 2)),
                }
            )
    return {"errors": pd.DataFrame(rows)}


def errors_and_trend(levels):
    """The same errors twice: of the networks of the figures, and of those of their own."""
    errors = errors_of(levels)["errors"]
    narrow = errors[(errors["width"] == 25) & (errors["dynamics"] == "gradient descent")]
    return {"errors": errors, "trend": narrow}


def best_at(**depths):
    """log10 errors of width 25 and 500, smallest at the depths ``narrow`` and ``wide``."""
    return {25: _lowest_at(depths["narrow"]), 500: _lowest_at(depths["wide"])}


def _lowest_at(best):
    return {depth: abs(depth - best) / 10 - 3 for depth in DEPTHS}
