"""What Figures 7 and 8 of beyond show: dispersions off the diagonal, and the theory on it."""

import numpy as np
import pandas as pd

from finitewidth.papers.beyond.figures.lines import EDGE, samples_of
from finitewidth.papers.beyond.results.words import (
    CLEAR,
    LAMBDA,
    at_largest,
    by_phase,
    phases_listed,
    span,
    up_to,
)

NETWORK = ["width", "alpha_0", "sigma_w2"]
THEOREMS = {
    "printed_limit": "the limit of Theorem 3.1",
    "printed_sums": "the sums of Theorem 3.2",
}


def result(rows: pd.DataFrame) -> str:
    """Compare the deepest networks with the prediction for the diagonal, and their angles."""
    drawn = rows[rows["series"] == "estimate"]
    drawn = drawn[drawn["sample"] == samples_of(drawn)[-1]]
    deepest = at_largest(drawn, "depth_over_width")
    curve = "printed_sums" if (rows["series"] == "printed_sums").any() else "printed_limit"
    means = deepest.groupby(NETWORK, as_index=False)["dispersion"].mean()
    over_diagonal = means["dispersion"] / predictions(rows, curve, means)
    end = deepest["depth_over_width"].iloc[0]
    count = int(deepest["networks"].max())
    errors = up_to(100 * deepest["standard_error"] / deepest["dispersion"], 0, " per cent")
    return (
        f"At {LAMBDA} = {end:g} the dispersion off the NTK's diagonal (mean of the cosines, "
        f"{count:,} networks each, standard errors {errors}) over {THEOREMS[curve]} "
        f"for the diagonal is {phases_listed(over_diagonal, by_phase(means['sigma_w2']))}; the "
        f"paper calls it only slightly higher, at any angle. {angles(deepest)}"
    )


def predictions(rows: pd.DataFrame, curve: str, networks: pd.DataFrame) -> np.ndarray:
    """What the paper gives for the diagonal of the deepest of some networks."""
    theory = at_largest(rows[rows["series"] == curve], "depth_over_width")
    values = theory.set_index(NETWORK)["dispersion"]
    values = values.reindex(pd.MultiIndex.from_frame(networks[NETWORK])).to_numpy()
    if curve == "printed_sums":
        return values
    below = rows.loc[rows["series"] == "ordered_limit", "dispersion"].iloc[0]
    return np.where(networks["sigma_w2"] < EDGE, below, values)


def angles(deepest: pd.DataFrame) -> str:
    """Compare the dispersions at the largest and the smallest cosine."""
    cosines = sorted(deepest["cosine"].unique())
    if len(cosines) < 2:
        return "There is one angle only."
    ends = []
    for cosine in (cosines[0], cosines[-1]):
        ends.append(deepest[deepest["cosine"] == cosine].set_index(NETWORK))
    first, last = ends
    difference = last["dispersion"] - first["dispersion"]
    error = np.hypot(first["standard_error"], last["standard_error"])
    known = int(error.notna().sum())
    clear = int((difference.abs() > CLEAR * error).sum())
    ratios = last["dispersion"] / first["dispersion"]
    return (
        f"At cosine {cosines[-1]:g} it is {span(ratios)} times that at {cosines[0]:g}, more than "
        f"two standard errors apart in {clear} of {known} networks with known errors."
    )
