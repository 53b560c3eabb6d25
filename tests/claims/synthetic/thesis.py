"""Made-up rows for the claims of the thesis on linear regression."""

from functools import partial

import pandas as pd

RATIOS = (0.1, 0.5, 0.75, 1.25, 2.0, 10.0)
SIZES = (1000, 2000, 4000, 8000)


def limit(x, noise):
    """Rises up to 1 and falls from there; not (2.46), which falls for little signal only."""
    return noise * (x / (1 - x) if x < 1 else 1 + 1 / (x - 1))


def regression(turn=0.0, limits=1.0, peak=30.0, means=1.0, distance=1e-8):
    """Tables of thesis_risk; the limit may rise again by ``turn`` times log ratio beyond 2."""
    drawn = []
    curves = []
    doubled = []
    for noise in (0.25, 4.0):
        case = {"case": f"r^2/sigma^2 = {1 / noise:g}", "noise": noise}
        for x in sorted([*RATIOS, 1.0]):
            # no mean exists at the ratio 1, but draws have one
            exact = limit(x, noise) if x != 1 else float("nan")
            median = peak * noise if x == 1 else exact
            mean = 100 * median if x == 1 else means * exact
            drawn.append(
                {
                    **case,
                    "x": x,
                    "size": 200,
                    "draws": 200,
                    "mean": mean,
                    "mean_error": 0.005 * mean,
                    "median": median,
                    "median_error": 0.02 * median,
                    "exact": exact,
                }
            )
        for x in (*RATIOS, 3.0, 5.0):
            y = limit(x, noise) + turn * noise * max(0, x - 2)
            curves.append({**case, "curve": "corrected", "x": x, "size": 200, "y": y})
            curves.append({**case, "curve": "printed", "x": x, "size": 200, "y": -y})
        for x in RATIOS:
            for size in SIZES:
                y = limit(x, noise)
                doubled.append(
                    {**case, "x": x, "size": size, "exact": y * (1 + 1 / size), "limit": limits * y}
                )
    descent = [
        {"x": x, "size": 200, "steps": 500, "condition": 30.0, "distance": distance}
        for x in (0.5, 1.5)
    ]
    tables = {"drawn": drawn, "curves": curves, "doubled": doubled, "descent": descent}
    return {name: pd.DataFrame(rows) for name, rows in tables.items()}


def part_of(names, **changes):
    """Some of the tables of `regression`."""
    made = regression(**changes)
    return {name: made[name] for name in names}


THEOREMS = ("drawn", "doubled", "descent")
REMARK = ("drawn", "curves")
ROWS = {
    "H01": (partial(part_of, THEOREMS), partial(part_of, THEOREMS, limits=0.9)),
    "H02": (partial(part_of, REMARK), partial(part_of, REMARK, turn=1.0, peak=0.1)),
}
