"""Names, markers and colours that the figures of ``collapse`` share."""

from dataclasses import dataclass
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from finitewidth.common import fields

INITS = ("lecun", "torch", "he")
NAMES = {"lecun": "LeCun", "torch": "PyTorch", "he": "He"}
MARKERS = {"lecun": "o", "torch": "s", "he": "^"}
GREYS = {"lecun": "0.2", "torch": "0.42", "he": "0.57"}
FITTED = 95.0  # percent; training accuracy below which a network counts as not trained
POOR = "x"  # marker of a network that is not trained
SEEN = {  # columns of the rows of a figure of one network
    "network": fields.text("name of the network, with the number of its layers with weights"),
    "pixels": fields.number("height and width of the images that it sees", "pixels"),
}


@dataclass(frozen=True)
class Model:
    """How the picked models of one kind are drawn.

    Attributes:
        title: its name in legends.
        colours: initialisation -> colour, from dark to light.
        filled: whether its markers are.
    """

    title: str
    colours: dict[str, str]
    filled: bool

    def marker(self, init: str, **size: Any) -> dict[str, Any]:
        """Arguments of ``Axes.plot`` for a marker."""
        colour = self.colours[init]
        return {"marker": MARKERS[init], "color": colour, "markeredgecolor": colour,
                "markerfacecolor": colour if self.filled else "white", **size}  # fmt: skip


def name_network(figure: Figure, rows: pd.DataFrame, more: str = "") -> None:
    """Write above the panes which network is shown, and how large its images are.

    Args:
        figure: with its panes.
        rows: with the columns `SEEN`, which are the same in all rows.
        more: further words.
    """
    network, pixels = rows["network"].iloc[0], int(rows["pixels"].iloc[0])
    text = f"{network} on images of {pixels}\N{MULTIPLICATION SIGN}{pixels} pixels{more}"
    figure.suptitle(text, x=0.005, ha="left")


# reds and blues differ for all kinds of colour blindness; fill and marker tell them apart in grey
MODELS = {
    "collapsed": Model("closest to collapse",
                       {"lecun": "#7a0a12", "torch": "#cc241d", "he": "#e2671f"}, True),
    "other": Model("far from collapse",
                   {"lecun": "#08306b", "torch": "#2171b5", "he": "#4a98cf"}, False),
}  # fmt: skip
