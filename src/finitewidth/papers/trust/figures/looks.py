"""What the figures of ``trust`` have in common: names of activations, and looks of lines."""

from typing import Any

from matplotlib.patheffects import Normal, Stroke, withStroke

from finitewidth.figures import style
from finitewidth.settings.sections import Section

NAMES = {"tanh": "tanh", "relu": "ReLU", "erf": "erf"}
SHADES: dict[str, Any] = {
    "name": "mako",
    "bright": 0.63,
}  # with a contrast of at least 3:1 to white
SOLID = {"dash_offset": 0, "dash_list": None}
# black and white by turns, so that the line is seen on all colours of a map
BORDER: dict[str, Any] = {
    "color": "white",
    "linestyle": (0, (3, 3)),
    "linewidth": 1.2,
    "path_effects": [Stroke(linewidth=1.4, foreground="black", dashes=SOLID), Normal()],
}
RIM = [withStroke(linewidth=2.4, foreground="white")]  # around grey lines and marks on a map
PRINTED_MARK: dict[str, Any] = {
    "color": style.GREY,
    "markersize": 4.5,
    "markerfacecolor": "white",
    "markeredgewidth": 0.9,
    "linestyle": "none",
    "gid": style.PAPER,
    "clip_on": False,
    "zorder": 5,
    "path_effects": RIM,
}
PAPER_LINE: dict[str, Any] = {"color": style.GREY, "linestyle": (0, (5, 2)), "linewidth": 0.9}
PRINTED_LINE: dict[str, Any] = {**PAPER_LINE, "gid": style.PAPER, "path_effects": RIM}


class Look(Section):
    """What every renderer is told."""

    artifact: str  # its figure
