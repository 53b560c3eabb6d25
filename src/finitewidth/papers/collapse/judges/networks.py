"""Claims of collapse on trained networks: neural collapse, invariant and kernels (Figures 1 to 20).

A pair is a network and a dataset. The paper trains each network once. Here the initialisations of a
pair are averaged, since they share data and batches, and means are over pairs, with Student's t.
Networks that fit less than `TRAINED` of the training images at the end are left out of everything.
The models close to collapse and far from it are those of the figures
(`finitewidth.papers.collapse.experiments.models.picks`); K11 and K14 compare them. K10 uses all
networks, since models that were picked by NC3 cannot show how the alignment goes with NC3.
"""

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Unpack

import numpy as np

from finitewidth.claims import samples
from finitewidth.claims.estimates import ABOVE, BELOW, required
from finitewidth.claims.ledger import Tables
from finitewidth.claims.verdicts import CannotDecideError, Part, PartFacts

if TYPE_CHECKING:
    import pandas as pd

CLOSE = "collapsed"  # the picked model close to collapse
FAR = "other"  # the one far from it
# pairs that differ in the loss only
ENTROPY = "resnet_mnist_ce"
SQUARED = "resnet_mnist"
# the figures of the invariant with either loss
OF_SQUARED = tuple(f"collapse_fig{number}" for number in range(2, 12))
OF_ENTROPY = ("collapse_fig12",)
TRAINED = 0.95  # least training accuracy of the networks that count
COLLAPSED = 0.3  # NC3 below which a network counts as collapsed
TOP = 0.01  # largest distance of the test accuracy from the best of the pair
COMPARABLE = 0.02  # the same for test accuracies that count as comparable
FITTED = 0.999  # least training accuracy of K09
BOTH_FITTED = 0.99  # least training accuracy of K15
FEWEST = 5  # pairs in a mean, and networks in a median
FEWEST_RATES = 3  # networks in a rank correlation
RANK_STEP = 0.01  # resolution of a mean of rank correlations
EQUAL = 1e-9  # accuracies that differ by less are equal
KERNELS = {"theta": "Theta", "theta_h": "Theta^h"}

MOST: PartFacts = {
    "low": 0.5,
    "strict": True,
    "bounds": (0, 1),
    "ours": "the paper says most, but not which networks count as accurate and as collapsed",
}
IDENTIFIED: PartFacts = {
    "low": COLLAPSED,
    "strict": True,
    "ours": "the paper gives no bound of NC3, and no distance of comparable accuracies",
}
CLEARLY: PartFacts = {
    "high": -0.5,
    "late": True,
    "ours": "the paper gives no size of the correlation",
}
SMALLER_E: PartFacts = {
    "low": 0,
    "strict": True,
    "ours": "pane a shows |E|; the words on its size are about cross-entropy (Figure 12)",
}
RELATIVE_E: PartFacts = {
    "low": 0,
    "strict": True,
    "late": True,
    "ours": "not in the paper: |E| is about |W^T W| in trained networks, so that |E| alone "
    "measures |W^T W|",
}
STRONGLY: PartFacts = {
    "low": 0.5,
    "ours": "the paper gives no level; a kernel of equal entries has 0.32 for ten classes",
}
BLOCKS: dict[str, PartFacts] = {
    "theta": {"high": 1 / 1.5, "ours": "the paper says larger; 1.5 times as large is meant"},
    "theta_h": {"high": 1 / 2, "ours": "the paper says larger; twice as large is meant"},
}
HALF: PartFacts = {"high": 0.5, "ours": "the paper says smaller; half is meant"}
SMALL_MEAN: PartFacts = {
    "high": 0.05,
    "late": True,
    "ours": "half of the largest value that is possible: for ten classes 1/C = 0.1",
}
SMALL_H2: PartFacts = {"high": 0.1, "ours": "the paper says small and gives no number"}
SMALLER_H2: PartFacts = {
    "high": 0,
    "strict": True,
    "ours": "the paper says small for models with neural collapse, and makes no comparison",
}
MUCH: PartFacts = {"low": math.log10(5), "ours": "the paper says much larger; 5 times is meant"}
SCALE_FREE: PartFacts = {
    "high": 0,
    "strict": True,
    "ours": "the paper's NC1 scales with the features, whose size cross-entropy does not fix; "
    "variance within over variance between classes does not",
}
BELOW_ONE: PartFacts = {"high": 1, "strict": True, "paper": True}
NEARLY_SURE: PartFacts = BELOW_ONE | {
    "certain": "hardly can fail: a block of a positive semidefinite matrix has at most the "
    "geometric mean of the norms of its two diagonal blocks",
}


