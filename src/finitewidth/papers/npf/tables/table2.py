"""npf Table 2 and npf0 Table 2: accuracy of five gate regimes, ours and the paper's."""

from collections.abc import Iterator, Mapping, Sequence
from math import nan
from typing import Any, Literal

import numpy as np
import pandas as pd

from finitewidth.data.catalogue import ROLES
from finitewidth.papers.npf.columns import networks as columns
from finitewidth.records.tables import Table
from finitewidth.settings.sections import Section
from finitewidth.tables.numbers import MISSING, as_printed, rounded_down, runs_said, uncertain
from finitewidth.tables.typeset import Typeset, left_out, marked, not_trained

TABLE = Table(
    columns.NETWORK_OF_ROW,
    columns.OPTIMISER_OF_ROW,
    columns.IMAGES,
    columns.GATES_OF_CELL,
    columns.SOURCE,
    columns.EPOCH_OF_ACCURACY,
    columns.CELL_MEAN,
    columns.CELL_SPREAD,
    columns.CELL_RUNS,
    columns.DIVERGED_SHOWN,
    columns.COMPARED,
    columns.DIFFERENCE_SHOWN,
    columns.DIFFERENCE_SE_SHOWN,
    columns.BOLD,
    columns.LOWEST_TRAIN_SHOWN,
    columns.TRAINED_FROM_SHOWN,
    columns.CELL_TRAINED,
)
ROWS = {
    "fc_sgd": ("FC", "SGD", "mnist"),
    "fc_adam": ("FC", "Adam", "mnist"),
    "vconv_sgd": ("VCONV", "SGD", "cifar10"),
    "vconv_adam": ("VCONV", "Adam", "cifar10"),
    "gconv_sgd": ("GCONV", "SGD", "cifar10"),
    "gconv_adam": ("GCONV", "Adam", "cifar10"),
}
TITLES = {
    "frnpf_ii": "FRNPF (II)",
    "frnpf_di": "FRNPF (DI)",
    "dlnpf": "DLNPF",
    "flnpf": "FLNPF",
    "relu": "ReLU",
}
REGIMES = {"npf": TITLES, "npf0": TITLES | {"dlnpf": "DNPFL"}}
# the earlier version prints these networks and regimes, which learn their gates, in bold
BOLD = {"npf0": (("FC/Adam", "VCONV/Adam", "GCONV/SGD", "GCONV/Adam"), ("dlnpf", "flnpf", "relu"))}
BOLD_NOTE = (
    "Bold, in each of our lines: the best, and all that are below it by at most the larger of both "
    "standard deviations"
)
HEAD = ("network", "optimiser", "data")
OURS = {
    "best_test": "ours, best epoch",
    "cross_fitted": "ours, cross-fitted",
    "last": "ours, last epoch",
}
PAPER = "none"  # the epoch of a number of the paper
SHARED = ("runs", "diverged", "train_accuracy_lowest", "trained_from", "trained")


class Look(Section):
    """Which version of the paper the table belongs to, and what its numbers rest on."""

    artifact: str
    paper: Literal["npf", "npf0"]
    beta: float  # slope of the gates of DLNPF; npf alone has it
    datasets: dict[str, str]  # role of a dataset -> title of what was used
    comparable: dict[str, bool]  # role of a dataset -> whether numbers may be compared


def select(tables: Mapping[str, pd.DataFrame], settings: Look) -> pd.DataFrame:
    """Return four rows per network, optimiser and regime, for one version of the paper.

    These are our accuracies for three choices of the epoch, and the paper's. The difference stands
    beside our accuracy that is compared with the paper's, if they are comparable.
    """
    rows = tables["rows"]
    rows = rows[rows["paper"] == settings.paper]
    selected = []
    for row in rows.to_dict("records"):
        network, optimiser, dataset = ROWS[row["row"]]
        cell = {"network": network, "optimiser": optimiser, "regime": row["regime"]}
        ours = cell | {"data": settings.datasets[dataset], "source": "ours"}
        for epoch in OURS:
            compared = settings.comparable[dataset] and epoch == row["select"]
            selected.append(ours | _our_numbers(row, epoch, compared))
        paper = cell | {"data": ROLES[dataset], "source": "paper"}
        selected.append(paper | _printed_numbers(row))
    table = pd.DataFrame(selected)
    return table.assign(bold=_bold(table, settings.paper))


def _our_numbers(row: Mapping[str, Any], epoch: str, compared: bool) -> dict[str, Any]:
    """Our accuracy for one choice of the epoch."""
    return {
        "epoch": epoch,
        "mean": row[f"{epoch}_mean"],
        "standard_deviation": row[f"{epoch}_spread"] if row["runs"] > 1 else nan,
        "compared": int(compared),
        "difference": row["difference"] if compared else nan,
        "difference_standard_errors": row["difference_se"] if compared else nan,
        **{name: row[name] for name in SHARED},
    }


def _printed_numbers(row: Mapping[str, Any]) -> dict[str, Any]:
    """The accuracy that the paper prints."""
    return {
        "epoch": PAPER,
        "compared": 0,
        "runs": row["reported_runs"],
        "mean": row["reported_mean"],
        "standard_deviation": row["reported_spread"],
    }


