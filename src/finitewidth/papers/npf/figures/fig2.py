"""npf Figure 2 and npf0 Figure 2: the deep gated network, its equations and its regimes."""

import re
from collections.abc import Mapping, Sequence
from typing import Literal

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from finitewidth.figures import diagrams, style
from finitewidth.figures.diagrams import LARGE, LINES, PALE, PLAIN, SMALL, Place
from finitewidth.papers.npf.columns import concepts as columns
from finitewidth.records.tables import Table
from finitewidth.settings.sections import Section

TABLE = Table(
    columns.BLOCK_SHOWN,
    columns.NAME_SHOWN,
    columns.NETWORK_SHOWN,
    columns.BLOCK_LAYER_SHOWN,
    columns.BLOCK_START_SHOWN,
    columns.BLOCK_END_SHOWN,
    columns.FORMULA,
    columns.HARD_OR_SOFT,
    columns.INITIALISED,
)
# all lengths in inches
HEIGHT = 4.8
TOP = 4.28  # height of the feature network
BOTTOM = 3.16  # height of the value network
LEFT = 1.7  # place of the first hidden layer
COLUMN = 1.42  # distance between layers
BOX = (0.84, 0.34)  # width and height of a layer
HALF_WIDTH = BOX[0] / 2
HALF_HEIGHT = BOX[1] / 2
COLOURS = {"feature": LINES[0], "value": LINES[1]}
NESTED = 11.4  # points, of a formula with an index of an index
# height of the titles above the equations and regimes, and between their lines
EQUATIONS = (2.34, 0.23)
REGIMES = (0.72, 0.145)
TABS = {"regime": 0.25, "gates": 1.3, "feature network starts": 2.0, "learns": 3.8}


class Look(Section):
    """Which version of the paper the figure belongs to."""

    artifact: str
    paper: Literal["npf", "npf0"]


def select(tables: Mapping[str, pd.DataFrame], settings: Look) -> pd.DataFrame:
    """Return blocks, arrows, regimes and equations of one version of the paper."""
    paper = settings.paper
    blocks = tables["blocks"]
    blocks = blocks[blocks["paper"] == paper].rename(columns={"label": "formula"})
    # of a regime the label has the gates, and the start says how its feature network starts
    is_regime = blocks["kind"] == "regime"
    blocks = blocks.assign(
        gates=blocks["formula"].where(is_regime),
        formula=blocks["formula"].mask(is_regime),
        initialised=blocks["start"].where(is_regime),
        start=blocks["start"].mask(is_regime),
    )
    equations = tables["equations"]
    equations = equations[equations["artifact"] == f"{paper}_fig2"]
    equations = equations.assign(
        kind="equation",
        name=equations["row"].str.lower(),
        network=equations["column"],
        formula=equations["latex"],
    )
    rows = pd.concat([blocks, equations]).reindex(columns=TABLE.names).astype(object)
    return rows.where(rows.notna() & (rows != ""), "none")


def draw(rows: pd.DataFrame, settings: Look) -> Figure:
    """Draw blocks above, equations and regimes below."""
    figure, axis = diagrams.canvas(style.DOUBLE, HEIGHT)
    for height, letter in ((HEIGHT - 0.1, "a"), (EQUATIONS[0], "b"), (REGIMES[0], "c")):
        diagrams.letter(axis, (0.05, height), letter)
    nodes = _of_kind(rows, "node")
    places = _places(nodes)
    _networks(axis, nodes)
    for row in nodes:
        _node(axis, places[row["name"]], row)
    for row in _of_kind(rows, "forward"):
        draw_arrow = _from_input if row["start"] == "x" else _forward
        draw_arrow(axis, places[row["start"]], places[row["end"]], row)
    for row in _of_kind(rows, "gate"):
        _gate(axis, places[row["start"]], places[row["end"]], f"${row['formula']}$")
    for row in _of_kind(rows, "gradient"):
        _gradient(axis, places[row["start"]], row)
    _equations(axis, rows[rows["kind"] == "equation"])
    _regimes(axis, _of_kind(rows, "regime"))
    return figure


def _is_layer(node: Mapping[str, str]) -> bool:
    """Whether a node is a layer of a network, and not the input or the output."""
    return node["name"] not in ("x", "y")


def _of_kind(rows: pd.DataFrame, kind: str) -> list[dict[str, str]]:
    return rows[rows["kind"] == kind].to_dict("records")


def _places(nodes: Sequence[Mapping[str, str]]) -> dict[str, Place]:
    """Place hidden layers in columns, with the feature network above the value network."""
    layers = list(dict.fromkeys(node["layer"] for node in nodes if _is_layer(node)))
    across = {layer: LEFT + COLUMN * number for number, layer in enumerate(layers)}
    height = {"feature": TOP, "value": BOTTOM}
    places = {
        "x": (0.28, (TOP + BOTTOM) / 2),
        "y": (LEFT + COLUMN * len(layers) + 0.17, BOTTOM),
    }
    for node in nodes:
        if _is_layer(node):
            places[node["name"]] = (across[node["layer"]], height[node["network"]])
    return places


def _from_input(axis: Axes, start: Place, end: Place, row: Mapping[str, str]) -> None:
    """Draw the slanted arrow from the input to the first layer of a network."""
    side = (end[0] - HALF_WIDTH, end[1])
    diagrams.arrow(axis, start, side, gaps=(0.16, 0), colour=COLOURS[row["network"]])
    above = end[1] > start[1]
    place = (
        (start[0] + side[0]) / 2 - 0.08,
        (start[1] + side[1]) / 2 + (0.17 if above else -0.17),
    )
    diagrams.write(axis, place, f"${row['formula']}$", size=LARGE, across="right")