def k09(tables: Tables) -> Iterator[Part]:
    """Most accurate networks are collapsed, and an accurate one that is not exists in each pair."""
    rows = networks(tables)
    lag = rows.groupby("pair")["test_accuracy"].transform("max") - rows["test_accuracy"]
    top = rows[lag <= TOP + EQUAL]
    collapsed = (top["nc3"] < COLLAPSED).astype(float).where(top["nc3"].notna())
    name = f"NC3 below {COLLAPSED:g}: share of networks within 1 point of the best test accuracy"
    yield over_pairs(name, top.assign(collapsed=collapsed), "collapsed", **MOST)
    others = rows[(lag <= COMPARABLE + EQUAL) & (rows["train_accuracy"] >= FITTED - EQUAL)]
    for pair in rows["pair"].unique():
        nc3 = others.loc[others["pair"] == pair, "nc3"]
        name = f"{pair}: largest NC3 within 2 points, of networks that fit 99.9 %"
        yield Part(name=name, value=float(nc3.max(skipna=False)), **IDENTIFIED)


def k10(tables: Tables) -> Iterator[Part]:
    """The smaller NC3, the better aligned is the invariant and the smaller its norm."""
    squared = networks(tables)
    entropy = networks(tables, loss=ENTROPY)
    columns = {
        "alignment of the invariant": "invariant_alignment",
        "|E|": "e_norm",
        "|E| / |W^T W|": "e_relative",
    }
    for name, thresholds in (
        ("alignment of the invariant", BELOW),
        ("alignment of the invariant", CLEARLY),
        ("|E|", SMALLER_E),
        ("|E| / |W^T W|", RELATIVE_E),
    ):
        facts: PartFacts = {**thresholds, "artifacts": OF_SQUARED}
        yield correlation(name, squared, columns[name], **facts)
    for name, thresholds in (("alignment of the invariant", BELOW), ("|E|", ABOVE)):
        facts = {**thresholds, "artifacts": OF_ENTROPY}
        yield ranks(name, entropy, columns[name], **facts)


def k11(tables: Tables) -> Iterator[Part]:
    """Both kernels are aligned with the labels, more so close to collapse."""
    rows = picked(tables)
    best = networks(tables).groupby("pair")["test_accuracy"].max()
    lag = rows["pair"].map(best) - rows["test_accuracy"]
    for kernel, name in KERNELS.items():
        column = f"alignment_{kernel}"
        yield difference(f"alignment of {name}, close minus far", rows, column, **ABOVE)
        name = f"alignment of {name}, models within 1 point of the best"
        yield over_pairs(name, rows[lag <= TOP + EQUAL], column, **STRONGLY)


def k12(tables: Tables) -> Iterator[Part]:
    """Traced kernels are larger for images of one class."""
    rows = maps(tables)
    ratios = rows["other_class"] / rows["same_class"].where(rows["same_class"] > 0)
    name = "mean of pairs of two classes over mean of pairs of one class"
    rows = rows.assign(ratio=ratios)
    yield from _both_kernels(name, rows, "ratio", dict.fromkeys(KERNELS, BELOW_ONE))
    yield from _both_kernels(f"{name}, clearly", rows, "ratio", BLOCKS)


def k13(tables: Tables) -> Iterator[Part]:
    """Kernels of two outputs or features are smaller than both of those of one."""
    rows = maps(tables)
    name = "norm off the diagonal over the smaller of both norms on it, median"
    yield from _both_kernels(name, rows, "norm_over_smaller", dict.fromkeys(KERNELS, BELOW_ONE))
    name = "median norm off the diagonal over median norm on it"
    yield from _both_kernels(name, rows, "norm_ratio", dict.fromkeys(KERNELS, NEARLY_SURE))
    yield from _both_kernels(f"{name}, clearly", rows, "norm_ratio", dict.fromkeys(KERNELS, HALF))


