"""npf Figure 1 and npf0 Figure 1: a toy network, its paths, and its active sub-networks."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from string import ascii_letters
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from finitewidth.common.number_words import listed
from finitewidth.figures import diagrams
from finitewidth.figures.diagrams import ACTIVE, FAINT, INK, LINES, SMALL, Place, Unit, Units
from finitewidth.records import fields

FIELDS = {
    "kind": fields.text(
        "what the row describes: node, edge, path (one unit of it), gate, active edge, "
        "active path, overlap or shared path"
    ),
    "layer": fields.number("layer, 0 for the inputs; an edge belongs to the layer that it enters"),
    "start": fields.number("unit of the layer before at which an edge starts, from 1"),
    "unit": fields.number("unit of the layer, from 1; for an edge the unit at which it ends"),
    "path": fields.number("number of the path, from 1"),
    "example": fields.number("number s of the example, from 1"),
    "other": fields.number("number s' of the other example of a pair, from 1"),
    "value": fields.number("gate (0 or 1), or the entry Lambda(s, s') of an overlap"),
}
CELL = (1.675, 1.36)  # inches, size of one small drawing
NETWORK = (1.15, 0.72)
MARGIN = 0.2  # inches on the left, for the names of the inputs
SPREAD = 0.032  # inches between paths on the same edge


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return nodes, edges, units of paths, gates, active edges and paths, and Lambda."""
    toy = tables["toy"].rename(columns={"end": "unit"})
    nodes, edges = toy[toy["kind"] == "node"], toy[toy["kind"] == "edge"]
    inner = nodes[nodes["layer"].between(1, nodes["layer"].max() - 1)]
    paths = tables["paths"]
    pairs = tables["overlap"].rename(
        columns={"s": "example", "s_prime": "other", "overlap": "value"}
    )
    first = pairs.query("example == 1 and other == 2")["shared"]
    shared = first.dropna().astype(str).str.split().explode().dropna().astype(int)
    units = paths.filter(regex="^path$|^layer_").melt("path", None, "layer", "unit")
    units["layer"] = units["layer"].str.removeprefix("layer_").astype(int)
    active = paths.filter(regex="^path$|^active_")
    parts = [
        nodes,
        edges,
        units.assign(kind="path").sort_values(["path", "layer"]),
        _by_example(inner).assign(kind="gate"),
        _by_example(edges).query("value == 1").assign(kind="active edge"),
        _by_example(active).query("value == 1").assign(kind="active path"),
        pairs.assign(kind="overlap"),
        # paths that the first two examples share
        pd.DataFrame({"kind": "shared path", "example": 1, "other": 2, "path": list(shared)}),
    ]
    return pd.concat(parts, ignore_index=True).reindex(columns=list(FIELDS))


