"""What our figure on shapes of beyond shows: where growing networks have the larger dispersion."""

import pandas as pd

from finitewidth.common.number_words import listed
from finitewidth.papers.beyond.figures.extra_shapes import SUFFICIENT, Look
from finitewidth.papers.beyond.figures.lines import EDGE

PHASES = {"ordered": "below the edge of chaos", "critical": "at it", "chaotic": "above it"}


def result(rows: pd.DataFrame, settings: Look) -> str:
    """Count the random shapes and the cells of maps in which growing networks have the larger r."""
    counts = rows[rows["panel"] == "counts"].set_index("phase")
    parts = []
    for phase, words in PHASES.items():
        if phase in counts.index:
            higher, shapes = counts.loc[phase, ["higher", "shapes"]]
            parts.append(f"{higher:.0f} of {shapes:.0f} {words}")
    random = rows[rows["panel"] == "random"]
    wide = random[random["input_over_width"] >= SUFFICIENT]
    above = int((wide["log10_ratio"] > 0).sum())
    return (
        f"Of random shapes whose widths grow with depth, {listed(parts)} have at some input "
        "dimension a larger exact dispersion of the NTK than the same widths reversed; where the "
        f"input dimension is at least half the mean width, {above} of {len(wide)} points do. "
        f"{against_constant(rows)}"
    )


def against_constant(rows: pd.DataFrame) -> str:
    """Say in how much of the map growing networks have the larger dispersion than constant ones."""
    pair = (rows["first"] == "growing") & (rows["second"] == "constant")
    cells = rows[(rows["panel"] == "map") & (rows["input"] == "common") & pair]
    parts = []
    for words, inside in (
        ("above the edge of chaos", cells["sigma_w2"] > EDGE),
        ("below it", cells["sigma_w2"] < EDGE),
    ):
        if inside.any():
            share = 100 * (cells.loc[inside, "log10_ratio"] > 0).mean()
            parts.append(f"in {share:.0f} per cent of the map {words}")
    return (
        "Compared with constant widths of the same mean and input dimension it is larger "
        f"{listed(parts)}."
    )