def _both_kernels(
    name: str, rows: "pd.DataFrame", column: str, bounds: Mapping[str, PartFacts]
) -> Iterator[Part]:
    """The comparison of a column for each kernel with its bound."""
    for kernel, title in KERNELS.items():
        rows_of_kernel = rows[rows["kernel"] == kernel]
        yield over_pairs(f"{title}: {name}", rows_of_kernel, column, **bounds[kernel])


def k14(tables: Tables) -> Iterator[Part]:
    """The global mean of the features is small, and H2 is small close to collapse."""
    rows = picked(tables)
    rows = rows.assign(mean=rows["hbar"] / rows["h1"], within=rows["h2"] / rows["h1"])
    yield over_pairs("|<h> <h>^T| / |H1 H1^T|, all models", rows, "mean", **SMALL_MEAN)
    within = "|H2 H2^T| / |H1 H1^T|"
    close = rows[rows["picked"] == CLOSE]
    yield over_pairs(f"{within}, close to collapse", close, "within", **SMALL_H2)
    yield difference(f"{within}, close minus far", rows, "within", **SMALLER_H2)


def k15(tables: Tables) -> Iterator[Part]:
    """With cross-entropy NC1 to NC3 are lower and |E| is larger, at the same rate and init."""
    entropy = _fitted(tables, ENTROPY)
    squared = _fitted(tables, SQUARED)
    common = entropy.index.intersection(squared.index)
    if len(common) < FEWEST:
        raise CannotDecideError(
            f"{len(common)} networks of equal rate and initialisation fit 99 % "
            f"with both losses; {FEWEST} are needed"
        )
    for name, column, thresholds in (
        ("NC1", "nc1", BELOW),
        ("NC2", "nc2", BELOW),
        ("NC3", "nc3", BELOW),
        ("NC1, within over between", "nc1_ratio", SCALE_FREE),
        ("|E|", "e_norm", ABOVE),
        ("|E|, clearly", "e_norm", MUCH),
    ):
        log_entropy = _log10(entropy.loc[common, column])
        log_squared = _log10(squared.loc[common, column])
        label = f"{name}: log10 of cross-entropy over squared error, median over networks"
        yield samples.median(label, (log_entropy - log_squared).tolist(), **thresholds)


def _fitted(tables: Tables, pair: str) -> "pd.DataFrame":
    """The networks of a pair that fit `BOTH_FITTED` of the training images, by init and rate."""
    rows = networks(tables, loss=pair)
    fitted = rows[rows["train_accuracy"] >= BOTH_FITTED - EQUAL]
    return fitted.set_index(["init", "rate"])


def _log10(values: "pd.Series") -> "pd.Series":
    """Logarithm to the base 10; nan of what is not above 0."""
    values = values.astype(float)
    return np.log10(values.where(values > 0))


def networks(tables: Tables, loss: str = "") -> "pd.DataFrame":
    """The trained networks of all pairs with squared error, or of the pair ``loss``."""
    rows = together(tables, "rates", ["pair", "init", "rate"])
    chosen = rows["pair"] == loss if loss else rows["pair"] != ENTROPY
    trained = rows[chosen & (rows["train_accuracy"] >= TRAINED - EQUAL)]
    return required(trained, f"networks that fit {100 * TRAINED:g} % of the training images")


def picked(tables: Tables) -> "pd.DataFrame":
    """The trained models that the figures show, `CLOSE` or `FAR` in the column picked.

    They have a column for each quantity of the tables ``ends_<pair>``, which replaces a column of
    the same name.
    """
    rows = networks(tables)
    rows = required(rows[rows["picked"].isin((CLOSE, FAR))], "models of the figures")
    long = together(tables, "ends", ["pair", "init", "model", "quantity"])
    long = long.rename(columns={"model": "picked"})
    key = ["pair", "init", "picked"]
    wide = long.pivot(index=key, columns="quantity", values="value").reset_index()
    replaced = [name for name in wide if name in rows and name not in key]
    return rows.drop(columns=replaced).merge(wide, on=key)


def maps(tables: Tables) -> "pd.DataFrame":
    """Blocks and norms of the networks of the heat maps, of those that are trained."""
    blocks = together(tables, "blocks", ["pair", "kernel"])
    key = ["pair", "init", "rate"]
    return blocks.merge(networks(tables)[key], on=key)


