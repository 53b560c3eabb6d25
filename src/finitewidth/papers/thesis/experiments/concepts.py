"""The drawings of the thesis, Figures 2.1 and 2.2, as nodes and connections."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

Rows = Iterator[dict[str, Any]]


def measure(inputs: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """List the nodes and connections of all drawings.

    Returns:
        ``network`` and ``layers``, with the columns drawing, kind (node, or the kind of the
        connection), layer and end of a node; start_layer, start, layer and end of a connection.
        Units are counted from 1. Pixels are counted line by line; ``weight`` is the number of the
        shared weight of a connection, and ``window`` the number of the window to which the
        connection belongs.
    """
    network = [{"drawing": "network"} | row for row in dense(settings["network"])]
    layers = []
    for drawing in (convolution, recurrent, residual):
        name = drawing.__name__
        layers += [{"drawing": name} | row for row in drawing(**settings[name])]
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


def convolution(size: int, window: int) -> Rows:
    """A convolution of a square image, stride 1, no padding, for its first and last position.

    Every output pixel is connected to the pixels of its window by the same weights.

    Args:
        size: side of the image in pixels.
        window: side of the window in pixels.
    """
    across = size - window + 1  # side of the output
    last = across**2
    yield from nodes(0, size**2)
    yield from nodes(1, last)
    for number, end in enumerate(sorted({1, last}), start=1):
        top, left = divmod(end - 1, across)
        for weight, (down, right) in enumerate(itertools.product(range(window), repeat=2), start=1):
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


def recurrent(inputs: int, units: int, outputs: int) -> Rows:
    """A fully connected recurrent layer between an input and an output layer.

    Layer 1 is the recurrent layer. Its outputs are inputs to all of its units one step later.
    """
    yield from dense([inputs, units, outputs])
    yield from connections("recurrent", (1, units), (1, units))


def residual(inputs: int, units: int, hidden: int, outputs: int) -> Rows:
    """A network with one residual block of ``hidden`` layers, which follow layer 1.

    Each unit of the last layer of the block adds the unit of layer 1 with the same number.
    """
    yield from dense([inputs, units, *[units] * hidden, outputs])
    for unit in range(1, units + 1):
        yield {
            "kind": "identity",
            "start_layer": 1,
            "start": unit,
            "layer": hidden + 1,
            "end": unit,
        }
