"""npf Table 2 and npf0 Table 2: accuracy of five gate regimes, ours and the paper's."""

from collections.abc import Iterator, Mapping, Sequence
from math import nan
from typing import Any

import pandas as pd

from finitewidth.tables.numbers import MISSING, as_printed, runs_said, uncertain
from finitewidth.tables.trained import marked, not_trained
from finitewidth.tables.typeset import Typeset, left_out

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
# the earlier version prints these rows and regimes, which learn their gates, in bold
BOLD = {"npf0": (("fc_adam", "vconv_adam", "gconv_sgd", "gconv_adam"), ("dlnpf", "flnpf", "relu"))}
DIFFERENCES = ("difference", "difference_se")
HEAD = ("network", "optimiser", "data")
OURS = {
    "best_test": "ours, best epoch",
    "cross_fitted": "ours, cross-fitted",
    "last": "ours, last epoch",
}


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows of one version of the paper.

    Differences from the paper's numbers are kept only where these are comparable. If that version
    prints numbers in bold, ``<selection>_bold`` marks our best regime of a row and
    ``reported_bold`` the numbers that the paper prints in bold.
    """
    rows = tables["rows"]
    rows = rows[rows["paper"] == settings["paper"]]
    known = rows["row"].map(lambda name: settings["comparable"][ROWS[name][2]])
    return rows.assign(
        **{name: rows[name].where(known) for name in DIFFERENCES}, **_bold(rows, settings["paper"])
    )


def _bold(rows: pd.DataFrame, paper: str) -> dict[str, pd.Series]:
    if paper not in BOLD:
        return {}
    means = {selection: rows[f"{selection}_mean"] for selection in OURS}
    best = {f"{selection}_bold": (mean == mean.groupby(rows["row"]).transform("max")).astype(int)
            for selection, mean in means.items()}  # fmt: skip
    names, regimes = BOLD[paper]
    printed = rows["row"].isin(names) & rows["regime"].isin(regimes)
    return {**best, "reported_bold": printed.astype(int)}


def typeset(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Typeset:
    """Typeset five lines per network and optimiser.

    These are our accuracies for three choices of the epoch, the paper's, and the difference. Cells
    of networks that are not trained are marked.

    Args:
        rows: as selected.
        settings: ``paper`` (npf or npf0); ``beta``, slope of the gates of DLNPF, which npf prints
            in the header; ``datasets``, role -> title of the dataset that was
            used; ``comparable``, role -> whether it was trained on at the paper's scale. The
            difference is shown only for comparable numbers.
    """
    regimes = dict(REGIMES[settings["paper"]])
    if "beta" in settings:
        regimes["dlnpf"] += f" (β\u00a0=\u00a0{settings['beta']:g})"
    lines, bold = [], []
    for name, (network, optimiser, dataset) in ROWS.items():
        cells = rows[rows["row"] == name].set_index("regime")
        head = {
            "network": network,
            "optimiser": optimiser,
            "data": settings["datasets"][dataset],
        }
        for selection, label in (*OURS.items(), ("reported", "paper")):
            lines.append(head | {"": label} | _line(cells, regimes, selection))
            bold.append(_bold_cells(cells, regimes, selection))
            head = dict.fromkeys(head, "")
        if not settings["comparable"][dataset]:
            continue
        chosen = OURS[rows["select"].iloc[0]].removeprefix("ours, ")
        difference = {title: _difference(cells.loc[regime]) for regime, title in regimes.items()}
        lines.append(head | {"": f"Δ ({chosen})"} | difference)
        bold.append({})
    notes = (*_counted(rows), *_not_comparable(settings), *untrained(rows, _names(rows, regimes)),
             *left_out(_runs(rows, regimes)))  # fmt: skip
    title = f"Test accuracy (%), mean ± standard deviation {runs_said(rows['runs'])}"
    if settings["paper"] not in BOLD:
        return Typeset(pd.DataFrame(lines), title, notes, spans=HEAD)
    notes += ("Bold: the best of each of our lines; in the paper's lines as printed",)
    shown = pd.DataFrame(lines)
    bold_cells = pd.DataFrame(bold).reindex(columns=shown.columns).eq(1)
    return Typeset(shown, title, notes, bold=bold_cells, spans=HEAD)


def _counted(rows: pd.DataFrame) -> Iterator[str]:
    """Notes on how many runs the numbers are of, where the title does not say it."""
    yield f"The paper's numbers: {runs_said(rows['reported_runs'])}"
    if (rows["runs"] == 1).any():
        yield "A number of ours without ± is of a single run"


def _not_comparable(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the note that some rows cannot be compared with the paper's, if there are any."""
    others = [data for data, same in settings["comparable"].items() if not same]
    if not others:
        return ()
    names = ", ".join(settings["datasets"][data] for data in others)
    return (f"Not comparable with the paper's numbers, by data or sizes: {names}",)


def _runs(rows: pd.DataFrame, regimes: Mapping[str, str]) -> Iterator[tuple[str, int, int]]:
    for name, cell in zip(_names(rows, regimes), rows.to_dict("records"), strict=True):
        yield name, cell["diverged"], cell["runs"]


def _names(rows: pd.DataFrame, regimes: Mapping[str, str]) -> list[str]:
    """The name of each cell, ``FC/SGD ReLU``."""
    return [
        f"{'/'.join(ROWS[row][:2])} {regimes[regime]}"
        for row, regime in zip(rows["row"], rows["regime"], strict=True)
    ]


def untrained(rows: pd.DataFrame, names: Sequence[str]) -> tuple[str, ...]:
    """Return the notes on networks that are not trained; empty if there are none.

    Args:
        rows: ``trained``, ``train_accuracy_lowest`` and ``trained_from``, the latter in percent.
        names: of the networks, in the order of the rows.
    """
    lowest = [
        f"{name} {accuracy:.1f} %"
        for name, accuracy, trained in zip(
            names, rows["train_accuracy_lowest"], rows["trained"], strict=True
        )
        if not trained
    ]
    explained = not_trained(rows["trained"], list(rows["trained_from"] / 100))
    return (*explained, f"Lowest train accuracy of a run: {', '.join(lowest)}") if lowest else ()


def _bold_cells(cells: pd.DataFrame, regimes: Mapping[str, str], what: str) -> dict[str, int]:
    if f"{what}_bold" not in cells:
        return {}
    return {title: cells.loc[regime, f"{what}_bold"] for regime, title in regimes.items()}


def _line(cells: pd.DataFrame, regimes: Mapping[str, str], what: str) -> dict[str, str]:
    return {title: _number(cells.loc[regime], what) for regime, title in regimes.items()}


def _number(cell: pd.Series, what: str) -> str:
    mean, spread = cell[f"{what}_mean"], cell[f"{what}_spread"]
    if what == "reported":
        return as_printed(mean, spread)
    return marked(uncertain(mean, spread if cell["runs"] > 1 else nan), cell["trained"])


def _difference(cell: pd.Series) -> str:
    """Return the difference in points and in combined standard errors, ``−0.55 / 3.2 SE``."""
    if pd.isna(cell["difference"]):
        return MISSING
    errors = "" if pd.isna(cell["difference_se"]) else f" / {abs(cell['difference_se']):.1f} SE"
    return f"{cell['difference']:+.2f}{errors}".replace("-", "−")
