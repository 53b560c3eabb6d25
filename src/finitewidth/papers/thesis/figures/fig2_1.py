"""thesis Figure 2.1: a fully connected network with the sizes and parameters of its layers."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from finitewidth.figures import diagrams
from finitewidth.figures.diagrams import INK
from finitewidth.figures.style import COLOURS, DOUBLE
from finitewidth.papers.thesis import columns
from finitewidth.records.tables import Table

HEIGHT = 2.78  # inches
NETWORK = (5.2, 1.7)
CENTRE = (3.4, 1.42)
ENDS = {"input": COLOURS[0], "hidden": INK, "output": COLOURS[2]}
CONNECTIONS = "0.55"
TABLE = Table(
    columns.UNIT_OR_CONNECTION,
    columns.LAYER,
    columns.END,
    columns.START,
)


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the table ``network``: its nodes and connections."""
    return tables["network"][TABLE.names]


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw the network, with widths above its layers and parameters below."""
    figure, axis = diagrams.canvas(DOUBLE, HEIGHT)
    units = rows[rows["kind"] == "node"]
    sizes = units.groupby("layer")["end"].count().tolist()
    last = len(sizes) - 1
    positions = diagrams.columns(sizes, CENTRE, NETWORK)
    connections = rows[rows["kind"] == "weight"].to_dict("records")
    diagrams.skeleton(
        axis, positions, map(diagrams.ends, connections), colour=CONNECTIONS, width=0.5
    )
    for (layer, _), position in positions.items():
        diagrams.node(axis, position, colour=ENDS[_part(layer, last)], radius=0.085)

    across = [positions[layer, 1][0] for layer in range(len(sizes))]  # of each layer
    for layer, size in enumerate(sizes):
        part = _part(layer, last)
        name = f"hidden {layer}" if part == "hidden" else part
        for height, text in ((0.12, name), (0.28, f"$n_{layer} = {size}$")):
            diagrams.write(
                axis, (across[layer], HEIGHT - height), text, size=7.5, colour=ENDS[part]
            )
    for layer in range(1, last + 1):
        middle = (across[layer - 1] + across[layer]) / 2
        diagrams.write(axis, (middle, 0.33), f"layer {layer}", size=7.5)
        parameters = rf"$(\mathbf{{W}}^{layer}, \mathbf{{b}}^{layer}, \phi)$"
        diagrams.write(axis, (middle, 0.13), parameters, size=8)

    y = CENTRE[1]
    diagrams.write(axis, (across[0] - 0.22, y), r"$\mathbf{x}^0$", size=10, across="right")
    output = r"$f_\theta(\mathbf{x}^0)$"
    diagrams.write(axis, (across[last] + 0.2, y), output, size=9, across="left")
    return figure


def _part(layer: int, last: int) -> str:
    if layer == 0:
        return "input"
    if layer == last:
        return "output"
    return "hidden"
