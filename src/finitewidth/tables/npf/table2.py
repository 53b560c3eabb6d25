"""npf Table 2 and npf0 Table 2: five gate regimes, ours beside theirs."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.tables.typeset import Typeset, plus_minus

ROWS = {
    "fc_sgd": ("FC", "SGD", "mnist"),
    "fc_adam": ("FC", "Adam", "mnist"),
    "vconv_sgd": ("VCONV", "SGD", "cifar10"),
    "vconv_adam": ("VCONV", "Adam", "cifar10"),
    "gconv_sgd": ("GCONV", "SGD", "cifar10"),
    "gconv_adam": ("GCONV", "Adam", "cifar10"),
}
REGIMES = {
    "npf": {"frnpf_ii": "FRNPF (II)", "frnpf_di": "FRNPF (DI)", "dlnpf": "DLNPF",
            "flnpf": "FLNPF", "relu": "ReLU"},
    "npf0": {"frnpf_ii": "FRNPF (II)", "frnpf_di": "FRNPF (DI)", "dlnpf": "DNPFL",
             "flnpf": "FLNPF", "relu": "ReLU"},
}  # fmt: skip
OURS = {
    "best_test": "ours, best epoch",
    "cross_fitted": "ours, cross-fitted",
    "last": "ours, last epoch",
}


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """The rows of one version of the paper."""
    rows = tables["rows"]
    return rows[rows["paper"] == settings["paper"]]


def typeset(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Typeset:
    """Five lines per network and optimiser: three choices of the epoch, the paper, the difference.

    ``settings``: ``paper``; ``datasets``, what is shown for each of the paper's.
    """
    regimes = REGIMES[settings["paper"]]
    lines = []
    for name, (network, optimiser, dataset) in ROWS.items():
        cells = rows[rows["row"] == name].set_index("regime")
        head = {
            "network": network,
            "optimiser": optimiser,
            "data": settings["datasets"][dataset],
        }
        for selection, label in OURS.items():
            lines.append(head | {"": label} | _line(cells, regimes, selection))
            head = dict.fromkeys(head, "")
        lines.append(head | {"": "paper"} | _line(cells, regimes, "reported"))
        chosen = OURS[rows["select"].iloc[0]].removeprefix("ours, ")
        difference = {title: _difference(cells.loc[regime]) for regime, title in regimes.items()}
        lines.append(head | {"": f"Δ ({chosen}) / SE"} | difference)
    return Typeset(pd.DataFrame(lines), "Test accuracy (%), mean ± standard deviation over runs")


def _line(cells: pd.DataFrame, regimes: Mapping[str, str], what: str) -> dict[str, str]:
    return {
        title: plus_minus(cells.loc[regime, f"{what}_mean"], cells.loc[regime, f"{what}_spread"])
        for regime, title in regimes.items()
    }


def _difference(cell: pd.Series) -> str:
    """``-0.55 / 3.2 SE``: the difference in points, and how many combined standard errors it is."""
    if pd.isna(cell["difference"]):
        return "–"
    errors = "" if pd.isna(cell["difference_se"]) else f" / {abs(cell['difference_se']):.1f} SE"
    return f"{cell['difference']:+.2f}{errors}"
