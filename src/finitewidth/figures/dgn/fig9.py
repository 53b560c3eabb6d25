"""dgn Figure 9: a circular convolution network, and its paths with equal strength."""

import itertools
from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from finitewidth.figures import diagrams
from finitewidth.figures.diagrams import FAINT, INK, LINES, Place

NETWORK = (3.0, 1.5)  # inches between the outer units
CELL, CARTOON = (1.7, 1.12), (1.2, 0.52)
ACROSS = 4  # small drawings in a row
DASHES = ("-", (0, (4, 1.5)), ":", "-.", "-")
TAPS = tuple(zip(LINES, DASHES, strict=False))

Units = dict[tuple[int, int], Place]


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return connections and paths; ``kind`` says what a row is."""
    return pd.concat([tables[kind].assign(kind=kind) for kind in ("connections", "paths")],
                     ignore_index=True)  # fmt: skip


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw the network above, and below it, for each strength, the paths that have it."""
    connections, paths = (rows[rows["kind"] == kind] for kind in ("connections", "paths"))
    bundles = list(paths.groupby("bundle"))
    lines = -(-len(bundles) // ACROSS)
    height = lines * CELL[1]
    figure, axis = diagrams.canvas(ACROSS * CELL[0], height + 2.45)
    inputs, layers = int(connections["start"].max()), int(connections["layer"].max())
    sizes = [inputs] * (layers + 1) + [1]
    places = diagrams.columns(sizes, (2.05, height + 1.4), NETWORK)
    _network(axis, places, connections, inputs)
    _counts(axis, (5.35, height + 1.4), paths, inputs)
    for number, (_, shared) in enumerate(bundles):
        x = (number % ACROSS + 0.5) * CELL[0]
        y = (lines - number // ACROSS - 0.5) * CELL[1] - 0.06
        spot = diagrams.columns(sizes, (x, y), CARTOON)
        _bundle(axis, spot, connections, shared)
        diagrams.write(axis, (x, y + 0.45), _strength(shared["taps"].iloc[0], inputs), size=7.5)
    return figure


def _strength(taps: str, inputs: int) -> str:
    """Return the strength of a path, the product of the weights along it, as mathtext."""
    product = " ".join(rf"\theta_{tap}({layer})" for layer, tap in enumerate(taps.split(), start=1))
    return rf"${product}\,/\,{inputs}$"


def _network(axis: Axes, places: Units, connections: pd.DataFrame, inputs: int) -> None:
    """Draw every connection in the colour and line style of its weight."""
    last = max(layer for layer, _ in places)
    for row in connections.to_dict("records"):
        colour, style = TAPS[int(row["tap"]) - 1]
        start, end = diagrams.ends(row)
        diagrams.edge(axis, places[start], places[end], colour=colour, style=style, width=1.5)
    for unit in range(1, inputs + 1):
        diagrams.edge(axis, places[last - 1, unit], places[last, 1], colour="0.45", width=1.2)
    low = min(y for _, y in places.values())
    for (layer, unit), place in places.items():
        diagrams.node(axis, place, str(unit) if layer < last else "", radius=0.13)
        if layer == 0:
            diagrams.write(
                axis, (place[0] - 0.2, place[1]), f"$x({unit})$", size=8.5, across="right"
            )
    for layer in range(1, last):
        middle = (places[layer - 1, 1][0] + places[layer, 1][0]) / 2
        for tap in range(1, int(connections["tap"].max()) + 1):
            place = middle, low - 0.1 - 0.17 * tap
            colour = TAPS[tap - 1][0]
            diagrams.write(axis, place, rf"$\theta_{tap}({layer})$", size=8, colour=colour)
    x = (places[last - 1, 1][0] + places[last, 1][0]) / 2
    diagrams.write(axis, (x + 0.05, low - 0.27), f"average, $1/{inputs}$", size=8, colour="0.35")
    diagrams.write(axis, (places[last, 1][0] + 0.2, places[last, 1][1]), r"$\hat{y}$", size=10,
                   across="left")  # fmt: skip


def _counts(axis: Axes, centre: Place, paths: pd.DataFrame, inputs: int) -> None:
    """Write the numbers of paths and of strengths."""
    sharing = sorted(set(paths.groupby("bundle")["path"].count()))
    each = " or ".join(str(count) for count in sharing)
    from_every = bool((paths.groupby("bundle")["unit_0"].nunique() == inputs).all())
    x, y = centre
    for number, line in enumerate((
        f"{len(paths)} paths",
        f"{paths['bundle'].nunique()} path strengths",
        f"each shared by {each} paths,",
        "one from every input" if from_every and sharing == [inputs] else "",
    )):  # fmt: skip
        diagrams.write(axis, (x, y + 0.36 - 0.24 * number), line, size=9)


def _bundle(axis: Axes, places: Units, connections: pd.DataFrame, paths: pd.DataFrame) -> None:
    """Draw the paths of one strength, each in its own colour."""
    ends = [[places[unit] for unit in diagrams.ends(row)] for row in connections.to_dict("records")]
    diagrams.skeleton(axis, ends, colour="0.88", width=0.5)
    units = [name for name in paths if name.startswith("unit_")]
    last = len(units)
    for number, path in enumerate(paths.to_dict("records")):
        colour = LINES[number % len(LINES)]
        route = [*((layer, int(path[name])) for layer, name in enumerate(units)), (last, 1)]
        for start, end in itertools.pairwise(route):
            diagrams.edge(axis, places[start], places[end], colour=colour, width=1.5, above=1)
        diagrams.node(axis, places[route[0]], colour=colour, fill=colour, radius=0.05)
    for (layer, _), place in places.items():
        if layer:
            diagrams.node(axis, place, colour=INK if layer == last else FAINT, radius=0.05)
