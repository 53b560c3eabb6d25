"""Which network a figure of ``collapse`` shows: columns of its rows, and the line above it."""

import pandas as pd
from matplotlib.figure import Figure

from finitewidth.records import fields

SEEN = {  # columns of the rows of a figure of one network
    "network": fields.text("name of the network, with the number of its layers with weights"),
    "pixels": fields.number("height and width of the images that it sees", "pixels"),
}


def name_network(figure: Figure, rows: pd.DataFrame, more: str = "") -> None:
    """Write above the panes which network is shown, how large its images are, and ``more``."""
    network = rows["network"].iloc[0]
    pixels = int(rows["pixels"].iloc[0])
    text = f"{network} on images of {pixels}\N{MULTIPLICATION SIGN}{pixels} pixels{more}"
    figure.suptitle(text, x=0.005, ha="left")
