"""The drawings of the thesis, Figures 2.1 and 2.2, as nodes and connections."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from finitewidth.papers.thesis import columns
from finitewidth.papers.thesis.settings import Concepts, Image, Recurrent, Residual
from finitewidth.records.tables import Table

Rows = Iterator[dict[str, Any]]
TABLES = {
    "network": Table(
        columns.DRAWING,
        columns.UNIT_OR_CONNECTION,
        columns.LAYER,
        columns.END,
        columns.START_LAYER,
        columns.START,
    ),
    "layers": Table(
        columns.DRAWING,
        columns.UNIT_OR_CONNECTION,
        columns.LAYER,
        columns.END,
        columns.START_LAYER,
        columns.START,
        columns.WEIGHT,
        columns.WINDOW,
    ),
}


def measure(inputs: Mapping[str, Any], settings: Concepts) -> dict[str, pd.DataFrame]:
    """List the nodes and connections of all drawings.

    Returns:
        ``network`` and ``layers``, see `TABLES`.
    """
    network = [{"drawing": "network"} | row for row in dense(settings.network)]
    drawings = {
        "convolution": convolution(settings.convolution),
        "recurrent": recurrent(settings.recurrent),
        "residual": residual(settings.residual),
    }
    layers = []
    for name, rows in drawings.items():
        layers += [{"drawing": name} | row for row in rows]
    return {"network": pd.DataFrame(network), "layers": pd.DataFrame(layers)}


def dense(sizes: Sequence[int], first: int = 0) -> Rows:
    """Nodes and connections of fully connected layers; the first has the number ``first``."""
    for layer, size in enumerate(sizes, start=first):
        yield from nodes(layer, size)
    for layer, (below, above) in enumerate(itertools.pairwise(sizes), start=first + 1):
        yield from connections("weight", (layer - 1, below), (layer, above))


def nodes(layer: int, size: int) -> Rows:
    """The units of a layer."""
    for unit in range(1, size + 1):
        yield {"kind": "node", "layer": layer, "end": unit}


def connections(kind: str, below: tuple[int, int], above: tuple[int, int]) -> Rows:
    """Connections of all units of one layer to all of another, given as (layer, size)."""
    start_layer, start_size = below
    layer, size = above
    for start in range(1, start_size + 1):
        for end in range(1, size + 1):
            yield {
                "kind": kind,
                "start_layer": start_layer,
                "start": start,
                "layer": layer,
                "end": end,
            }


def convolution(image: Image) -> Rows:
    """A convolution of a square image, stride 1, no padding, for its first and last position.

    Every output pixel is connected to the pixels of its window by the same weights.
    """
    size = image.size
    across = size - image.window + 1  # side of the output
    last = across**2
    yield from nodes(0, size**2)
    yield from nodes(1, last)
    for number, end in enumerate(sorted({1, last}), start=1):
        top, left = divmod(end - 1, across)
        pixels = itertools.product(range(image.window), repeat=2)
        for weight, (down, right) in enumerate(pixels, start=1):
            start = (top + down) * size + left + right + 1
            yield {
                "kind": "weight",
                "start_layer": 0,
                "start": start,
                "layer": 1,
                "end": end,
                "weight": weight,
                "window": number,
            }


def recurrent(sizes: Recurrent) -> Rows:
    """A fully connected recurrent layer between an input and an output layer.

    Layer 1 is the recurrent layer. Its outputs are inputs to all of its units one step later.
    """
    yield from dense([sizes.inputs, sizes.units, sizes.outputs])
    yield from connections("recurrent", (1, sizes.units), (1, sizes.units))


def residual(sizes: Residual) -> Rows:
    """A network with one residual block, whose hidden layers follow layer 1.

    Each unit of the last layer of the block adds the unit of layer 1 with the same number.
    """
    block = [sizes.units] * sizes.hidden
    yield from dense([sizes.inputs, sizes.units, *block, sizes.outputs])
    for unit in range(1, sizes.units + 1):
        yield {
            "kind": "identity",
            "start_layer": 1,
            "start": unit,
            "layer": sizes.hidden + 1,
            "end": unit,
        }
