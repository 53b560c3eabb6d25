"""dgn Table 4: accuracy of deep linear, ReLU and soft-ReLU networks, ours and the paper's."""

from collections.abc import Iterator, Mapping
from math import nan
from typing import Any

import pandas as pd

from finitewidth.data.catalogue import ROLES
from finitewidth.records import fields
from finitewidth.tables.numbers import plain, runs_said, uncertain
from finitewidth.tables.typeset import Typeset, left_out, marked, not_trained

FIELDS = {
    "network": fields.text("linear (deep linear), relu or soft_relu"),
    "eps": fields.number("ε of the soft gates; NaN for other networks"),
    "beta": fields.number("β, slope of the soft gates; NaN for other networks"),
    "data": fields.text(
        "images of the accuracy: ours with what they stand in for; the paper's name its dataset"
    ),
    "source": fields.text("ours, or paper (as printed)"),
    "split": fields.text("images of the accuracy: train or test"),
    "epoch": fields.text(
        "epoch of our accuracy: best_train or best_test (highest train or test accuracy), "
        "cross_fitted (chosen on the other half of the test images) or last; none for the paper"
    ),
    "mean": fields.number(
        "accuracy: ours is a mean over runs; NaN if the paper does not have this network",
        "fraction",
    ),
    "standard_deviation": fields.number(
        "sample standard deviation over our runs; NaN for a single run and for the paper",
        "fraction",
    ),
    "runs": fields.number("number of runs that are averaged; NaN for the paper"),
    "diverged": fields.number("number of runs that diverged and are left out; NaN for the paper"),
    "trained": fields.number(
        "1 if every run reached the train accuracy that counts as trained, 0 if not, NaN for the "
        "paper"
    ),
}
TITLES = {"linear": "deep linear", "relu": "ReLU", "soft_relu": "soft-ReLU"}
OURS = {
    "best_train": "train",
    "best_test": "test, best epoch",
    "cross_fitted": "test, cross-fitted",
    "last": "test, last epoch",
}
DECIMALS = 3  # of a fraction: the paper has two, and four for the deep linear network
ROLE = "cifar10"  # of the images


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return six rows per network: our accuracies, computed in four ways, and the paper's two.

    ``settings["datasets"]`` maps each role to the title of the dataset that was used.
    """
    rows = []
    for network in tables["rows"].to_dict("records"):
        rows += _our_rows(network, settings["datasets"][ROLE])
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


def typeset(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Typeset:
    """Typeset one line per network: our accuracies, computed in four ways, and the paper's.

    ``settings["trained"]`` is the train accuracy from which a run counts as trained.
    """
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
    notes = not_trained(once["trained"], [settings["trained"]])
    notes += left_out([_name(network) for network in once.to_dict("records")], once)
    return Typeset(pd.DataFrame(lines), title, notes)


def _name(network: Mapping[str, Any]) -> str:
    """A network with its gates, as notes name it."""
    title = TITLES[network["network"]]
    if pd.isna(network["beta"]):
        return title
    return f"{title}, ε = {network['eps']:g}, β = {network['beta']:g}"
