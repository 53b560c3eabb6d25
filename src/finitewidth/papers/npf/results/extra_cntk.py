"""What the table of the CNTK shows: which networks are above and below the kernel."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.common.number_words import listed
from finitewidth.papers.npf.tables.table2 import REGIMES
from finitewidth.tables.numbers import uncertain

CLEAR = 2.0  # standard errors of the difference
PAPER = "the paper, on all of CIFAR-10, has random gates below it, FLNPF and ReLU above"


def result(rows: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    """Say which networks differ from the kernel on the same images by two standard errors."""
    ours = rows[rows["source"] == "ours"]
    networks = ours[ours["method"] != "cntk"]
    kernels = ours[ours["method"] == "cntk"].set_index("training_images")
    same = kernels.index.intersection(networks["training_images"])
    if same.empty:
        return "No network was trained on the images of the CNTK."
    images = same.max()
    kernel = kernels.loc[images]
    places: dict[str, list[str]] = {"above": [], "below": [], "apart": []}
    for row in networks[networks["training_images"] == images].to_dict("records"):
        difference = row["accuracy"] - kernel["accuracy"]
        allowed = CLEAR * (row["standard_error"] ** 2 + kernel["standard_error"] ** 2) ** 0.5
        is_clear = abs(difference) > allowed
        place = ("above" if difference > 0 else "below") if is_clear else "apart"
        accuracy = uncertain(row["accuracy"], row["standard_error"])
        places[place].append(f"{REGIMES['npf'][row['method']]} ({accuracy})")
    words = {
        "above": "above it by more than two standard errors",
        "below": "below it by more than two standard errors",
        "apart": "not to be told apart from it",
    }
    parts = []
    for place, names in places.items():
        if names:
            parts.append(f"{listed(names)} {'is' if len(names) == 1 else 'are'} {words[place]}")
    accuracy = uncertain(kernel["accuracy"], kernel["standard_error"])
    return (
        f"On the same {images:,.0f} training images the CNTK reaches {accuracy} % (± standard "
        f"error): {'; '.join(parts)}; {PAPER}."
    )