def _node(axis: Axes, place: Place, row: Mapping[str, str]) -> None:
    formula = f"${row['formula']}$"
    if row["name"] == "x":
        diagrams.node(axis, place, formula, radius=0.16, size=9)
    elif row["name"] == "y":
        diagrams.box(axis, place, BOX, formula, font=NESTED)
    else:
        diagrams.box(axis, place, BOX, formula, colour=COLOURS[row["network"]], font=8.5)


def _forward(axis: Axes, start: Place, end: Place, row: Mapping[str, str]) -> None:
    """Draw an arrow from layer to layer, dashed where layers are left out."""
    right = (start[0] + HALF_WIDTH, start[1])
    left = (end[0] - HALF_WIDTH, end[1])
    skips = row["start"].endswith(" 1") or row["end"].endswith(" d-1")
    line = "--" if skips else "-"
    diagrams.arrow(axis, right, left, colour=COLOURS[row["network"]], style=line)
    middle = (right[0] + left[0]) / 2
    diagrams.write(axis, (middle, start[1] + 0.14), f"${row['formula']}$", size=LARGE)


def _gate(axis: Axes, start: Place, end: Place, formula: str) -> None:
    bottom = (start[0], start[1] - HALF_HEIGHT)
    top = (end[0], end[1] + HALF_HEIGHT)
    diagrams.arrow(axis, bottom, top, colour="0.35", width=1.8)
    place = (start[0] + 0.08, (start[1] + end[1]) / 2 + 0.05)
    diagrams.write(axis, place, formula, size=LARGE, across="left")


def _networks(axis: Axes, nodes: Sequence[Mapping[str, str]]) -> None:
    """Draw a pale background for each network, with its name."""
    for network, height, above in (("feature", TOP, 1), ("value", BOTTOM, -1)):
        count = sum(_is_layer(node) and node["network"] == network for node in nodes)
        middle = LEFT + COLUMN * (count - 1) / 2
        width = COLUMN * (count - 1) + BOX[0] + 0.28
        diagrams.box(axis, (middle, height), (width, 0.6), colour="white", fill=PALE, zorder=0.5)
        diagrams.write(
            axis,
            (LEFT - HALF_WIDTH - 0.1, height + 0.4 * above),
            f"{network} network",
            size=LARGE,
            colour=COLOURS[network],
            across="left",
            weight="bold",
        )


def _gradient(axis: Axes, start: Place, row: Mapping[str, str]) -> None:
    """Draw the arrow of the gradient, from the output back into a network that learns."""
    colour = COLOURS[row["end"]]
    x, y = start
    right = LEFT + COLUMN * 2 + HALF_WIDTH + 0.15  # of the networks
    if row["end"] == "feature":
        side = (x, y + HALF_HEIGHT)
        end = (right, TOP)
        bend = 0.35
        place = (x + 0.02, (TOP + BOTTOM) / 2 + 0.28)
    else:
        side = (x, y - HALF_HEIGHT)
        end = (right - 0.3, BOTTOM - 0.3)
        bend = -0.35
        place = (x - 0.12, BOTTOM - 0.49)
    diagrams.arrow(axis, side, end, colour=colour, style=":", width=1.6, bend=bend)
    diagrams.write(axis, place, f"${row['formula']}$", size=8.5, colour=colour, across="left")


def _equations(axis: Axes, rows: pd.DataFrame) -> None:
    top, step = EQUATIONS
    by_network = rows.groupby("network", sort=False)
    left = TABS["regime"]
    for (title, equations), colour in zip(by_network, COLOURS.values(), strict=True):
        x, y = left, top
        diagrams.write(axis, (x, y), title, size=LARGE, colour=colour, across="left", weight="bold")
        for name, formula in zip(equations["name"], equations["formula"], strict=True):
            is_high = r"\frac" in formula  # takes more room, above and below
            y -= step * (1.2 if is_high else 1)
            diagrams.write(axis, (x, y), name, size=SMALL, across="left", colour="0.35")
            diagrams.write(axis, (x + 0.8, y), f"${_mathtext(formula)}$", size=LARGE, across="left")
            y -= step * 0.55 * is_high
        left += 3.4


def _mathtext(formula: str) -> str:
    """Rewrite a formula for mathtext.

    The index of a sum stands beside its sign, since mathtext has no limits below it. Indices of
    indices would be too small: the condition of an indicator stands on the line, and the index of
    the output, which is drawn above, is left out.
    """
    text = formula.replace(r"\sum_j", r"\Sigma_j\,")
    text = re.sub(r"\\mathbf\{1\}_\{(\\\{.*?\\\})\}", r"\\mathbf{1}\1", text)
    text = re.sub(r"\\hat\{y\}_\{\\Theta\^.*?\}\}", r"\\hat{y}", text)
    return text.replace(r"\frac", r"\dfrac")


def _regimes(axis: Axes, rows: Sequence[Mapping[str, str]]) -> None:
    """Write for each regime its gates, how the feature network is initialised, and what learns."""
    top, step = REGIMES
    for title, x in TABS.items():
        diagrams.write(axis, (x, top), title, size=SMALL, across="left", colour="0.35")
    columns = ("name", "gates", "initialised", "network")
    for line, row in enumerate(rows, start=1):
        y = top - step * line - 0.02
        for x, column in zip(TABS.values(), columns, strict=True):
            diagrams.write(axis, (x, y), row[column], size=PLAIN, across="left")
