"""npf Figure 2 and npf0 Figure 2: the deep gated network, its equations and its regimes."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from finitewidth.figures import diagrams
from finitewidth.figures.diagrams import INK, LINES, PALE, Place

WIDTH, HEIGHT = 7.0, 5.4
TOP, BOTTOM = 4.8, 3.45  # heights of the two networks
LEFT, COLUMN = 1.75, 1.45  # place of the first hidden layer, distance between layers
BOX = (0.82, 0.36)
COLOURS = {"feature": LINES[0], "value": LINES[1]}
GATES = "0.4"
TABS = (0.1, 1.2, 1.9, 4.2)


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return blocks, arrows, regimes and equations of both versions of the paper."""
    equations = tables["equations"]
    equations = equations[equations["artifact"].isin(["npf_fig2", "npf0_fig2"])]
    paper = equations["artifact"].str.removesuffix("_fig2")
    equations = equations.assign(kind="equation", paper=paper, name=equations["row"],
                                 label=equations["latex"])  # fmt: skip
    columns = [*tables["blocks"].columns, "column"]
    return pd.concat([tables["blocks"], equations]).reindex(columns=columns)


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw blocks above, equations and regimes below.

    ``settings["paper"]`` is ``npf`` or ``npf0``.
    """
    rows = rows[rows["paper"] == settings["paper"]]
    figure, axis = diagrams.canvas(WIDTH, HEIGHT)
    places = _places(rows[rows["kind"] == "node"].to_dict("records"))
    _networks(axis, rows)
    for row in rows[rows["kind"] == "node"].to_dict("records"):
        _node(axis, places[row["name"]], row)
    for kind, drawn in (("forward", _forward), ("gate", _gate)):
        for row in rows[rows["kind"] == kind].to_dict("records"):
            drawn(axis, places[row["start"]], places[row["end"]], row)
    gradients = rows[rows["kind"] == "gradient"].to_dict("records")
    for row in gradients:
        _gradient(axis, places[row["start"]], row)
    _equations(axis, rows[rows["kind"] == "equation"])
    _regimes(axis, rows[rows["kind"] == "regime"])
    return figure


def _places(nodes: Sequence[Mapping[str, str]]) -> dict[str, Place]:
    """Place hidden layers in columns, with the feature network above the value network."""
    layers = list(dict.fromkeys(n["layer"] for n in nodes if n["name"] not in ("x", "y")))
    across = {layer: LEFT + COLUMN * number for number, layer in enumerate(layers)}
    height = {"feature": TOP, "value": BOTTOM}
    places = {"x": (0.3, (TOP + BOTTOM) / 2), "y": (LEFT + COLUMN * len(layers) + 0.15, BOTTOM)}
    for node in nodes:
        if node["name"] not in places:
            places[node["name"]] = across[node["layer"]], height[node["network"]]
    return places


def _node(axis: Axes, place: Place, row: Mapping[str, str]) -> None:
    if row["name"] == "x":
        diagrams.node(axis, place, "$x$", radius=0.17, size=10)
    elif row["name"] == "y":
        diagrams.box(axis, place, BOX, f"${row['label']}$", font=8.5)
    else:
        diagrams.box(axis, place, BOX, f"${row['label']}$", colour=COLOURS[row["network"]], font=9)


def _forward(axis: Axes, start: Place, end: Place, row: Mapping[str, str]) -> None:
    colour = COLOURS[row["network"]]
    if row["start"] == "x":
        ends = (start, (end[0] - BOX[0] / 2, end[1]))
        diagrams.arrow(axis, *ends, gaps=(0.17, 0), colour=colour)
        middle = (ends[0][0] + ends[1][0]) / 2, (ends[0][1] + ends[1][1]) / 2
        upwards = 1 if end[1] > start[1] else -1
        diagrams.write(axis, (middle[0] - 0.08, middle[1] + 0.17 * upwards), f"${row['label']}$",
                       size=7.5, across="right")  # fmt: skip
        return
    ends = (start[0] + BOX[0] / 2, start[1]), (end[0] - BOX[0] / 2, end[1])
    # dashed where layers are left out
    skipped = row["start"].endswith(" 1") or row["end"].endswith(" d-1")
    diagrams.arrow(axis, *ends, colour=colour, style="--" if skipped else "-")
    middle = (ends[0][0] + ends[1][0]) / 2
    diagrams.write(axis, (middle, start[1] + 0.14), f"${row['label']}$", size=7)


def _gate(axis: Axes, start: Place, end: Place, row: Mapping[str, str]) -> None:
    half = BOX[1] / 2
    diagrams.arrow(
        axis, (start[0], start[1] - half), (end[0], end[1] + half), colour=GATES, width=2
    )
    diagrams.write(axis, (start[0] + 0.08, (start[1] + end[1]) / 2 + 0.1), f"${row['label']}$",
                   size=8.5, across="left")  # fmt: skip


def _networks(axis: Axes, rows: pd.DataFrame) -> None:
    """Draw a pale background for each network, with its name."""
    hidden = rows[(rows["kind"] == "node") & ~rows["name"].isin(["x", "y"])]
    for network, height, above in (("feature", TOP, 1), ("value", BOTTOM, -1)):
        count = int((hidden["network"] == network).sum())
        if count:
            middle, width = LEFT + COLUMN * (count - 1) / 2, COLUMN * (count - 1) + BOX[0] + 0.3
            diagrams.box(
                axis, (middle, height), (width, 0.66), colour="white", fill=PALE, zorder=0.5
            )
            diagrams.write(axis, (LEFT - BOX[0] / 2 - 0.1, height + 0.43 * above),
                           f"{network} network", size=8.5, colour=COLOURS[network], across="left",
                           weight="bold")  # fmt: skip


def _gradient(axis: Axes, start: Place, row: Mapping[str, str]) -> None:
    """Draw the arrow of the gradient, from the output back into a network that learns."""
    colour = COLOURS[row["end"]]
    end = LEFT + COLUMN * 2 + BOX[0] / 2 + 0.15
    if row["end"] == "feature":
        ends, place = (
            ((start[0], start[1] + BOX[1] / 2), (end, TOP)),
            (start[0] + 0.02, (TOP + BOTTOM) / 2 + 0.3),
        )
        diagrams.arrow(axis, *ends, colour=colour, style=":", width=1.8, bend=0.35)
    else:
        ends = (start[0], start[1] - BOX[1] / 2), (end - 0.3, BOTTOM - 0.33)
        place = start[0] - 0.12, BOTTOM - 0.55
        diagrams.arrow(axis, *ends, colour=colour, style=":", width=1.8, bend=-0.35)
    diagrams.write(axis, place, f"${row['label']}$", size=9, colour=colour, across="left")


def _equations(axis: Axes, rows: pd.DataFrame) -> None:
    """Write the equations in one column per network."""
    for column, (title, group) in enumerate(rows.groupby("column", sort=False)):
        x, colour = 0.1 + 3.5 * column, list(COLOURS.values())[column]
        diagrams.write(axis, (x, 2.53), title, size=8, colour=colour, across="left", weight="bold")
        for line, (name, formula) in enumerate(zip(group["name"], group["label"], strict=True)):
            # mathtext has no blackboard 1, and it sets the index of a sum below the sign
            text = formula.replace(r"\mathbb{1}", r"\mathbf{1}").replace(r"\sum_j", r"\Sigma_j")
            text = text.replace(r"\frac", r"\dfrac")
            y = 2.3 - 0.31 * line
            diagrams.write(axis, (x, y), name.lower(), size=7, across="left", colour="0.4")
            diagrams.write(axis, (x + 0.82, y), f"${text}$", size=8, across="left")


def _regimes(axis: Axes, rows: pd.DataFrame) -> None:
    """Write for each regime its gates, how the feature network is initialised, and what learns."""
    for x, title in zip(TABS, ("regime", "gates", "feature network starts", "learns"), strict=True):
        diagrams.write(axis, (x, 0.72), title, size=7, across="left", colour="0.4")
    for line, row in enumerate(rows.to_dict("records")):
        y = 0.54 - 0.155 * line
        for x, name in zip(TABS, ("name", "label", "start", "network"), strict=True):
            diagrams.write(axis, (x, y), row[name], size=7.5, across="left", colour=INK)
