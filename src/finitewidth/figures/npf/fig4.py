"""npf Figure 4: the layouts of four paths through one layer."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from finitewidth.figures import diagrams
from finitewidth.figures.diagrams import FAINT, INK, LINES

CELL = (1.75, 1.6)
SPREAD = 0.045
NAMES = ("p_a", r"p^\prime_a", "p_b", r"p^\prime_b")  # [P] the four paths


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return one example of each layout, a row per path, with the layouts that may follow."""
    following = tables["successors"].groupby("layout")["next"].agg(" ".join).reset_index()
    return tables["layouts"].merge(following, on="layout")


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw each layout; paths through the same weight run side by side."""
    groups = list(rows.groupby("layout", sort=False))
    figure, axis = diagrams.canvas(CELL[0] * len(groups), CELL[1] + 0.3)
    nodes = int(max(rows["start"].max(), rows["end"].max()))
    for number, (letter, paths) in enumerate(groups):
        x, y = (number + 0.5) * CELL[0], CELL[1] / 2 + 0.3
        places = diagrams.columns([nodes, nodes], (x, y), (0.95, 0.55))
        taken = list(zip(paths["start"], paths["end"], strict=True))
        for path, (start, end) in enumerate(taken):
            sharing = [other for other, weight in enumerate(taken) if weight == (start, end)]
            shift = SPREAD * ((len(sharing) - 1) / 2 - sharing.index(path))
            diagrams.edge(axis, places[0, start], places[1, end], colour=LINES[path], width=2,
                          shift=shift)  # fmt: skip
        used = {(0, start) for start, _ in taken} | {(1, end) for _, end in taken}
        for place, spot in places.items():
            diagrams.node(axis, spot, colour=INK if place in used else FAINT, radius=0.12)
        diagrams.write(
            axis, (x - 0.76, y + 0.6), f"({letter})", size=9, across="left", weight="bold"
        )
        diagrams.write(axis, (x + 0.06, y + 0.6), _shared(paths), size=7.5)
        following = " or ".join(f"({name})" for name in paths["next"].iloc[0].split())
        diagrams.write(axis, (x, y - 0.6), f"next layer: {following}", size=7.5)
    _key(axis, CELL[0] * len(groups) / 2)
    return figure


def _shared(paths: pd.DataFrame) -> str:
    weights = int(paths["weights"].iloc[0])
    each = len(paths) // weights
    return f"{weights} weight{'s' * (weights > 1)} × {each} paths"


def _key(axis: Any, centre: float) -> None:
    for number, name in enumerate(NAMES):
        x = centre + 0.75 * (number - 1.5)
        diagrams.edge(axis, (x - 0.22, 0.14), (x, 0.14), colour=LINES[number], width=2)
        diagrams.write(axis, (x + 0.06, 0.14), f"${name}$", size=8, across="left")
