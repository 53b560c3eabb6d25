"""npf Figure 1 and npf0 Figure 1: a toy network, its paths, and its active sub-networks."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from string import ascii_letters
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from finitewidth.common.number_words import listed
from finitewidth.figures import diagrams, style
from finitewidth.figures.diagrams import ACTIVE, FAINT, INK, LINES, SMALL, Place, Unit, Units
from finitewidth.papers.npf.columns import concepts as columns
from finitewidth.records.tables import Table

TABLE = Table(
    columns.KIND_SHOWN,
    columns.LAYER_SHOWN,
    columns.START_SHOWN,
    columns.UNIT_SHOWN,
    columns.PATH_SHOWN,
    columns.EXAMPLE,
    columns.OTHER_EXAMPLE,
    columns.GATE_OR_OVERLAP,
)
CELL = (1.675, 1.36)  # inches, size of one small drawing
NETWORK = (1.15, 0.72)
MARGIN = 0.2  # inches on the left, for the names of the inputs
SPREAD = 0.032  # inches between paths on the same edge


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return nodes, edges, units of paths, gates, active edges and paths, and Lambda."""
    toy = tables["toy"].rename(columns={"end": "unit"})
    nodes = toy[toy["kind"] == "node"]
    edges = toy[toy["kind"] == "edge"]
    hidden = nodes[nodes["layer"].between(1, nodes["layer"].max() - 1)]
    active_paths = tables["paths"].filter(regex="^path$|^active_")
    pairs = tables["overlap"].rename(
        columns={"s": "example", "s_prime": "other", "overlap": "value"}
    )
    parts = [
        nodes,
        edges,
        _units_of_paths(tables["paths"]).assign(kind="path"),
        _by_example(hidden).assign(kind="gate"),
        _by_example(edges).query("value == 1").assign(kind="active edge"),
        _by_example(active_paths).query("value == 1").assign(kind="active path"),
        pairs.assign(kind="overlap"),
        _shared_paths(pairs).assign(kind="shared path"),
    ]
    return pd.concat(parts, ignore_index=True).reindex(columns=TABLE.names)


def _units_of_paths(paths: pd.DataFrame) -> pd.DataFrame:
    """A row for each layer of each path, with its unit."""
    units = paths.filter(regex="^path$|^layer_").melt("path", None, "layer", "unit")
    units["layer"] = units["layer"].str.removeprefix("layer_").astype(int)
    return units.sort_values(["path", "layer"])


def _shared_paths(pairs: pd.DataFrame) -> pd.DataFrame:
    """The paths that are active for both of the first two examples."""
    text = pairs.query("example == 1 and other == 2")["shared"]  # numbers with blanks between
    paths = text.dropna().astype(str).str.split().explode().dropna().astype(int)
    return pd.DataFrame({"example": 1, "other": 2, "path": list(paths)})


