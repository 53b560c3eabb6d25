"""Claims of dgn on trained networks: Figures 5, 7 and 8, Table 4, and accuracies in the text."""

from itertools import pairwise, product
from typing import TYPE_CHECKING

import numpy as np

from finitewidth.claims.judges import samples
from finitewidth.claims.judges.runs import by_seed, mean_of
from finitewidth.claims.ledger import Tables
from finitewidth.claims.reported import Ours
from finitewidth.claims.verdicts import CannotDecideError, Part

if TYPE_CHECKING:
    import pandas as pd

BETAS, LARGE, EPS = (1, 2, 4, 8, 12, 16, 20, 24), (16, 20, 24), (0.1, 0.4)
VARIANTS = ("original", "random_labels")  # the third is one of `PIXELS`
FITTED = 0.99  # train accuracy
STEP = 1e-3  # resolution assumed for train accuracies; that of thousands of images is finer
PIXELS = ("random_pixels", "permuted_pixels")
# the rows of trainings on which the numbers in the text rest; those on MNIST have the same name
ROWS = {("cifar10", "gates_only"): "gates_only", ("cifar10", "soft_relu"): "table4"}
PARTS = dict.fromkeys((*ROWS.values(), "mnist"), "")


def _paired(name: str, first: "pd.Series", second: "pd.Series", **thresholds: float) -> Part:
    """The difference run by run, over the seeds that both have."""
    both = first.index.intersection(second.index)
    return samples.paired(name, first[both], second[both], **thresholds)


def d14(tables: Tables) -> list[Part]:
    """GaLU reaches 99 % train accuracy after fewer epochs than ReLU."""
    epochs = [
        by_seed(tables["runs"], "epochs_to_99", regime, regime=regime, variant="original")
        for regime in ("galu", "relu")
    ]
    return [_paired("epochs to 99 % train accuracy, GaLU - ReLU", *epochs, high=0)]


def d15(tables: Tables) -> list[Part]:
    """Test accuracies of about 96.5 and 98.5 %, at least a point apart."""
    galu, relu = (
        100 * by_seed(tables["runs"], "best_test", regime, regime=regime, variant="original")
        for regime in ("galu", "relu")
    )
    return [
        samples.mean("test accuracy of GaLU, percent", galu, low=95.8, high=97.2),
        samples.mean("test accuracy of ReLU, percent", relu, low=97.8, high=99.2),
        _paired("test accuracy, ReLU - GaLU, points", relu, galu, low=1),
    ]


def d16(tables: Tables) -> list[Part]:
    """Both networks reach 99 % train accuracy on all three kinds of images.

    Random labels that are not fitted yet do not contradict the claim, since the number of epochs
    is our choice.
    """
    runs, parts = tables["runs"], []
    for regime, variant in product(("relu", "galu"), (*VARIANTS, PIXELS)):
        name = f"train accuracy of {regime} on {np.atleast_1d(variant)[0]}"
        best = by_seed(runs, "best_train", regime, regime=regime, variant=variant)
        if variant == "random_labels" and best.mean() < FITTED:
            epochs = runs["epochs"].max()
            raise CannotDecideError(f"{name}: {best.mean():.3g} at best within {epochs:.0f} epochs")
        parts.append(samples.mean(name, best, low=FITTED, resolution=STEP))
    return parts


def d17(tables: Tables) -> list[Part]:
    """The three networks whose gates adapt have a smaller test error than GaLU."""
    loss, runs = "test_loss", tables["runs"]
    frozen = by_seed(runs, loss, "GaLU", regime="galu")
    networks = {"ReLU": "relu", "soft-ReLU": "soft_relu", "soft-GaLU": ("soft_galu", "dlnpf")}
    return [
        samples.difference(f"test squared error, GaLU - {name}", frozen,
                           by_seed(runs, loss, name, regime=regime), low=0)
        for name, regime in networks.items()
    ]  # fmt: skip


def d18(tables: Tables) -> list[Part]:
    """ReLU has a smaller test error than the network that keeps its first gates."""
    frozen, relu = (
        by_seed(tables["runs"], "test_loss", regime, regime=regime)
        for regime in ("frnpf_di", "relu")
    )
    return [_paired("test squared error, frozen ReLU - ReLU", frozen, relu, low=0)]


def d19(tables: Tables) -> list[Part]:
    """Frozen gates that were learnt have a smaller test error than random ones."""
    unlearnt, learnt = (
        by_seed(tables["runs"], "test_loss", regime, regime=regime) for regime in ("galu", "flnpf")
    )
    return [_paired("test squared error, unlearnt - learnt gates", unlearnt, learnt, low=0)]


