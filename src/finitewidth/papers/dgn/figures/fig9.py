"""dgn Figure 9: a circular convolution network, and its paths with equal strength."""

import itertools
from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from finitewidth.figures import diagrams
from finitewidth.figures.diagrams import FAINT, INK, LARGE, LINES, PLAIN, Place, Units
from finitewidth.papers.dgn import columns
from finitewidth.records.tables import Table

TABLE = Table(
    columns.KIND,
    columns.LAYER_OF_UNIT,
    columns.START_OR_NONE,
    columns.UNIT,
    columns.TAP_OR_NONE,
    columns.PATH_OR_NONE,
    columns.STRENGTH,
)
NETWORK = (4.3, 1.3)  # inches between the outer units
CELL = (1.725, 1.0)  # inches for a small drawing
CARTOON = (1.25, 0.5)  # between its outer units
ABOVE = 2.04  # height of the network
LINE = 0.16  # height of a line of weights below it
ACROSS = 4  # small drawings in a row
TAPS = tuple(zip(LINES, ("-", (0, (4, 1.5)), ":", "-.", "-"), strict=True))


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the connections, and the units of all paths with the weights between them."""
    connections = tables["connections"].rename(columns={"end": "unit"}).assign(kind="connection")
    rows = []
    for path in tables["paths"].to_dict("records"):
        # no weight leads into an input
        taps = [float("nan"), *map(float, str(path["taps"]).split())]
        for layer, tap in enumerate(taps):
            row = {
                "kind": "path",
                "path": path["path"],
                "strength": path["bundle"],
                "layer": layer,
                "unit": path[f"unit_{layer}"],
                "tap": tap,
            }
            rows.append(row)
    return pd.concat([connections, pd.DataFrame(rows)], ignore_index=True)


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw the network above, and below it, for each strength, the paths that have it."""
    connections = rows[rows["kind"] == "connection"]
    paths = rows[rows["kind"] == "path"]
    bundles = list(paths.groupby("strength"))
    lines = -(-len(bundles) // ACROSS)
    cell_width, cell_height = CELL
    bundles_height = lines * cell_height
    height = bundles_height + ABOVE + LINE * connections["tap"].max()
    figure, axis = diagrams.canvas(ACROSS * cell_width, height)

    inputs = int(connections["start"].max())
    layers = int(connections["layer"].max())
    sizes = [inputs] * (layers + 1) + [1]
    middle = height - 1.0  # of the network
    positions = diagrams.columns(sizes, (2.75, middle), NETWORK)
    _network(axis, positions, connections, inputs)
    _counts(axis, (6.05, middle), paths, inputs)
    titles = (
        (height - 0.1, "a", "the network and its weights"),
        (bundles_height + 0.09, "b", "paths of equal strength"),
    )
    for y, letter, title in titles:
        diagrams.letter(axis, (0.05, y), letter)
        diagrams.write(axis, (0.2, y), title, size=7.5, across="left")
    for number, (_, bundle) in enumerate(bundles):
        line, column = divmod(number, ACROSS)
        x = (column + 0.5) * cell_width
        y = (lines - line - 0.5) * cell_height - 0.14
        units = diagrams.columns(sizes, (x, y), CARTOON)
        _bundle(axis, units, connections, bundle)
        diagrams.write(axis, (x, y + 0.41), _strength(bundle, inputs), size=LARGE)
    return figure


def _strength(paths: pd.DataFrame, inputs: int) -> str:
    """Return the strength of paths, the product of the weights along one, as mathtext."""
    first = paths[paths["path"] == paths["path"].min()].dropna(subset=["tap"])
    weights = []
    for layer, tap in zip(first["layer"], first["tap"], strict=True):
        weights.append(rf"\theta_{tap:.0f}({layer})")
    return rf"${' '.join(weights)}\,/\,{inputs}$"


def _network(axis: Axes, positions: Units, connections: pd.DataFrame, inputs: int) -> None:
    """Draw every connection in the colour and line style of its weight."""
    last = max(layer for layer, _ in positions)
    low = min(y for _, y in positions.values())
    for row in connections.rename(columns={"unit": "end"}).to_dict("records"):
        colour, style = TAPS[int(row["tap"]) - 1]
        start, end = diagrams.ends(row)
        diagrams.edge(axis, positions[start], positions[end], colour=colour, style=style, width=1.4)
    output_x, output_y = positions[last, 1]
    for unit in range(1, inputs + 1):
        last_unit = positions[last - 1, unit]
        diagrams.edge(axis, last_unit, (output_x, output_y), colour="0.45", width=1.1)
    for (layer, unit), position in positions.items():
        number = str(unit) if layer < last else ""
        diagrams.node(axis, position, number, radius=0.12)
        if layer == 0:
            x, y = position
            diagrams.write(axis, (x - 0.18, y), f"$x({unit})$", size=LARGE, across="right")
    _weights(axis, positions, int(connections["tap"].max()))

    middle = (positions[last - 1, 1][0] + output_x) / 2
    average = f"average, $1/{inputs}$"
    diagrams.write(axis, (middle + 0.05, low - 0.25), average, colour="0.35")
    diagrams.write(axis, (output_x + 0.18, output_y), r"$\hat{y}$", size=9, across="left")


def _weights(axis: Axes, positions: Units, taps: int) -> None:
    """Name the weights of each layer below the network, in the colours of their connections."""
    last = max(layer for layer, _ in positions)
    low = min(y for _, y in positions.values())
    for layer in range(1, last):
        middle = (positions[layer - 1, 1][0] + positions[layer, 1][0]) / 2
        for tap in range(1, taps + 1):
            position = (middle, low - 0.09 - LINE * tap)
            colour, _ = TAPS[tap - 1]
            diagrams.write(axis, position, rf"$\theta_{tap}({layer})$", size=LARGE, colour=colour)


def _counts(axis: Axes, centre: Place, paths: pd.DataFrame, inputs: int) -> None:
    """Write how many paths and strengths there are, and how many paths share a strength."""
    sharing = sorted(set(paths.groupby("strength")["path"].nunique()))
    counts = " or ".join(str(count) for count in sharing)
    lines = [
        f"{paths['path'].nunique()} paths",
        f"{paths['strength'].nunique()} path strengths",
        f"each shared by {counts} paths,",
    ]
    starts = paths[paths["layer"] == 0].groupby("strength")["unit"].nunique()
    if (starts == inputs).all() and sharing == [inputs]:
        lines.append("one from every input")
    x, y = centre
    for number, line in enumerate(lines):
        diagrams.write(axis, (x, y + 0.3 - 0.2 * number), line, size=PLAIN + 0.5)


def _bundle(axis: Axes, positions: Units, connections: pd.DataFrame, paths: pd.DataFrame) -> None:
    """Draw the paths of one strength, each in its own colour."""
    rows = connections.rename(columns={"unit": "end"}).to_dict("records")
    diagrams.skeleton(axis, positions, map(diagrams.ends, rows), width=0.3)
    last = max(layer for layer, _ in positions)
    for number, (_, path) in enumerate(paths.groupby("path")):
        colour = LINES[number % len(LINES)]
        units = [*zip(path["layer"], path["unit"], strict=True), (last, 1)]
        for start, end in itertools.pairwise(units):
            diagrams.edge(axis, positions[start], positions[end], colour=colour, width=1.4, above=1)
        diagrams.node(axis, positions[units[0]], colour=colour, fill=colour, radius=0.05)
    for (layer, _), position in positions.items():
        if layer > 0:
            colour = INK if layer == last else FAINT
            diagrams.node(axis, position, colour=colour, radius=0.05)
