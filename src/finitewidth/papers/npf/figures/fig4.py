"""npf Figure 4: the layouts of four paths through one layer."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from finitewidth.figures import diagrams
from finitewidth.figures.diagrams import FAINT, INK, LINES
from finitewidth.papers.npf.columns import concepts as columns
from finitewidth.records.tables import Table

TABLE = Table(
    columns.LAYOUT,
    columns.PATH_OF_FOUR,
    columns.PATH_START,
    columns.PATH_END,
    columns.WEIGHTS,
    columns.FOLLOWING,
)
CELL = (1.725, 1.32)
SPREAD = 0.045
NAMES = ("p_a", r"p^\prime_a", "p_b", r"p^\prime_b")  # [P] the four paths


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return one example of each layout, a row per path, with the layouts that may follow."""
    following = tables["successors"].groupby("layout")["next"].agg(" ".join).reset_index()
    return tables["layouts"].merge(following, on="layout")[TABLE.names]


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw each layout; paths through the same weight run side by side."""
    width, height = CELL
    groups = list(rows.groupby("layout", sort=False))
    figure, axis = diagrams.canvas(width * len(groups), height + 0.28)
    nodes = int(rows[["start", "end"]].max(axis=None))
    for number, (letter, paths) in enumerate(groups):
        x = (number + 0.5) * width
        y = height / 2 + 0.28
        _layout(axis, (x, y), paths, nodes)
        diagrams.letter(axis, (x - 0.74, y + 0.53), letter)
        diagrams.write(axis, (x - 0.59, y + 0.53), _title(paths), size=7.5, across="left")
        following = " or ".join(paths["next"].iloc[0].split())
        diagrams.write(axis, (x, y - 0.53), f"next layer: {following}")
    _key(axis, width * len(groups) / 2)
    return figure


def _title(paths: pd.DataFrame) -> str:
    """``1 weight × 4 paths``, ``2 weights × 2 paths``."""
    weights = int(paths["weights"].iloc[0])
    noun = "weights" if weights > 1 else "weight"
    return f"{weights} {noun} × {len(paths) // weights} paths"


def _key(axis: Axes, middle: float) -> None:
    """Name the colours of the paths, below all layouts."""
    for number, (name, colour) in enumerate(zip(NAMES, LINES, strict=False)):
        x = middle + 0.75 * (number - 1.5)
        diagrams.edge(axis, (x - 0.22, 0.12), (x, 0.12), colour=colour, width=2)
        diagrams.write(axis, (x + 0.06, 0.12), f"${name}$", size=8, across="left")


def _layout(axis: Axes, centre: diagrams.Place, paths: pd.DataFrame, nodes: int) -> None:
    """Draw the paths, and the nodes on both sides of the layer; unused nodes are faint."""
    places = diagrams.columns([nodes, nodes], centre, (0.95, 0.6))
    weights = list(zip(paths["start"], paths["end"], strict=True))  # of each path
    for path, weight in enumerate(weights):
        start, end = weight
        sharing = [other for other, its_weight in enumerate(weights) if its_weight == weight]
        shift = SPREAD * ((len(sharing) - 1) / 2 - sharing.index(path))
        diagrams.edge(
            axis,
            places[0, start],
            places[1, end],
            colour=LINES[path],
            width=2,
            shift=shift,
        )
    used = set()
    for start, end in weights:
        used |= {(0, start), (1, end)}
    for node, place in places.items():
        diagrams.node(axis, place, colour=INK if node in used else FAINT, radius=0.12)
