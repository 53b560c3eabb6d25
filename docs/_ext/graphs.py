"""Draw the graphs of ``mermaid`` blocks as SVG, without a network and without other programs.

GitHub draws Mermaid itself. Here a block may have a direction, comments and edges ``a --> b``. The
nodes stand in layers from left to right, each behind all that it has edges from.
"""

import html
import re
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
            place = positions(columns)
            column.sort(
                key=lambda name: (
                    sum(place[other] for other in joined[name]) / max(len(joined[name]), 1)
                )
            )


def positions(columns: list[list[str]]) -> dict[str, float]:
    """Return name -> its distance from the middle of its layer, in rows."""
    return {
        name: number - (len(column) - 1) / 2
        for column in columns
        for number, name in enumerate(column)
    }


def svg(text: str) -> str:
    """Return the picture of a block as an SVG element."""
    edges = edges_of(text)
    layout = layout_of(edges)
    rows = max(map(len, layout.columns))
    names = layers_of(edges)
    has_loop = any(start == end for start, end in edges)
    top = LOOP if has_loop else 0
    height = top + rows * ROW
    y = {name: top + (rows / 2 + row) * ROW for name, row in positions(layout.columns).items()}
    left, width = {}, {}
    x = 2.0
    for column in layout.columns:
        widest = max(_width(name) for name in column if name in names)
        for name in column:
            width[name] = _width(name) if name in names else widest
            left[name] = x + (widest - width[name]) / 2
        x += widest + GAP
    parts = []
    for path in layout.paths.values():
        if path[0] == path[-1]:
            parts.append(_loop(left[path[0]] + width[path[0]] / 2, y[path[0]] - HEIGHT / 2))
        else:
            parts.append(_curve([(left[p], left[p] + width[p], y[p]) for p in path]))
    parts += [_node(name, left[name], y[name], width[name]) for name in names]
    label = html.escape("; ".join(f"{start} to {end}" for start, end in edges))
    right = x - GAP + 2
    size = f'viewBox="0 0 {right:.0f} {height:.0f}" width="{right:.0f}"'
    return (
        f'<svg class="fw-graph" role="img" aria-label="{label}" {size} '
        f'xmlns="http://www.w3.org/2000/svg">{ARROW}{"".join(parts)}</svg>'
    )


ARROW = (
    '<defs><marker id="fw-arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" '
    'markerHeight="8" orient="auto"><path d="M0 0 8 4 0 8z"/></marker></defs>'
)


def _width(name: str) -> float:
    return LETTER * len(name) + 2 * PADDING


def _node(name: str, left: float, y: float, width: float) -> str:
    return (
        f'<rect x="{left:.0f}" y="{y - HEIGHT / 2:.0f}" width="{width:.0f}" height="{HEIGHT}" '
        f'rx="5"/><text x="{left + width / 2:.0f}" y="{y + 5:.0f}">{html.escape(name)}</text>'
    )


def _curve(stops: list[tuple[float, float, float]]) -> str:
    """A line from the right of the first stop (left, right, y) to the left of the last."""
    _, x, y = stops[0]
    steps = [f"M{x:.0f} {y:.0f}"]
    for left, right, end in stops[1:]:
        middle = (x + left) / 2
        steps.append(f"C{middle:.0f} {y:.0f} {middle:.0f} {end:.0f} {left:.0f} {end:.0f}")
        if (left, right, end) != stops[-1]:
            steps.append(f"H{right:.0f}")
        x, y = right, end
    return f'<path class="fw-edge" d="{"".join(steps)}"/>'


def _loop(x: float, top: float) -> str:
    """An arrow from the top of a node to the top of the same node."""
    return (
        f'<path class="fw-edge" d="M{x - 10:.0f} {top:.0f}'
        f'C{x - 22:.0f} {top - 22:.0f} {x + 22:.0f} {top - 22:.0f} {x + 10:.0f} {top:.0f}"/>'
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