def d20(tables: Tables) -> list[Part]:
    """After the first quarter nu lies below its bound at every epoch, for all four kernels."""
    runs = tables["runs"].dropna(subset="nu")
    if runs.empty:
        raise CannotDecideError("no kernel could be inverted")
    lines = {"gates": ("learnt gates", "unlearnt gates"), "adaptable": ("ReLU", "frozen ReLU"),
             "ka": ("soft-GaLU", None), "ka_hat": ("soft-GaLU", None)}  # fmt: skip
    last = runs["epoch"].max()
    later = sorted(epoch for epoch in runs["epoch"].unique() if epoch > last / 4)
    parts = []
    for (panel, (name, bound)), epoch in product(lines.items(), later):
        logs = [
            np.log(by_seed(runs, "nu", f"{panel}", panel=panel, series=series, epoch=at))
            for series, at in ((name, epoch), (bound or name, epoch if bound else 0))
        ]
        title = f"{panel}, epoch {epoch:g}: log nu, {name} - {bound or 'value at t = 0'}"
        parts.append(_paired(title, *logs, high=0))
    return parts


def d21(tables: Tables) -> list[Part]:
    """A network whose gates alone learn has about 56 % test accuracy."""
    values = by_seed(tables["runs"], "value", "gates only", column="gates_only")
    return [samples.mean("test accuracy where only gates learn, percent", values, low=53, high=59)]


def _soft(runs: "pd.DataFrame", eps: float, beta: float) -> "pd.Series":
    name = f"soft_relu_eps{eps:g}_beta{beta:g}"
    return by_seed(runs, "best_test", name, network=name)


def d22(tables: Tables) -> list[Part]:
    """Test accuracy rises with beta up to 8 and then stays at that of ReLU; eps hardly matters."""
    runs = tables["runs"]
    relu = by_seed(runs, "best_test", "ReLU", network="relu")
    soft = {(eps, beta): _soft(runs, eps, beta) for eps, beta in product(EPS, BETAS)}
    parts = []
    for eps in EPS:
        at = f"eps {eps:g}: test accuracy"
        parts.append(_paired(f"{at}, beta 8 - beta 1", soft[eps, 8], soft[eps, 1], low=0))
        parts += [
            _paired(f"{at}, beta {b:g} - beta {a:g}", soft[eps, b], soft[eps, a], low=-0.01)
            for a, b in pairwise(BETAS)
        ]
        parts.append(_paired(f"{at}, beta 24 - beta 8", soft[eps, 24], soft[eps, 8], high=0.015))
        parts += [
            _paired(f"{at}, beta {b:g} - ReLU", soft[eps, b], relu, low=-0.015, high=0.015)
            for b in LARGE
        ]
    few, many = EPS
    return parts + [
        _paired(f"beta {b:g}: test accuracy, eps {few:g} - eps {many:g}", soft[few, b],
                soft[many, b], low=-0.03, high=0.03)
        for b in BETAS
    ]  # fmt: skip


def d24(tables: Tables) -> list[Part]:
    """All networks except the linear one fit the training images; its accuracies are as printed."""
    runs = tables["runs"]
    names = ["relu", *(f"soft_relu_eps{eps:g}_beta{b:g}" for eps, b in product(EPS, BETAS))]
    train, test = (by_seed(runs, c, "the linear network", network="dln")
                   for c in ("best_train", "best_test"))  # fmt: skip
    return [
        *(samples.mean(f"train accuracy, {name}", by_seed(runs, "best_train", name, network=name),
                       low=0.985, resolution=STEP) for name in names),
        samples.mean("train accuracy, linear", train, low=0.4842, high=0.5242),
        samples.mean("test accuracy, linear", test, low=0.3739, high=0.4139),
    ]  # fmt: skip


def table4_numbers(tables: Tables) -> list[Ours]:
    """Best train and best test accuracy of each run, as fractions."""
    return [
        mean_of(str(network), column, rows[value])
        for network, rows in _sound(tables["runs"]).groupby("network", sort=False)
        for column, value in (("train", "best_train"), ("test", "best_test"))
    ]


def text_numbers(tables: Tables, quantity: str) -> list[Ours]:
    """Accuracies in percent, with the keys of the printed ones."""
    rows = _sound(tables["runs"])
    rows = rows[rows["quantity"] == quantity]
    return [
        mean_of(row, column, group["value"], ROWS.get((row, column), str(row)))
        for (row, column), group in rows.groupby(["row", "column"])
    ]


def _sound(runs: "pd.DataFrame") -> "pd.DataFrame":
    return runs[runs["diverged"] == 0]
