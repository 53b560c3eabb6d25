"""Names, markers and colours that the figures of ``collapse`` share."""

from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes

WIDTH = 6.9  # inches
SMALL, MEDIUM = 6.6, 7.5  # points
INITS = ("lecun", "torch", "he")
NAMES = {"lecun": "LeCun", "torch": "PyTorch", "he": "He"}
MARKERS = {"lecun": "o", "torch": "s", "he": "^"}
GREYS = {"lecun": "0.2", "torch": "0.45", "he": "0.65"}


@dataclass(frozen=True)
class Model:
    """How the picked models of one kind are drawn.

    Attributes:
        title: its name in legends.
        colours: initialisation -> colour, from dark to light.
        filled: whether its markers are.
        line: style of the line at the epoch from which on it fits the training images.
    """

    title: str
    colours: dict[str, str]
    filled: bool
    line: str

    def marker(self, init: str, **size: Any) -> dict[str, Any]:
        """Arguments of ``Axes.plot`` for a marker."""
        colour = self.colours[init]
        return {"marker": MARKERS[init], "markeredgecolor": colour, "markeredgewidth": 0.9,
                "markerfacecolor": colour if self.filled else "white", **size}  # fmt: skip


# reds and blues differ for all kinds of colour blindness; fill and marker tell them apart in grey
MODELS = {
    "collapsed": Model("closest to collapse",
                       {"lecun": "#8B0A14", "torch": "#D7301F", "he": "#F4824F"}, True, "-"),
    "other": Model("far from collapse",
                   {"lecun": "#08306B", "torch": "#2171B5", "he": "#5AA7D6"}, False, ":"),
}  # fmt: skip


def tidy(axis: Axes, title: str) -> None:
    """Set the title at the left, and small ticks."""
    axis.set_title(title, fontsize=MEDIUM, loc="left", pad=3)
    axis.tick_params(which="both", labelsize=SMALL, length=2.5, pad=2)
    axis.tick_params(which="minor", length=1.5)
