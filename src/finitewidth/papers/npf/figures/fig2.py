"""npf Figure 2 and npf0 Figure 2: the deep gated network, its equations and its regimes."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from finitewidth.figures import diagrams, style
from finitewidth.figures.diagrams import LARGE, LINES, PALE, PLAIN, SMALL, Place
from finitewidth.records import fields

FIELDS = {
    "kind": fields.text("node, forward, gate or gradient (arrows), equation or regime"),
    "name": fields.text("name of a node, an equation or a regime"),
    "network": fields.text("network that the row belongs to; for a regime the networks that learn"),
    "layer": fields.text("layer of a node"),
    "start": fields.text("node at which an arrow starts"),
    "end": fields.text("node, or network for gradients, at which an arrow ends"),
    "formula": fields.text("formula of a node, an arrow or an equation, in LaTeX"),
    "gates": fields.text("gates of a regime: hard or soft"),
    "initialised": fields.text("how the feature network of a regime starts"),
}
HEIGHT = 4.8
TOP, BOTTOM = 4.28, 3.16  # heights of the two networks
LEFT, COLUMN = 1.7, 1.42  # place of the first hidden layer, distance between layers
BOX = (0.84, 0.34)
COLOURS = {"feature": LINES[0], "value": LINES[1]}
NESTED = 11.4  # points, of a formula with an index of an index
EQUATIONS = 2.34, 0.23  # height of the titles above the equations, and between lines
REGIMES = 0.72, 0.145
TABS = (0.25, 1.3, 2.0, 3.8)


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return blocks, arrows, regimes and equations of ``settings["paper"]``, npf or npf0."""
    blocks, equations = tables["blocks"], tables["equations"]
    blocks = blocks[blocks["paper"] == settings["paper"]].rename(columns={"label": "formula"})
    regime = blocks["kind"] == "regime"
    blocks = blocks.assign(
        gates=blocks["formula"].where(regime),
        formula=blocks["formula"].mask(regime),
        initialised=blocks["start"].where(regime),
        start=blocks["start"].mask(regime),
    )
    equations = equations[equations["artifact"] == f"{settings['paper']}_fig2"]
    equations = equations.assign(
        kind="equation",
        name=equations["row"].str.lower(),
        network=equations["column"],
        formula=equations["latex"],
    )
    rows = pd.concat([blocks, equations]).reindex(columns=list(FIELDS)).astype(object)
    return rows.where(rows.notna() & (rows != ""), "none")


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw blocks above, equations and regimes below."""
    figure, axis = diagrams.canvas(style.DOUBLE, HEIGHT)
    for height, letter in ((HEIGHT - 0.1, "a"), (EQUATIONS[0], "b"), (REGIMES[0], "c")):
        diagrams.letter(axis, (0.05, height), letter)
    nodes = _of(rows, "node")
    places = _places(nodes)
    _networks(axis, nodes)
    for row in nodes:
        _node(axis, places[row["name"]], row)
    for row in _of(rows, "forward"):
        _forward(axis, places[row["start"]], places[row["end"]], row)
    for row in _of(rows, "gate"):
        _gate(axis, places[row["start"]], places[row["end"]], f"${row['formula']}$")
    for row in _of(rows, "gradient"):
        _gradient(axis, places[row["start"]], row)
    _equations(axis, rows[rows["kind"] == "equation"])
    _regimes(axis, _of(rows, "regime"))
    return figure


def _of(rows: pd.DataFrame, kind: str) -> list[dict[str, str]]:
    return rows[rows["kind"] == kind].to_dict("records")


def _places(nodes: Sequence[Mapping[str, str]]) -> dict[str, Place]:
    """Place hidden layers in columns, with the feature network above the value network."""
    layers = list(dict.fromkeys(n["layer"] for n in nodes if n["name"] not in ("x", "y")))
    across = {layer: LEFT + COLUMN * number for number, layer in enumerate(layers)}
    height = {"feature": TOP, "value": BOTTOM}
    places = {"x": (0.28, (TOP + BOTTOM) / 2), "y": (LEFT + COLUMN * len(layers) + 0.17, BOTTOM)}
    for node in nodes:
        if node["name"] not in places:
            places[node["name"]] = across[node["layer"]], height[node["network"]]
    return places


def _node(axis: Axes, place: Place, row: Mapping[str, str]) -> None:
    formula = f"${row['formula']}$"
    if row["name"] == "x":
        diagrams.node(axis, place, formula, radius=0.16, size=9)
    elif row["name"] == "y":
        diagrams.box(axis, place, BOX, formula, font=NESTED)
    else:
        diagrams.box(axis, place, BOX, formula, colour=COLOURS[row["network"]], font=8.5)


def _forward(axis: Axes, start: Place, end: Place, row: Mapping[str, str]) -> None:
    colour, formula = COLOURS[row["network"]], f"${row['formula']}$"
    if row["start"] == "x":
        ends = (start, (end[0] - BOX[0] / 2, end[1]))
        diagrams.arrow(axis, *ends, gaps=(0.16, 0), colour=colour)
        middle = (ends[0][0] + ends[1][0]) / 2, (ends[0][1] + ends[1][1]) / 2
        place = middle[0] - 0.08, middle[1] + (0.17 if end[1] > start[1] else -0.17)
        diagrams.write(axis, place, formula, size=LARGE, across="right")
        return
    ends = (start[0] + BOX[0] / 2, start[1]), (end[0] - BOX[0] / 2, end[1])
    # dashed where layers are left out
    skipped = row["start"].endswith(" 1") or row["end"].endswith(" d-1")
    diagrams.arrow(axis, *ends, colour=colour, style="--" if skipped else "-")
    diagrams.write(axis, ((ends[0][0] + ends[1][0]) / 2, start[1] + 0.14), formula, size=LARGE)


def _gate(axis: Axes, start: Place, end: Place, formula: str) -> None:
    half = BOX[1] / 2
    ends = (start[0], start[1] - half), (end[0], end[1] + half)
    diagrams.arrow(axis, *ends, colour="0.35", width=1.8)
    place = start[0] + 0.08, (start[1] + end[1]) / 2 + 0.05
    diagrams.write(axis, place, formula, size=LARGE, across="left")


def _networks(axis: Axes, nodes: Sequence[Mapping[str, str]]) -> None:
    """Draw a pale background for each network, with its name."""
    for network, height, above in (("feature", TOP, 1), ("value", BOTTOM, -1)):
        count = sum(n["network"] == network and n["name"] not in ("x", "y") for n in nodes)
        middle, width = LEFT + COLUMN * (count - 1) / 2, COLUMN * (count - 1) + BOX[0] + 0.28
        diagrams.box(axis, (middle, height), (width, 0.6), colour="white", fill=PALE, zorder=0.5)
        diagrams.write(
            axis,
            (LEFT - BOX[0] / 2 - 0.1, height + 0.4 * above),
            f"{network} network",
            size=LARGE,
            colour=COLOURS[network],
            across="left",
            weight="bold",
        )


def _gradient(axis: Axes, start: Place, row: Mapping[str, str]) -> None:
    """Draw the arrow of the gradient, from the output back into a network that learns."""
    colour = COLOURS[row["end"]]
    end = LEFT + COLUMN * 2 + BOX[0] / 2 + 0.15
    if row["end"] == "feature":
        above, ends, bend = 1, (end, TOP), 0.35
        place = start[0] + 0.02, (TOP + BOTTOM) / 2 + 0.28
    else:
        above, ends, bend = -1, (end - 0.3, BOTTOM - 0.3), -0.35
        place = start[0] - 0.12, BOTTOM - 0.49
    side = start[0], start[1] + above * BOX[1] / 2
    diagrams.arrow(axis, side, ends, colour=colour, style=":", width=1.6, bend=bend)
    diagrams.write(axis, place, f"${row['formula']}$", size=8.5, colour=colour, across="left")


def _equations(axis: Axes, rows: pd.DataFrame) -> None:
    top, step = EQUATIONS
    for column, (title, group) in enumerate(rows.groupby("network", sort=False)):
        x, y, colour = TABS[0] + 3.4 * column, top, list(COLOURS.values())[column]
        diagrams.write(axis, (x, y), title, size=LARGE, colour=colour, across="left", weight="bold")
        for name, formula in zip(group["name"], group["formula"], strict=True):
            high = r"\frac" in formula  # takes more room, above and below
            y -= step * (1.2 if high else 1)
            diagrams.write(axis, (x, y), name, size=SMALL, across="left", colour="0.35")
            diagrams.write(axis, (x + 0.8, y), f"${_mathtext(formula)}$", size=LARGE, across="left")
            y -= step * 0.35 * high


def _mathtext(formula: str) -> str:
    """Write what mathtext lacks otherwise: indices of sums beside the sign.

    Indices of indices would be too small: what an indicator is of stands on the line, and the
    index of the output, which is drawn above, is left out.
    """
    text = formula.replace(r"\sum_j", r"\Sigma_j\,")
    text = re.sub(r"\\mathbf\{1\}_\{(\\\{.*?\\\})\}", r"\\mathbf{1}\1", text)
    text = re.sub(r"\\hat\{y\}_\{\\Theta\^.*?\}\}", r"\\hat{y}", text)
    return text.replace(r"\frac", r"\dfrac")


def _regimes(axis: Axes, rows: Sequence[Mapping[str, str]]) -> None:
    """Write for each regime its gates, how the feature network is initialised, and what learns."""
    top, step = REGIMES
    for x, title in zip(TABS, ("regime", "gates", "feature network starts", "learns"), strict=True):
        diagrams.write(axis, (x, top), title, size=SMALL, across="left", colour="0.35")
    for line, row in enumerate(rows, start=1):
        for x, name in zip(TABS, ("name", "gates", "initialised", "network"), strict=True):
            diagrams.write(
                axis, (x, top - step * line - 0.02), row[name], size=PLAIN, across="left"
            )
