"""Draw the graphs of ``mermaid`` blocks as SVG, without a network and without other programs.

GitHub draws Mermaid itself. Here a block may have a direction, comments and edges ``a --> b``. The
nodes stand in layers from left to right, each behind all that it has edges from.
"""

import html
import re
from collections.abc import Collection
from dataclasses import dataclass
from itertools import pairwise

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

LETTER = 8.2  # width of a letter, in pixels
PADDING = 12  # between the words of a node and its border
HEIGHT = 30  # of a node
ROW = 48  # from one node to that below it
GAP = 54  # between two layers
MARGIN = 2.0  # left and right of all
LOOP = 16  # height of an arrow from a node to itself, above its row
SWEEPS = 8  # of ordering the nodes of each layer by those they are joined with
EDGE = re.compile(r"(\w+) --> (\w+)")

Edge = tuple[str, str]


def edges_of(text: str) -> list[Edge]:
    """Return the edges of a block, in their order.

    Raises:
        ValueError: a line is neither an edge, a comment nor the direction of the graph.
    """
    edges = []
    for line in filter(None, map(str.strip, text.splitlines())):
        if line.startswith(("%%", "flowchart ")):
            continue
        edge = EDGE.fullmatch(line)
        if edge is None:
            raise ValueError(f"{line!r} is no edge of a graph; write a --> b")
        edges.append((edge[1], edge[2]))
    return edges


def layers_of(edges: list[Edge]) -> dict[str, int]:
    """Return node -> its layer: after all that lead to it or, without any, before what follows."""
    before: dict[str, list[str]] = {}
    after: dict[str, list[str]] = {}
    for start, end in edges:
        for name in (start, end):
            before.setdefault(name, [])
            after.setdefault(name, [])
        if start != end:
            before[end].append(start)
            after[start].append(end)

    def earliest(name: str) -> int:
        return 1 + max((earliest(other) for other in before[name]), default=-1)

    layers = {name: earliest(name) for name in before}
    for name in before:
        if not before[name] and after[name]:
            layers[name] = min(layers[other] for other in after[name]) - 1
    return layers


@dataclass(frozen=True)
class Layout:
    """Nodes and bends of edges in layers, each layer from top to bottom.

    An edge over several layers has a bend in each layer between, so that it passes by the nodes.
    A bend is called by its edge and its layer.
    """

    columns: list[list[str]]
    paths: dict[Edge, list[str]]  # edge -> its start, bends and end


def layout_of(edges: list[Edge]) -> Layout:
    """Arrange a graph."""
    layers = layers_of(edges)
    columns: list[list[str]] = [[] for _ in range(max(layers.values()) + 1)]
    for name, layer in layers.items():
        columns[layer].append(name)
    paths = {}
    for start, end in edges:
        bends = []
        for layer in range(layers[start] + 1, layers[end]):
            bends.append(f"{start} {end} {layer}")
            columns[layer].append(bends[-1])
        paths[start, end] = [start, *bends, end]
    _order(columns, paths)
    return Layout(columns, paths)


def _order(columns: list[list[str]], paths: dict[Edge, list[str]]) -> None:
    """Sort each layer by the mean position of what its nodes are joined with, to and fro."""
    joined: dict[str, list[str]] = {name: [] for column in columns for name in column}
    for path in paths.values():
        for one, other in pairwise(path):
            if one != other:
                joined[one].append(other)
                joined[other].append(one)
    for _ in range(SWEEPS):
        for column in [*columns, *reversed(columns)]:
            position = positions(columns)
            means = {}
            for name in column:
                neighbours = [position[other] for other in joined[name]]
                means[name] = sum(neighbours) / max(len(neighbours), 1)
            column.sort(key=means.__getitem__)


def positions(columns: list[list[str]]) -> dict[str, float]:
    """Return name -> its distance from the middle of its layer, in rows."""
    rows = {}
    for column in columns:
        middle = (len(column) - 1) / 2
        for number, name in enumerate(column):
            rows[name] = number - middle
    return rows