def _by_example(rows: pd.DataFrame) -> pd.DataFrame:
    """One row per example instead of one column, ``active_<s>``."""
    examples = [name for name in rows if name.startswith("active_")]
    others = [name for name in rows if name not in examples]
    long = rows.melt(others, examples, "example", "value")
    return long.assign(example=long["example"].str.removeprefix("active_").astype(int))


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw the network, the numbering of paths and Lambda left; paths and active gates right."""
    routes = _routes(rows)
    # each small drawing shows the paths that differ only in the last hidden layer
    cartoons = [dict(group) for _, group in itertools.groupby(routes.items(), _all_but_last)]
    lines = -(-len(cartoons) // 3) + 1
    figure, axis = diagrams.canvas(4 * CELL[0] + MARGIN, lines * CELL[1] + 0.02)
    places = _placer(axis, lines, _sizes(rows))
    _network(axis, places(0, 0, "network"), rows)
    for number, cartoon in enumerate(cartoons):
        first = min(cartoon)
        last = max(cartoon)
        title = f"paths {first} to {last}" if last > first else f"path {first}"
        line, column = divmod(number, 3)
        _paths(axis, places(line, 1 + column, title), rows, cartoon)
    examples = sorted(set(_of_kind(rows, "gate")["example"].astype(int)))
    for number, example in enumerate(examples):
        units = places(lines - 1, 1 + number, f"gates for $x_{example}$")
        _gates(axis, units, rows, example)
    left = CELL[0] / 2 + MARGIN
    _key(axis, (left, (lines - 1.45) * CELL[1]), routes)
    _overlap(axis, (left, 0.52 * CELL[1]), rows)
    return figure


def _routes(rows: pd.DataFrame) -> dict[int, tuple[int, ...]]:
    """Number of each path -> its units from the input on."""
    return {
        int(path): tuple(units["unit"].astype(int))
        for path, units in _of_kind(rows, "path").groupby("path")
    }


def _all_but_last(path_and_units: tuple[int, tuple[int, ...]]) -> tuple[int, ...]:
    """The units of a path before the last hidden layer."""
    _, units = path_and_units
    return units[:-1]


def _of_kind(rows: pd.DataFrame, kind: str) -> pd.DataFrame:
    return rows[rows["kind"] == kind]


def _sizes(rows: pd.DataFrame) -> list[int]:
    return [int(count) for count in _of_kind(rows, "node").groupby("layer")["unit"].count()]


def _edges(rows: pd.DataFrame, kind: str = "edge") -> list[tuple[Unit, Unit]]:
    """The two units, as (layer, unit), that each edge joins."""
    edges = _of_kind(rows, kind)[["layer", "start", "unit"]].astype(int).to_numpy()
    return [((layer - 1, start), (layer, end)) for layer, start, end in edges]


def _placer(axis: Axes, lines: int, sizes: Sequence[int]) -> Callable[[int, int, str], Units]:
    """Return a function that titles a small drawing and gives the places of its units."""
    letters = iter(ascii_letters)
    width, height = CELL

    def places(line: int, column: int, title: str) -> Units:
        x = (column + 0.5) * width + MARGIN
        y = (lines - line - 0.5) * height
        left = x - width / 2
        diagrams.letter(axis, (left + 0.1, y + 0.56), next(letters))
        diagrams.write(axis, (left + 0.25, y + 0.56), title, size=7.5, across="left")
        return diagrams.columns(sizes, (x, y - 0.02), NETWORK)

    return places


def _network(axis: Axes, places: Units, rows: pd.DataFrame) -> None:
    last = len(_sizes(rows)) - 1
    for start, end in _edges(rows):
        diagrams.edge(axis, places[start], places[end], colour="0.45")
    for (layer, unit), (x, y) in places.items():
        is_hidden = 0 < layer < last
        diagrams.node(axis, (x, y), str(unit) if is_hidden else "")
        if layer == 0:
            diagrams.write(axis, (x - 0.15, y), f"$x({unit})$", across="right")
        elif layer == last:
            diagrams.write(axis, (x + 0.14, y), r"$\hat{y}$", size=8, across="left")
    low = min(y for _, y in places.values()) - 0.23
    for layer in range(1, last):
        x, _ = places[layer, 1]
        diagrams.write(axis, (x, low), f"layer {layer}", size=SMALL)


def _paths(
    axis: Axes, places: Units, rows: pd.DataFrame, paths: Mapping[int, tuple[int, ...]]
) -> None:
    """Draw paths side by side on shared edges; the last hidden unit of each shows its number."""
    diagrams.skeleton(axis, places, _edges(rows), width=0.4)
    output = (len(_sizes(rows)) - 1, 1)
    # units, as (layer, unit), and edges of each path
    routes = {path: [*enumerate(units), output] for path, units in paths.items()}
    edges = [list(itertools.pairwise(route)) for route in routes.values()]
    for number, edges_of_path in enumerate(edges):
        for edge in edges_of_path:
            sharing = [other for other, taken in enumerate(edges) if edge in taken]
            shift = SPREAD * ((len(sharing) - 1) / 2 - sharing.index(number))
            start, end = edge
            diagrams.edge(
                axis,
                places[start],
                places[end],
                colour=LINES[number % len(LINES)],
                width=1.5,
                shift=shift,
                above=1,
            )
    used = {unit for route in routes.values() for unit in route}
    for unit, place in places.items():
        diagrams.node(axis, place, colour=INK if unit in used else FAINT)
    for number, (path, route) in enumerate(routes.items()):
        last_hidden = places[route[-2]]
        colour = LINES[number % len(LINES)]
        diagrams.node(axis, last_hidden, str(path), colour=colour, above=1)


def _gates(axis: Axes, places: Units, rows: pd.DataFrame, example: int) -> None:
    """Draw gates as 0 and 1; edges on an active path are thick and red."""
    diagrams.skeleton(axis, places, _edges(rows), width=0.4)
    of_example = rows[rows["example"] == example]
    for start, end in _edges(of_example, "active edge"):
        diagrams.edge(axis, places[start], places[end], colour=ACTIVE, width=1.8, above=1)
    gates = {}
    for row in _of_kind(of_example, "gate").to_dict("records"):
        gates[int(row["layer"]), int(row["unit"])] = int(row["value"])
    for unit, place in places.items():
        gate = gates.get(unit)  # inputs and output have none
        text = "" if gate is None else str(gate)
        diagrams.node(axis, place, text, colour="0.42" if gate == 0 else ACTIVE)


def _key(axis: Axes, centre: Place, routes: Mapping[int, tuple[int, ...]]) -> None:
    """Write how paths are numbered; the last path of the first small drawing is the example."""
    last_unit = max(routes.values())[-1]
    path = next(number for number, route in routes.items() if route[-1] == last_unit)
    units = ", ".join(map(str, routes[path]))
    first, *others = [f"unit in layer {layer}" for layer in range(1, len(routes[path]))]
    lines = (
        f"{len(routes)} paths",
        f"path = (input, {first},",
        ", ".join(others) + ")",
        f"path {path} = ({units})",
    )
    x, y = centre
    for number, line in enumerate(lines):
        diagrams.write(axis, (x, y + 0.28 - 0.18 * number), line)


def _overlap(axis: Axes, centre: Place, rows: pd.DataFrame) -> None:
    """Write Lambda as a matrix, and the paths that the first two examples share."""
    x, y = centre
    diagrams.write(axis, (x, y + 0.53), r"$\Lambda(s, s^\prime)$", size=7.5)
    overlap = _of_kind(rows, "overlap")
    middle = (int(overlap["example"].max()) + 1) / 2
    for row in overlap.to_dict("records"):
        across = row["other"] - middle
        down = row["example"] - middle
        is_diagonal = row["example"] == row["other"]
        diagrams.box(
            axis,
            (x + 0.34 * across, y + 0.12 - 0.23 * down),
            (0.32, 0.21),
            f"{row['value']:g}",
            fill=diagrams.PALE if is_diagonal else "white",
        )
    both = overlap.query("example == 1 and other == 2").iloc[0]
    shared = _path_names(list(_of_kind(rows, "shared path")["path"].astype(int)))
    lines = (
        f"$x_1$ and $x_2$ share {shared}:",
        rf"$\Lambda(1, 2) = {both['value']:g}$ per input node",
    )
    for number, line in enumerate(lines):
        diagrams.write(axis, (x, y - 0.37 - 0.16 * number), line, size=style.TEXT)


def _path_names(paths: Sequence[int]) -> str:
    """``no path``, ``path 3``, ``paths 3 and 12``."""
    if not paths:
        return "no path"
    names = listed(map(str, paths))
    return f"paths {names}" if len(paths) > 1 else f"path {names}"
