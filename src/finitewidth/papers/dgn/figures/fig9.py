"""dgn Figure 9: a circular convolution network, and its paths with equal strength."""

import itertools
from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from finitewidth.figures import diagrams
from finitewidth.figures.diagrams import FAINT, INK, LARGE, LINES, PLAIN, Place, Units
from finitewidth.records import fields

FIELDS = {
    "kind": fields.text("connection, or path (one unit of it)"),
    "layer": fields.integer("layer of the unit, 0 for the inputs"),
    "start": fields.number("unit of the layer before at which a connection starts, from 1"),
    "unit": fields.integer("unit of the layer, from 1; for a connection the unit where it ends"),
    "tap": fields.number("number of the weight, from 1, that leads into the unit"),
    "path": fields.number("number of the path, from 1"),
    "strength": fields.number("number of the path's strength, from 1"),
}
NETWORK = (4.3, 1.3)  # inches between the outer units
CELL, CARTOON = (1.725, 1.0), (1.25, 0.5)
ABOVE, LINE = 2.04, 0.16  # height of the network, and of a line of weights below it
ACROSS = 4  # small drawings in a row
TAPS = tuple(zip(LINES, ("-", (0, (4, 1.5)), ":", "-.", "-"), strict=True))


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the connections, and the units of all paths with the weights between them."""
    connections = tables["connections"].rename(columns={"end": "unit"}).assign(kind="connection")
    rows = []
    for path in tables["paths"].to_dict("records"):
        taps = [float("nan"), *map(float, str(path["taps"]).split())]
        rows += [
            {
                "kind": "path",
                "path": path["path"],
                "strength": path["bundle"],
                "layer": layer,
                "unit": path[f"unit_{layer}"],
                "tap": tap,
            }
            for layer, tap in enumerate(taps)
        ]
    return pd.concat([connections, pd.DataFrame(rows)], ignore_index=True)


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw the network above, and below it, for each strength, the paths that have it."""
    connections, paths = (rows[rows["kind"] == kind] for kind in ("connection", "path"))
    strengths = list(paths.groupby("strength"))
    lines = -(-len(strengths) // ACROSS)
    height = lines * CELL[1]
    whole = height + ABOVE + LINE * connections["tap"].max()
    figure, axis = diagrams.canvas(ACROSS * CELL[0], whole)
    inputs, layers = int(connections["start"].max()), int(connections["layer"].max())
    sizes = [inputs] * (layers + 1) + [1]
    places = diagrams.columns(sizes, (2.75, whole - 1.0), NETWORK)
    _network(axis, places, connections, inputs)
    _counts(axis, (6.05, whole - 1.0), paths, inputs)
    titles = {"a": "the network and its weights", "b": "paths of equal strength"}
    for y, (letter, title) in zip((whole - 0.1, height + 0.09), titles.items(), strict=True):
        diagrams.letter(axis, (0.05, y), letter)
        diagrams.write(axis, (0.2, y), title, size=7.5, across="left")
    for number, (_, shared) in enumerate(strengths):
        x = (number % ACROSS + 0.5) * CELL[0]
        y = (lines - number // ACROSS - 0.5) * CELL[1] - 0.14
        spot = diagrams.columns(sizes, (x, y), CARTOON)
        _bundle(axis, spot, connections, shared)
        diagrams.write(axis, (x, y + 0.41), _strength(shared, inputs), size=LARGE)
    return figure


def _strength(paths: pd.DataFrame, inputs: int) -> str:
    """Return the strength of paths, the product of the weights along one, as mathtext."""
    first = paths[paths["path"] == paths["path"].min()].dropna(subset=["tap"])
    taps = zip(first["layer"], first["tap"], strict=True)
    product = " ".join(rf"\theta_{tap:.0f}({layer})" for layer, tap in taps)
    return rf"${product}\,/\,{inputs}$"


def _network(axis: Axes, places: Units, connections: pd.DataFrame, inputs: int) -> None:
    """Draw every connection in the colour and line style of its weight."""
    last = max(layer for layer, _ in places)
    for row in connections.rename(columns={"unit": "end"}).to_dict("records"):
        colour, style = TAPS[int(row["tap"]) - 1]
        start, end = diagrams.ends(row)
        diagrams.edge(axis, places[start], places[end], colour=colour, style=style, width=1.4)
    for unit in range(1, inputs + 1):
        diagrams.edge(axis, places[last - 1, unit], places[last, 1], colour="0.45", width=1.1)
    low = min(y for _, y in places.values())
    for (layer, unit), place in places.items():
        diagrams.node(axis, place, str(unit) if layer < last else "", radius=0.12)
        if layer == 0:
            name = f"$x({unit})$"
            diagrams.write(axis, (place[0] - 0.18, place[1]), name, size=LARGE, across="right")
    for layer in range(1, last):
        middle = (places[layer - 1, 1][0] + places[layer, 1][0]) / 2
        for tap in range(1, int(connections["tap"].max()) + 1):
            place = middle, low - 0.09 - LINE * tap
            diagrams.write(
                axis, place, rf"$\theta_{tap}({layer})$", size=LARGE, colour=TAPS[tap - 1][0]
            )
    x = (places[last - 1, 1][0] + places[last, 1][0]) / 2
    diagrams.write(axis, (x + 0.05, low - 0.25), f"average, $1/{inputs}$", colour="0.35")
    diagrams.write(
        axis, (places[last, 1][0] + 0.18, places[last, 1][1]), r"$\hat{y}$", size=9, across="left"
    )


def _counts(axis: Axes, centre: Place, paths: pd.DataFrame, inputs: int) -> None:
    sharing = sorted(set(paths.groupby("strength")["path"].nunique()))
    each = " or ".join(str(count) for count in sharing)
    first = paths[paths["layer"] == 0]
    from_every = bool((first.groupby("strength")["unit"].nunique() == inputs).all())
    x, y = centre
    lines = [
        f"{paths['path'].nunique()} paths",
        f"{paths['strength'].nunique()} path strengths",
        f"each shared by {each} paths,",
    ]
    if from_every and sharing == [inputs]:
        lines.append("one from every input")
    for number, line in enumerate(lines):
        diagrams.write(axis, (x, y + 0.3 - 0.2 * number), line, size=PLAIN + 0.5)


def _bundle(axis: Axes, places: Units, connections: pd.DataFrame, paths: pd.DataFrame) -> None:
    """Draw the paths of one strength, each in its own colour."""
    rows = connections.rename(columns={"unit": "end"}).to_dict("records")
    diagrams.skeleton(axis, places, map(diagrams.ends, rows), width=0.3)
    last = max(layer for layer, _ in places)
    for number, (_, units) in enumerate(paths.groupby("path")):
        colour = LINES[number % len(LINES)]
        route = [*zip(units["layer"], units["unit"], strict=True), (last, 1)]
        for start, end in itertools.pairwise(route):
            diagrams.edge(axis, places[start], places[end], colour=colour, width=1.4, above=1)
        diagrams.node(axis, places[route[0]], colour=colour, fill=colour, radius=0.05)
    for (layer, _), place in places.items():
        if layer:
            diagrams.node(axis, place, colour=INK if layer == last else FAINT, radius=0.05)