def _by_example(rows: pd.DataFrame) -> pd.DataFrame:
    """One row per example instead of one column, ``active_<s>``."""
    columns = [name for name in rows if name.startswith("active_")]
    kept = [name for name in rows if name not in columns]
    long = rows.melt(kept, columns, "example", "value")
    return long.assign(example=long["example"].str.removeprefix("active_").astype(int))


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw the network, the numbering of paths and Lambda left; paths and active gates right."""
    # number of each path, and its units from the input on
    routes = {
        int(path): tuple(units["unit"].astype(int))
        for path, units in _of(rows, "path").groupby("path")
    }
    # each small drawing shows the paths that differ only in the last hidden layer
    cartoons = [dict(group) for _, group in itertools.groupby(routes.items(), lambda r: r[1][:-1])]
    lines = -(-len(cartoons) // 3) + 1
    figure, axis = diagrams.canvas(4 * CELL[0] + MARGIN, lines * CELL[1] + 0.02)
    places = _placer(axis, lines, _sizes(rows))
    _network(axis, places(0, 0, "network"), rows)
    for number, cartoon in enumerate(cartoons):
        first, last = min(cartoon), max(cartoon)
        title = f"paths {first} to {last}" if last > first else f"path {first}"
        spot = places(number // 3, 1 + number % 3, title)
        _paths(axis, spot, rows, cartoon)
    examples = sorted(set(_of(rows, "gate")["example"].astype(int)))
    for number, example in enumerate(examples):
        spot = places(lines - 1, 1 + number, f"gates for $x_{example}$")
        _gates(axis, spot, rows, example)
    _key(axis, (CELL[0] / 2 + MARGIN, (lines - 1.45) * CELL[1]), routes)
    _overlap(axis, (CELL[0] / 2 + MARGIN, 0.52 * CELL[1]), rows)
    return figure


def _of(rows: pd.DataFrame, kind: str) -> pd.DataFrame:
    return rows[rows["kind"] == kind]


def _sizes(rows: pd.DataFrame) -> list[int]:
    return [int(count) for count in _of(rows, "node").groupby("layer")["unit"].count()]


def _edges(rows: pd.DataFrame, kind: str = "edge") -> list[tuple[Unit, Unit]]:
    """The two units, as (layer, unit), that each edge joins."""
    found = _of(rows, kind)[["layer", "start", "unit"]].astype(int).to_numpy()
    return [((layer - 1, start), (layer, end)) for layer, start, end in found]


def _placer(axis: Axes, lines: int, sizes: Sequence[int]) -> Callable[[int, int, str], Units]:
    """Return a function that titles a small drawing and gives the places of its units."""
    letters = iter(ascii_letters)

    def places(line: int, column: int, title: str) -> Units:
        x, y = (column + 0.5) * CELL[0] + MARGIN, (lines - line - 0.5) * CELL[1]
        diagrams.letter(axis, (x - CELL[0] / 2 + 0.1, y + 0.56), next(letters))
        diagrams.write(axis, (x - CELL[0] / 2 + 0.25, y + 0.56), title, size=7.5, across="left")
        return diagrams.columns(sizes, (x, y - 0.02), NETWORK)

    return places


def _network(axis: Axes, places: Units, rows: pd.DataFrame) -> None:
    last = len(_sizes(rows)) - 1
    for start, end in _edges(rows):
        diagrams.edge(axis, places[start], places[end], colour="0.45")
    for (layer, unit), (x, y) in places.items():
        inner = 0 < layer < last
        diagrams.node(axis, (x, y), str(unit) if inner else "")
        if layer == 0:
            diagrams.write(axis, (x - 0.15, y), f"$x({unit})$", across="right")
        elif layer == last:
            diagrams.write(axis, (x + 0.14, y), r"$\hat{y}$", size=8, across="left")
    low = min(y for _, y in places.values()) - 0.23
    for layer in range(1, last):
        diagrams.write(axis, (places[layer, 1][0], low), f"layer {layer}", size=SMALL)


def _paths(
    axis: Axes, places: Units, rows: pd.DataFrame, paths: Mapping[int, tuple[int, ...]]
) -> None:
    """Draw paths side by side on shared edges; the last hidden unit of each shows its number."""
    diagrams.skeleton(axis, places, _edges(rows), width=0.4)
    last = len(_sizes(rows)) - 1
    routes = {path: [*enumerate(units), (last, 1)] for path, units in paths.items()}
    steps = [list(itertools.pairwise(route)) for route in routes.values()]
    for number, taken in enumerate(steps):
        for start, end in taken:
            sharing = [other for other, its in enumerate(steps) if (start, end) in its]
            shift = SPREAD * ((len(sharing) - 1) / 2 - sharing.index(number))
            diagrams.edge(
                axis,
                places[start],
                places[end],
                colour=LINES[number % len(LINES)],
                width=1.5,
                shift=shift,
                above=1,
            )
    used = {place for route in routes.values() for place in route}
    for place, spot in places.items():
        diagrams.node(axis, spot, colour=INK if place in used else FAINT)
    for number, (path, route) in enumerate(routes.items()):
        diagrams.node(
            axis, places[route[-2]], str(path), colour=LINES[number % len(LINES)], above=1
        )


def _gates(axis: Axes, places: Units, rows: pd.DataFrame, example: int) -> None:
    """Draw gates as 0 and 1; edges on an active path are thick and red."""
    diagrams.skeleton(axis, places, _edges(rows), width=0.4)
    own = rows[rows["example"] == example]
    for start, end in _edges(own, "active edge"):
        diagrams.edge(axis, places[start], places[end], colour=ACTIVE, width=1.8, above=1)
    gates = {
        (int(row["layer"]), int(row["unit"])): int(row["value"])
        for row in _of(own, "gate").to_dict("records")
    }
    for place, spot in places.items():
        gate = gates.get(place)  # inputs and output have none
        diagrams.node(
            axis, spot, "" if gate is None else str(gate), colour="0.42" if gate == 0 else ACTIVE
        )


def _key(axis: Axes, centre: Place, routes: Mapping[int, tuple[int, ...]]) -> None:
    """Write how paths are numbered; the last path of the first small drawing is the example."""
    path = next(number for number, route in routes.items() if route[-1] == max(routes.values())[-1])
    units = ", ".join(map(str, routes[path]))
    inner = [f"unit in layer {layer}" for layer in range(1, len(routes[path]))]
    lines = (
        f"{len(routes)} paths",
        f"path = (input, {inner[0]},",
        ", ".join(inner[1:]) + ")",
        f"path {path} = ({units})",
    )
    for number, line in enumerate(lines):
        diagrams.write(axis, (centre[0], centre[1] + 0.28 - 0.18 * number), line)


def _overlap(axis: Axes, centre: Place, rows: pd.DataFrame) -> None:
    """Write Lambda as a matrix, and the paths that the first two examples share."""
    x, y = centre
    diagrams.write(axis, (x, y + 0.53), r"$\Lambda(s, s^\prime)$", size=7.5)
    overlap = _of(rows, "overlap")
    count = int(overlap["example"].max())
    for row in overlap.to_dict("records"):
        across, down = (row["other"] - (count + 1) / 2), (row["example"] - (count + 1) / 2)
        diagonal = row["example"] == row["other"]
        diagrams.box(
            axis,
            (x + 0.34 * across, y + 0.12 - 0.23 * down),
            (0.32, 0.21),
            f"{row['value']:g}",
            fill=diagrams.PALE if diagonal else "white",
        )
    both = overlap.query("example == 1 and other == 2").iloc[0]
    paths = list(_of(rows, "shared path")["path"].astype(int))
    shared = f"path{'s' * (len(paths) > 1)} {listed(map(str, paths))}" if paths else "no path"
    diagrams.write(axis, (x, y - 0.37), f"$x_1$ and $x_2$ share {shared}:")
    diagrams.write(axis, (x, y - 0.53), rf"$\Lambda(1, 2) = {both['value']:g}$ per input node")
