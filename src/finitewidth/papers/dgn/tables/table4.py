"""dgn Table 4: accuracy of deep linear, ReLU and soft-ReLU networks, ours and the paper's."""

from collections.abc import Iterator, Mapping
from math import nan
from typing import Any

import pandas as pd

from finitewidth.data.catalogue import ROLES
from finitewidth.declarations import columns as shared
from finitewidth.papers.dgn import columns
from finitewidth.records.tables import Table
from finitewidth.settings.sections import Section
from finitewidth.tables.numbers import plain, runs_said, uncertain
from finitewidth.tables.typeset import Typeset, left_out, marked, not_trained

TABLE = Table(
    columns.NETWORK_SHOWN,
    shared.EPS,
    shared.BETA,
    columns.IMAGES_SHOWN,
    columns.OURS_OR_PRINTED,
    columns.SPLIT_OF_ACCURACY,
    columns.EPOCH_OF_OURS,
    columns.MEAN_SHOWN,
    columns.DEVIATION_SHOWN,
    columns.RUNS_AVERAGED,
    columns.RUNS_LEFT_OUT,
    columns.ALL_TRAINED_SHOWN,
)
TITLES = {"linear": "deep linear", "relu": "ReLU", "soft_relu": "soft-ReLU"}
OURS = {
    "best_train": "train",
    "best_test": "test, best epoch",
    "cross_fitted": "test, cross-fitted",
    "last": "test, last epoch",
}
DECIMALS = 3  # of a fraction: the paper has two, and four for the deep linear network
ROLE = "cifar10"  # of the images


class Look(Section):
    """What the table reads of the settings."""

    artifact: str
    trained: float  # train accuracy from which a run counts as trained
    datasets: dict[str, str]  # role -> title of the dataset that was used


def select(tables: Mapping[str, pd.DataFrame], settings: Look) -> pd.DataFrame:
    """Return six rows per network: our accuracies, computed in four ways, and the paper's two."""
    rows: list[dict[str, Any]] = []
    for network in tables["rows"].to_dict("records"):
        rows += _our_rows(network, settings.datasets[ROLE])
        rows += _paper_rows(network)
    return pd.DataFrame(rows)


def _our_rows(network: Mapping[str, Any], images: str) -> Iterator[dict[str, Any]]:
    for epoch in OURS:
        yield {
            "network": network["regime"],
            "eps": network["eps"],
            "beta": network["beta"],
            "runs": network["runs"],
            "diverged": network["diverged"],
            "trained": network["trained"],
            "data": images,
            "source": "ours",
            "split": "train" if epoch == "best_train" else "test",
            "epoch": epoch,
            "mean": network[f"{epoch}_mean"],
            "standard_deviation": network[f"{epoch}_spread"] if network["runs"] > 1 else nan,
        }


def _paper_rows(network: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for split in ("train", "test"):
        yield {
            "network": network["regime"],
            "eps": network["eps"],
            "beta": network["beta"],
            "data": ROLES[ROLE],
            "source": "paper",
            "split": split,
            "epoch": "none",
            "mean": network[f"reported_{split}"],
        }


def typeset(rows: pd.DataFrame, settings: Look) -> Typeset:
    """Typeset one line per network: our accuracies, computed in four ways, and the paper's."""
    lines = []
    networks = rows.groupby(["network", "eps", "beta"], sort=False, dropna=False)
    for (network, eps, beta), numbers in networks:
        line = {"network": TITLES[network], "ε": plain(eps, ""), "β": plain(beta, "")}
        ours = numbers[numbers["source"] == "ours"].set_index("epoch")
        for epoch, label in OURS.items():
            accuracy = ours.loc[epoch]
            line[label] = uncertain(accuracy["mean"], accuracy["standard_deviation"], DECIMALS)
        line["train"] = marked(line["train"], ours.loc["best_train", "trained"])
        paper = numbers[numbers["source"] == "paper"].set_index("split")["mean"]
        for split, mean in paper.items():
            line[f"paper, {split}"] = plain(mean)
        lines.append(line)

    once = rows[rows["epoch"] == "best_train"]  # a row per network
    images = once["data"].iloc[0]
    title = f"Accuracy on {images}, mean ± sample standard deviation {runs_said(once['runs'])}"
    notes = not_trained(once["trained"], [settings.trained])
    notes += left_out([_name(network) for network in once.to_dict("records")], once)
    return Typeset(pd.DataFrame(lines), title, notes)


def _name(network: Mapping[str, Any]) -> str:
    """A network with its gates, as notes name it."""
    title = TITLES[network["network"]]
    if pd.isna(network["beta"]):
        return title
    return f"{title}, ε = {network['eps']:g}, β = {network['beta']:g}"
