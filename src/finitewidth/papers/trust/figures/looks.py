"""What the figures of ``trust`` have in common: looks and phases."""

from matplotlib.patheffects import Normal, Stroke, withStroke

from finitewidth.figures import style

NAMES = {"tanh": "tanh", "relu": "ReLU", "erf": "erf"}
SOLID = {"dash_offset": 0, "dash_list": None}
# black and white by turns, so that the line is seen on all colours of a map
BORDER = {
    "color": "white", "linestyle": (0, (3, 3)), "linewidth": 1.2,
    "path_effects": [Stroke(linewidth=1.4, foreground="black", dashes=SOLID), Normal()],
}  # fmt: skip
# bars below the ordered and the chaotic weight variances, in the colours of the lines of ``beyond``
PHASES = {"ordered": "#2a6fa8", "chaotic": "#c2410c"}
PHASE_BAR = {"linewidth": 3.2, "solid_capstyle": "butt", "clip_on": False, "zorder": 4,
             "path_effects": [withStroke(linewidth=4.2, foreground="white")]}  # fmt: skip
RIM = [withStroke(linewidth=2.4, foreground="white")]  # around grey lines and marks on a map
PRINTED_MARK = {
    "color": style.GREY, "markersize": 4.5, "markerfacecolor": "white", "markeredgewidth": 0.9,
    "linestyle": "none", "gid": style.PAPER, "clip_on": False, "zorder": 5, "path_effects": RIM,
}  # fmt: skip
PRINTED_LINE = {
    "color": style.GREY, "linestyle": (0, (5, 2)), "linewidth": 0.9, "gid": style.PAPER,
    "path_effects": RIM,
}  # fmt: skip
