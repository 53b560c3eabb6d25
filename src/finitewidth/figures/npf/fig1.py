"""npf Figure 1 and npf0 Figure 1: a toy network, its paths, and its active sub-networks."""

import itertools
from collections.abc import Mapping, Sequence
from string import ascii_lowercase
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from finitewidth.figures import diagrams
from finitewidth.figures.diagrams import ACTIVE, FAINT, INK, LINES

CELL = (1.75, 1.48)  # inches, size of one small drawing
NETWORK = (1.2, 0.76)
MARGIN = 0.2  # inches on the left, for the names of the inputs
SPREAD = 0.032  # inches between paths on the same edge


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return nodes, edges, paths and the entries of Lambda; ``kind`` says what a row is."""
    paths, overlap = (tables[name].assign(kind=name) for name in ("paths", "overlap"))
    return pd.concat([tables["toy"], paths, overlap], ignore_index=True)


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw the network, the numbering of paths and Lambda left; paths and active gates right."""
    paths = rows[rows["kind"] == "paths"]
    examples = [name for name in rows if name.startswith("active_")]
    # each small drawing shows the paths that differ only in the last hidden layer
    cartoons = [group for _, group in paths.groupby(["layer_0", "layer_1"], sort=False)]
    lines = -(-len(cartoons) // 3) + 1
    figure, axis = diagrams.canvas(4 * CELL[0] + MARGIN, lines * CELL[1] + 0.05)
    letters = iter(ascii_lowercase + ascii_lowercase.upper())

    def places(line: int, column: int, title: str) -> dict[tuple[int, int], tuple[float, float]]:
        x, y = (column + 0.5) * CELL[0] + MARGIN, (lines - line - 0.5) * CELL[1]
        diagrams.write(axis, (x - CELL[0] / 2 + 0.1, y + 0.62), f"({next(letters)})", size=8,
                       across="left", weight="bold")  # fmt: skip
        diagrams.write(axis, (x + 0.08, y + 0.62), title, size=7.5)
        return diagrams.columns(_sizes(rows), (x, y), NETWORK)

    _network(axis, places(0, 0, "network"), rows)
    for number, cartoon in enumerate(cartoons):
        names = [
            f"$p_{{{path:.0f}}}$" for path in (cartoon["path"].iloc[0], cartoon["path"].iloc[-1])
        ]
        spot = places(number // 3, 1 + number % 3, f"{names[0]} to {names[1]}")
        _paths(axis, spot, rows, cartoon)
    for number, example in enumerate(examples):
        title = rf"gates for $x_{number + 1}$"
        _gates(axis, places(lines - 1, 1 + number, title), rows, example)
    _key(axis, (CELL[0] / 2 + MARGIN, (lines - 1.5) * CELL[1]), paths)
    _overlap(axis, (CELL[0] / 2 + MARGIN, 0.5 * CELL[1]), rows[rows["kind"] == "overlap"])
    return figure


def document(rows: pd.DataFrame) -> dict[str, Any]:
    """Return the paths, the active paths of each example, and Lambda, to be written as JSON.

    Returns:
        ``paths``, the units of each path from the input on; ``active``, the numbers (from 1) of
        the active paths of each example; ``Lambda``, a matrix with a row per example.
    """
    paths, overlap = (rows[rows["kind"] == kind] for kind in ("paths", "overlap"))
    layers = [name for name in paths if name.startswith("layer_")]
    examples = [name for name in rows if name.startswith("active_")]
    matrix = overlap.pivot(index="s", columns="s_prime", values="overlap")
    return {
        "paths": paths[layers].astype(int).to_numpy().tolist(),
        "active": {
            f"x_{example.removeprefix('active_')}":
                paths[paths[example] == 1]["path"].astype(int).tolist()
            for example in examples
        },
        "Lambda": matrix.to_numpy().tolist(),
    }  # fmt: skip


def _sizes(rows: pd.DataFrame) -> list[int]:
    nodes = rows[rows["kind"] == "node"]
    return [int(count) for count in nodes.groupby("layer")["end"].count()]


def _edges(rows: pd.DataFrame) -> list[dict[str, Any]]:
    return rows[rows["kind"] == "edge"].to_dict("records")


def _skeleton(axis: Axes, places: Mapping[tuple[int, int], Any], rows: pd.DataFrame) -> None:
    ends = [[places[unit] for unit in diagrams.ends(row)] for row in _edges(rows)]
    diagrams.skeleton(axis, ends, colour="0.85")


def _network(axis: Axes, places: Mapping[tuple[int, int], Any], rows: pd.DataFrame) -> None:
    last = len(_sizes(rows)) - 1
    for row in _edges(rows):
        start, end = diagrams.ends(row)
        diagrams.edge(axis, places[start], places[end], colour="0.55")
    for (layer, unit), place in places.items():
        diagrams.node(axis, place, fill="white")
        if layer == 0:
            diagrams.write(
                axis, (place[0] - 0.15, place[1]), f"$x({unit})$", size=7, across="right"
            )
        elif layer == last:
            diagrams.write(axis, (place[0] + 0.14, place[1]), r"$\hat{y}$", size=8, across="left")
        else:
            diagrams.write(axis, place, str(unit), size=6.5)
    for layer in range(1, last):
        x = places[layer, 1][0]
        diagrams.write(
            axis, (x, min(y for _, y in places.values()) - 0.25), f"layer {layer}", size=6.5
        )


def _paths(
    axis: Axes, places: Mapping[tuple[int, int], Any], rows: pd.DataFrame, paths: pd.DataFrame
) -> None:
    """Draw paths side by side on shared edges; the last hidden unit of each shows its number."""
    _skeleton(axis, places, rows)
    layers = [name for name in paths if name.startswith("layer_")]
    last = len(layers)
    routes = [(*((n, int(path[name])) for n, name in enumerate(layers)), (last, 1))
              for path in paths.to_dict("records")]  # fmt: skip
    steps = [list(itertools.pairwise(route)) for route in routes]
    for number, taken in enumerate(steps):
        colour = LINES[number % len(LINES)]
        for start, end in taken:
            sharing = [other for other, its in enumerate(steps) if (start, end) in its]
            shift = SPREAD * ((len(sharing) - 1) / 2 - sharing.index(number))
            diagrams.edge(axis, places[start], places[end], colour=colour, width=1.5, shift=shift,
                          above=1)  # fmt: skip
    used = {place for route in routes for place in route}
    for place, spot in places.items():
        diagrams.node(axis, spot, colour=INK if place in used else FAINT)
    for number, (route, name) in enumerate(zip(routes, paths["path"], strict=True)):
        diagrams.node(axis, places[route[-2]], f"$p_{{{name:.0f}}}$", size=6.2,
                      colour=LINES[number % len(LINES)], above=1)  # fmt: skip


def _gates(
    axis: Axes, places: Mapping[tuple[int, int], Any], rows: pd.DataFrame, example: str
) -> None:
    """Draw gates as 0 and 1; edges on an active path are thick and red."""
    _skeleton(axis, places, rows)
    last = len(_sizes(rows)) - 1
    for row in _edges(rows):
        start, end = diagrams.ends(row)
        if row[example]:
            diagrams.edge(axis, places[start], places[end], colour=ACTIVE, width=1.8, above=1)
    for row in rows[rows["kind"] == "node"].to_dict("records"):
        layer, on = int(row["layer"]), bool(row[example])
        text = str(int(row[example])) if 0 < layer < last else ""
        diagrams.node(axis, places[layer, int(row["end"])], text, colour=ACTIVE if on else "0.5",
                      size=6.5)  # fmt: skip


def _key(axis: Axes, centre: tuple[float, float], paths: pd.DataFrame) -> None:
    first = paths.iloc[2]
    x, y = centre
    units = ", ".join(f"{first[name]:.0f}" for name in paths if name.startswith("layer_"))
    lines = (f"{len(paths)} paths", "$p$ = (input, unit in layer 1,", "unit in layer 2)",
             f"$p_{{{first['path']:.0f}}}$ = ({units})")  # fmt: skip
    for number, line in enumerate(lines):
        diagrams.write(axis, (x, y + 0.3 - 0.19 * number), line, size=7.5 if number else 8)


def _overlap(axis: Axes, centre: tuple[float, float], overlap: pd.DataFrame) -> None:
    """Write Lambda as a matrix, and the paths that the first two examples share."""
    x, y = centre
    diagrams.write(axis, (x, y + 0.58), r"$\Lambda(s, s^\prime)$", size=8.5)
    count = int(overlap["s"].max())
    for row in overlap.to_dict("records"):
        across, down = (row["s_prime"] - (count + 1) / 2), (row["s"] - (count + 1) / 2)
        diagonal = row["s"] == row["s_prime"]
        diagrams.box(axis, (x + 0.34 * across, y + 0.14 - 0.24 * down), (0.32, 0.22),
                     f"{row['overlap']:g}", colour=INK, fill=diagrams.PALE if diagonal else "white",
                     font=7.5)  # fmt: skip
    both = overlap[(overlap["s"] == 1) & (overlap["s_prime"] == 2)].iloc[0]
    shared = _names(str(both["shared"]).split())
    diagrams.write(axis, (x, y - 0.38), f"$x_1$ and $x_2$ share {shared}:", size=7)
    diagrams.write(
        axis, (x, y - 0.54), rf"$\Lambda(1, 2) = {both['overlap']:g}$ per input node", size=7
    )


def _names(paths: Sequence[str]) -> str:
    return ", ".join(f"$p_{{{path}}}$" for path in paths) or "no path"
