"""thesis Figure 2.1: a fully connected network with the sizes and parameters of its layers."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from finitewidth.figures import diagrams
from finitewidth.figures.diagrams import INK
from finitewidth.figures.style import COLOURS, DOUBLE
from finitewidth.records import fields

HEIGHT = 2.78  # inches
NETWORK = (5.2, 1.7)
CENTRE = (3.4, 1.42)
ENDS = {"input": COLOURS[0], "hidden": INK, "output": COLOURS[2]}
CONNECTIONS = "0.55"
FIELDS = {
    "kind": fields.text("node: a unit; weight: a connection of two units"),
    "layer": fields.integer("layer of the unit, or of the unit at the end of a connection"),
    "end": fields.integer("number of this unit in its layer, from 1"),
    "start": fields.number("unit of the layer before at the start of a connection"),
}


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the table ``network``: its nodes and connections."""
    return tables["network"][list(FIELDS)]


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw the network, with widths above its layers and parameters below."""
    figure, axis = diagrams.canvas(DOUBLE, HEIGHT)
    sizes = rows[rows["kind"] == "node"].groupby("layer")["end"].count().tolist()
    places = diagrams.columns(sizes, CENTRE, NETWORK)
    edges = rows[rows["kind"] == "weight"].to_dict("records")
    diagrams.skeleton(axis, places, map(diagrams.ends, edges), colour=CONNECTIONS, width=0.5)
    last = len(sizes) - 1
    for (layer, _), place in places.items():
        diagrams.node(axis, place, colour=ENDS[_part(layer, last)], radius=0.085)
    for layer, size in enumerate(sizes):
        x, part = places[layer, 1][0], _part(layer, last)
        name = part if part != "hidden" else f"hidden {layer}"
        for height, text in ((0.12, name), (0.28, f"$n_{layer} = {size}$")):
            diagrams.write(axis, (x, HEIGHT - height), text, size=7.5, colour=ENDS[part])
    for layer in range(1, last + 1):
        middle = (places[layer - 1, 1][0] + places[layer, 1][0]) / 2
        diagrams.write(axis, (middle, 0.33), f"layer {layer}", size=7.5)
        label = rf"$(\mathbf{{W}}^{layer}, \mathbf{{b}}^{layer}, \phi)$"
        diagrams.write(axis, (middle, 0.13), label, size=8)
    left, right = places[0, 1][0], places[last, 1][0]
    diagrams.write(axis, (left - 0.22, CENTRE[1]), r"$\mathbf{x}^0$", size=10, across="right")
    diagrams.write(
        axis, (right + 0.2, CENTRE[1]), r"$f_\theta(\mathbf{x}^0)$", size=9, across="left"
    )
    return figure


def _part(layer: int, last: int) -> str:
    return {0: "input", last: "output"}.get(layer, "hidden")