@dataclass(frozen=True)
class Box:
    """Where a node or a bend is, in pixels."""

    left: float
    width: float
    y: float  # of its middle

    @property
    def right(self) -> float:
        """The end of its right side."""
        return self.left + self.width

    @property
    def top(self) -> float:
        """The end of its upper side."""
        return self.y - HEIGHT / 2

    @property
    def middle(self) -> float:
        """The position between its sides."""
        return self.left + self.width / 2


def boxes_of(layout: Layout, names: Collection[str], top: float) -> dict[str, Box]:
    """Return name -> its box, of the nodes ``names`` and of the bends, below ``top``."""
    rows = max(map(len, layout.columns))
    position = positions(layout.columns)
    boxes = {}
    left = MARGIN
    for column in layout.columns:
        widths = {name: LETTER * len(name) + 2 * PADDING for name in column if name in names}
        widest = max(widths.values())
        for name in column:
            width = widths.get(name, widest)  # a bend is as wide as its layer
            y = top + (rows / 2 + position[name]) * ROW
            boxes[name] = Box(left + (widest - width) / 2, width, y)
        left += widest + GAP
    return boxes


def svg(text: str) -> str:
    """Return the picture of a block as an SVG element."""
    edges = edges_of(text)
    layout = layout_of(edges)
    names = layers_of(edges)
    has_loop = any(start == end for start, end in edges)
    top = LOOP if has_loop else 0
    boxes = boxes_of(layout, names, top)
    parts = []
    for (start, end), path in layout.paths.items():
        if start == end:
            parts.append(_loop(boxes[start]))
        else:
            parts.append(_curve([boxes[name] for name in path]))
    parts += [_node(name, boxes[name]) for name in names]
    width = max(box.right for box in boxes.values()) + MARGIN
    height = top + max(map(len, layout.columns)) * ROW
    label = html.escape("; ".join(f"{start} to {end}" for start, end in edges))
    return (
        f'<svg class="fw-graph" role="img" aria-label="{label}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'xmlns="http://www.w3.org/2000/svg">{ARROW}{"".join(parts)}</svg>'
    )


ARROW = (
    '<defs><marker id="fw-arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" '
    'markerHeight="8" orient="auto"><path d="M0 0 8 4 0 8z"/></marker></defs>'
)


def _node(name: str, box: Box) -> str:
    return (
        f'<rect x="{box.left:.0f}" y="{box.top:.0f}" width="{box.width:.0f}" height="{HEIGHT}" '
        f'rx="5"/><text x="{box.middle:.0f}" y="{box.y + 5:.0f}">{html.escape(name)}</text>'
    )


def _curve(boxes: list[Box]) -> str:
    """A line from the right of the first box, through all bends, to the left of the last."""
    steps = [f"M{boxes[0].right:.0f} {boxes[0].y:.0f}"]
    for one, other in pairwise(boxes):
        if one is not boxes[0]:
            steps.append(f"H{one.right:.0f}")
        x = (one.right + other.left) / 2
        steps.append(f"C{x:.0f} {one.y:.0f} {x:.0f} {other.y:.0f} {other.left:.0f} {other.y:.0f}")
    return f'<path class="fw-edge" d="{"".join(steps)}"/>'


def _loop(box: Box) -> str:
    """An arrow from the top of a node to the top of the same node."""
    x = box.middle
    return (
        f'<path class="fw-edge" d="M{x - 10:.0f} {box.top:.0f}'
        f"C{x - 22:.0f} {box.top - 22:.0f} {x + 22:.0f} {box.top - 22:.0f} "
        f'{x + 10:.0f} {box.top:.0f}"/>'
    )


class Mermaid(SphinxDirective):
    """A block of Mermaid."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the picture."""
        return [nodes.raw("", f"<p>{svg(chr(10).join(self.content))}</p>", format="html")]


def setup(app: Sphinx) -> dict[str, bool]:
    """Draw blocks of Mermaid."""
    app.add_directive("mermaid", Mermaid)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