def together(tables: Tables, kind: str, key: list[str]) -> "pd.DataFrame":
    """The tables ``<kind>_<pair>`` of all pairs as one, whose rows must differ in ``key``."""
    import pandas as pd

    of_kind = [table for name, table in tables.items() if name.startswith(f"{kind}_")]
    parts = [table for table in of_kind if len(table)]
    if not parts:
        raise CannotDecideError(f"no rows of {kind}")
    rows = pd.concat(parts, ignore_index=True)
    if rows.duplicated(key).any():
        raise CannotDecideError(f"several rows of {kind} for one network")
    return rows


def difference(
    name: str, rows: "pd.DataFrame", column: str, **thresholds: Unpack[PartFacts]
) -> Part:
    """Mean over pairs: a model close to collapse minus one far from it, of one initialisation."""
    values = rows.set_index(["pair", "init"])[column]
    picked = rows["picked"].to_numpy()
    close = values[picked == CLOSE]
    far = values[picked == FAR]
    common = close.index.intersection(far.index)
    differences = (close.loc[common] - far.loc[common]).reset_index()
    return over_pairs(name, differences, column, "both models", **thresholds)


def over_pairs(
    name: str,
    rows: "pd.DataFrame",
    column: str,
    lacking: str = "networks",
    resolution: float = 0.0,
    **thresholds: Unpack[PartFacts],
) -> Part:
    """The mean over pairs of a column, averaged over the rows of each pair.

    ``lacking`` is what there must be in `FEWEST` pairs; for ``resolution`` see `samples.mean`.
    """
    by_pair = rows.groupby("pair", sort=False)[column]
    means = [values.mean(skipna=False) for _, values in by_pair]
    if len(means) < FEWEST:
        raise CannotDecideError(
            f"{name}: {lacking} in {len(means)} pairs of a network and a "
            f"dataset; {FEWEST} are needed"
        )
    return samples.mean(f"{name}, mean over pairs", means, resolution, **thresholds)


def correlation(
    name: str, rows: "pd.DataFrame", column: str, **thresholds: Unpack[PartFacts]
) -> Part:
    """Rank correlation of NC3 and a column over all rates, mean over initialisations and pairs.

    An initialisation with fewer than `FEWEST_RATES` trained networks is left out.
    """
    values = _rank_correlations(rows, column)
    title = f"rank correlation of NC3 and {name} over all trained networks"
    if "ours" in thresholds:
        title += ", ours"
    values = values[values["networks"] >= FEWEST_RATES]
    lacking = f"{FEWEST_RATES} trained networks of one initialisation"
    facts: PartFacts = {**thresholds, "bounds": (-1, 1)}
    return over_pairs(title, values, "value", lacking, RANK_STEP, **facts)


def ranks(name: str, rows: "pd.DataFrame", column: str, **thresholds: Unpack[PartFacts]) -> Part:
    """Rank correlation of NC3 and a column over the rates, mean over initialisations.

    The initialisations are few, and so are the networks of one. Therefore it is judged by
    permutations.
    """
    rows = rows.astype({"nc3": float, column: float})
    groups = [group for _, group in rows.groupby("init")]
    fewest = min(map(len, groups))
    if fewest < FEWEST_RATES:
        raise CannotDecideError(
            f"cross-entropy: an initialisation has {fewest} trained networks; "
            f"{FEWEST_RATES} are needed"
        )
    title = (
        f"cross-entropy: rank correlation of NC3 and {name}, "
        f"mean over {len(groups)} initialisations, by permutations"
    )
    series = [(group["nc3"].tolist(), group[column].tolist()) for group in groups]
    return samples.rank_correlation(title, series, **thresholds)


def _rank_correlations(rows: "pd.DataFrame", column: str) -> "pd.DataFrame":
    """Spearman's rank correlation of NC3 and a column for each initialisation of a pair.

    The value is nan if one of a network is missing or all are alike; ``networks`` is how many.
    """
    import pandas as pd

    correlations = []
    for (pair, _), group in rows.groupby(["pair", "init"], sort=False):
        values = group[["nc3", column]].astype(float)
        complete = values.notna().all(axis=None)
        if complete and (values.nunique() > 1).all():
            rank_correlation = values["nc3"].rank().corr(values[column].rank())
        else:
            rank_correlation = math.nan
        row = {"pair": pair, "networks": len(group), "value": float(rank_correlation)}
        correlations.append(row)
    return pd.DataFrame(correlations)
