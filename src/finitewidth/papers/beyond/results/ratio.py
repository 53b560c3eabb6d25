"""What Figures 3 and 11 of beyond show: off-diagonal means beside eq. 18 and infinite width."""

import pandas as pd

from finitewidth.common.number_words import listed
from finitewidth.papers.beyond.figures.lines import EDGE, samples_of
from finitewidth.papers.beyond.figures.ratio import Look
from finitewidth.papers.beyond.results.words import (
    LAMBDA,
    VARIANCE,
    at_largest,
    fixed,
    span,
    up_to,
)

LINE = ["width", "alpha_0", "sigma_w2", "cosine"]
POINT = [*LINE, "depth"]
RATIO = "the mean of the NTK off its diagonal over that on it"


def result(rows: pd.DataFrame, settings: Look) -> str:
    """Compare ratios with equation 18 or, with bands, infinite width; and with the bounds."""
    drawn = rows[rows["series"] == "estimate"]
    if settings.errors == "bands":
        return f"{infinite_width(rows, drawn)}; {bounds(rows, last_sample(drawn))}."
    drawn = last_sample(drawn).sort_values("depth_over_width")
    ordered = drawn[drawn["sigma_w2"] < EDGE]
    if ordered.empty:
        return f"No network lies below the edge of chaos; {bounds(rows, drawn)}."
    return f"{rise(ordered)} {equation_18(rows, ordered)}; {bounds(rows, drawn)}."


def last_sample(drawn: pd.DataFrame) -> pd.DataFrame:
    """The estimates of the larger sample."""
    return drawn[drawn["sample"] == samples_of(drawn)[-1]]


def rise(ordered: pd.DataFrame) -> str:
    """Count the curves that are higher at the largest depth than at the smallest."""
    ends = ordered.groupby(LINE)["ratio"].agg(["first", "last"])
    rising = ends["last"] > ends["first"]
    sentence = (
        f"Below the edge of chaos {RATIO} is larger at the largest depth than at the smallest in "
        f"{int(rising.sum())} of {len(rising)} cases"
    )
    falling = sorted(ends.index[~rising].get_level_values("sigma_w2").unique())
    if falling:
        variances = listed(f"{variance:g}" for variance in falling)
        sentence += f" (the others have {VARIANCE} = {variances})"
    return f"{sentence}; the paper says that it rises quickly with depth."


def equation_18(rows: pd.DataFrame, ordered: pd.DataFrame) -> str:
    """Say how far the ratios are from equation 18, at the largest depth and at all depths."""
    deepest = at_largest(ordered, "depth_over_width")
    gaps = differences(rows, deepest, "equation_18")
    least = differences(rows, ordered, "equation_18").min()
    errors = up_to(deepest["standard_error"], 3)
    return (
        "Less equation 18, approximately a lower bound for deep networks, it is "
        f"{span(gaps, 3)} at the largest depth (standard errors {errors}) and "
        f"at least {fixed(least)} at all depths"
    )


def infinite_width(rows: pd.DataFrame, drawn: pd.DataFrame) -> str:
    """Say how far the ratios of the deepest networks are from those at infinite width."""
    deepest = at_largest(last_sample(drawn), "depth_over_width")
    gaps = differences(rows, deepest, "infinite_width")
    is_ordered = deepest["sigma_w2"] < EDGE
    parts = []
    for words, inside in (("below the edge of chaos", is_ordered), ("from it on", ~is_ordered)):
        if inside.any():
            parts.append(f"{span(gaps[inside])} {words}")
    errors = []
    for sample in reversed(samples_of(drawn)):
        of_sample = at_largest(drawn[drawn["sample"] == sample], "depth_over_width")
        count = int(of_sample["networks"].max())
        errors.append(f"{up_to(of_sample['standard_error'])} with {count:,} networks")
    end = deepest["depth_over_width"].iloc[0]
    return (
        f"At {LAMBDA} = {end:g} {RATIO}, less that at infinite width, is "
        f"{' and '.join(parts)} (standard errors {', and '.join(errors)})"
    )


def differences(rows: pd.DataFrame, drawn: pd.DataFrame, series: str) -> pd.Series:
    """Ratios less those of a curve at the same networks, depths and cosines."""
    curve = rows[rows["series"] == series].set_index(POINT)["ratio"]
    theory = curve.reindex(pd.MultiIndex.from_frame(drawn[POINT])).to_numpy()
    return drawn["ratio"] - theory


def bounds(rows: pd.DataFrame, drawn: pd.DataFrame) -> str:
    """Count the ratios between the bounds of Theorem 3.3."""
    limits = rows.set_index("series")["ratio"]
    low = float(limits["lower_bound"])
    high = float(limits["upper_bound"])
    inside = int(drawn["ratio"].between(low, high).sum())
    count = f"all {inside:,}" if inside == len(drawn) else f"{inside:,} of {len(drawn):,}"
    return f"{count} ratios lie between {low:g} and {high:g}, the bounds of Theorem 3.3"
