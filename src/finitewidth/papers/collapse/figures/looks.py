"""Which network a figure of ``collapse`` shows: columns of its rows, and the line above it."""

import pandas as pd
from matplotlib.figure import Figure

from finitewidth.papers.collapse.columns import networks as columns

SEEN = (columns.NETWORK, columns.PIXELS_SHOWN)  # columns of the rows of a figure of one network


def name_network(figure: Figure, rows: pd.DataFrame, more: str = "") -> None:
    """Write above the panes which network is shown, how large its images are, and ``more``."""
    network = rows["network"].iloc[0]
    pixels = int(rows["pixels"].iloc[0])
    text = f"{network} on images of {pixels}\N{MULTIPLICATION SIGN}{pixels} pixels{more}"
    figure.suptitle(text, x=0.005, ha="left")