def _bold(rows: pd.DataFrame, paper: str) -> pd.Series:
    """Whether each number is bold: our best regimes of a line, and what the paper prints so.

    The best are the highest mean and all that lie below it by at most the larger of both standard
    deviations.
    """
    line = [rows[name] for name in ("network", "optimiser", "epoch")]
    best = rows["mean"].groupby(line).transform("max")
    spread = rows["standard_deviation"].fillna(0)
    spread_of_best = spread.where(rows["mean"] == best).groupby(line).transform("max")
    least = best - np.maximum(spread, spread_of_best)
    names, regimes = BOLD.get(paper, ((), ()))
    name = rows["network"] + "/" + rows["optimiser"]
    printed = name.isin(names) & rows["regime"].isin(regimes)
    bold = (rows["mean"] >= least).where(rows["source"] == "ours", printed)
    return bold.astype(int)


def typeset(rows: pd.DataFrame, settings: Look) -> Typeset:
    """Typeset four or five lines per network and optimiser.

    These are our accuracies for three choices of the epoch, the paper's, and the difference if it
    is known. Cells of networks that are not trained are marked. npf prints the slope of the gates
    of DLNPF in the header.
    """
    regimes = dict(REGIMES[settings.paper])
    if settings.paper == "npf":
        regimes["dlnpf"] += f" (β\u00a0=\u00a0{settings.beta:g})"
    lines = []
    bold = []
    for network, optimiser, _ in ROWS.values():
        cells = rows[(rows["network"] == network) & (rows["optimiser"] == optimiser)]
        head = {name: cells[name][cells["source"] == "ours"].iloc[0] for name in HEAD}
        for label, line, bold_line in _lines(cells, regimes):
            lines.append(head | {"": label} | line)
            bold.append(bold_line)
            head = dict.fromkeys(head, "")  # only the first line has it
    table = pd.DataFrame(lines)
    bold_cells = pd.DataFrame(bold).reindex(columns=table.columns).eq(1)
    once = rows[(rows["source"] == "ours") & (rows["epoch"] == "best_test")]
    names = [
        f"{row['network']}/{row['optimiser']} {regimes[row['regime']]}"
        for row in once.to_dict("records")
    ]
    bold_note = BOLD_NOTE
    if settings.paper in BOLD:
        bold_note += "; in the paper's lines as printed"
    notes = (*_notes(rows), *untrained(once, names), *left_out(names, once), bold_note)
    title = f"Test accuracy (%), mean ± sample standard deviation {runs_said(once['runs'])}"
    return Typeset(table, title, notes, bold=bold_cells, spans=HEAD)


def _lines(
    cells: pd.DataFrame, regimes: Mapping[str, str]
) -> Iterator[tuple[str, dict[str, str], dict[str, int]]]:
    """Name, cells and bold cells of each line of one network and optimiser."""
    for epoch, label in (*OURS.items(), (PAPER, "paper")):
        line = cells[cells["epoch"] == epoch].set_index("regime")
        write = as_printed if epoch == PAPER else uncertain
        numbers = {}
        bold = {}
        for regime, title in regimes.items():
            cell = line.loc[regime]
            text = write(cell["mean"], cell["standard_deviation"])
            numbers[title] = marked(text, cell["trained"])
            bold[title] = cell["bold"]
        yield label, numbers, bold
    compared = cells[cells["compared"] == 1].set_index("regime")
    if len(compared):
        epoch = OURS[compared["epoch"].iloc[0]].removeprefix("ours, ")
        differences = {
            title: _difference(compared.loc[regime]) for regime, title in regimes.items()
        }
        yield f"Δ ({epoch})", differences, {}


def _notes(rows: pd.DataFrame) -> Iterator[str]:
    """Notes on runs that the title does not count, and on rows that cannot be compared."""
    ours = rows["source"] == "ours"
    yield (
        f"The paper's numbers: {runs_said(rows['runs'][~ours])}, with the population form of "
        "the standard deviation (docs/disagreements.md)"
    )
    if (rows["runs"][ours] == 1).any():
        yield "A number of ours without ± is of a single run"
    compared = rows[ours].groupby("data", sort=False)["compared"].any()
    if compared.any():
        yield "Δ: ours less the paper's, in percentage points, and in combined standard errors (SE)"
    if (rows["standard_deviation"][ours] == 0).any():
        yield "± 0.00: all runs have the same accuracy"
    if names := ", ".join(compared.index[~compared]):
        yield f"Not comparable with the paper's numbers, by data or sizes: {names}"


def untrained(rows: pd.DataFrame, names: Sequence[str]) -> tuple[str, ...]:
    """Return the notes on networks that are not trained; ``names`` are those of the rows."""
    lowest = []
    for name, row in zip(names, rows.to_dict("records"), strict=True):
        if not row["trained"]:
            lowest.append(f"{name} {rounded_down(row['train_accuracy_lowest'], 1)} %")
    if not lowest:
        return ()
    explained = not_trained(rows["trained"], list(rows["trained_from"] / 100))
    return (*explained, f"Lowest train accuracy of a run: {', '.join(lowest)}")


def _difference(cell: pd.Series) -> str:
    """Return the difference in points and in combined standard errors, ``−0.55 / 3.2 SE``."""
    if pd.isna(cell["difference"]):
        return MISSING
    distance = cell["difference_standard_errors"]
    errors = "" if pd.isna(distance) else f" / {abs(distance):.1f} SE"
    return f"{cell['difference']:+.2f}{errors}".replace("-", "−")
