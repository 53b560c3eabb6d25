"""Which network a figure of ``collapse`` shows: columns of its rows, and the line above it."""

import pandas as pd
from matplotlib.figure import Figure

from finitewidth.papers.collapse.columns import networks as columns

INITIALISATIONS = {"lecun": "LeCun", "torch": "PyTorch", "he": "He"}  # name in the data -> in words
SEEN = (columns.NETWORK, columns.PIXELS_SHOWN)  # columns of the rows of a figure of one network


def name_network(figure: Figure, rows: pd.DataFrame, more: str = "") -> None:
    """Write above the panes which network is shown, how large its images are, and ``more``."""
    figure.suptitle(f"{network_of(rows)}{more}", x=0.005, ha="left")


def network_of(rows: pd.DataFrame) -> str:
    """The network of the rows and the size of its images in words."""
    network = rows["network"].iloc[0]
    pixels = int(rows["pixels"].iloc[0])
    return f"{network} on images of {pixels}\N{MULTIPLICATION SIGN}{pixels} pixels"
