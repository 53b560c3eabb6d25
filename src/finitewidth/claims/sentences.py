"""What a run found about a claim, in one sentence: how many comparisons hold, and the decisive one.

It is made from a row of ``<paper>_verdicts.csv``. Formulas stay as the judges write them, such as
``sigma_w^2``.
"""

import math
import re
from collections.abc import Mapping
from typing import Any

from finitewidth.claims import verdicts
from finitewidth.common.number_words import number, threshold

WHOSE = {
    verdicts.PAPER: "the paper says that it is",
    verdicts.PAPER_WITH_TOLERANCE: "the paper says, with a tolerance of ours, that it is",
    verdicts.PAPER_IN_OUR_RANGE: "the paper says, in a range of ours, that it is",
    verdicts.PAPER_CERTAIN: "the paper says that it is, and it is sure to be",
    verdicts.OURS: "our threshold is",
}
NUMBER = re.compile(r"-?\d[\d.]*(e[+-]?\d+)?")


def sentence_below(artifact: str, row: Mapping[str, Any]) -> str:
    """`decisive_sentence` for a caption; without the comparison if the artifact does not show it.

    The column ``shown_in`` of the row has the artifacts that do; it is empty if all do.
    """
    if not row["shown_in"] or artifact in row["shown_in"].split():
        return decisive_sentence(row)
    if row["outcome"] not in verdicts.OUTCOMES:
        return f"This run does not decide the claim: {row['reason']}."
    return f"{_counted(row)}."


def decisive_sentence(row: Mapping[str, Any]) -> str:
    """What decided the verdict of a claim, with its value, its 95 % interval and its threshold.

    For example: ``All 15 comparisons hold; the decisive one is “M = 100: rise of r”, which is 1.2
    (95 % interval 1.1 to 1.3); the paper says that it is at least 1.`` A value that is computed
    exactly has no interval. Without a comparison, why there is none. The values of ``row``, of a
    table of verdicts, may be numbers or, as read from the file, text.
    """
    if not row["statistic"]:
        return f"This run does not decide the claim: {row['reason']}."
    rounded = NUMBER.sub(lambda match: number(match[0], 6), row["threshold"])
    limits = threshold(rounded)
    return (
        f"{_counts(row)} “{row['statistic']}”, which {_value(row)}; "
        f"{WHOSE[row['threshold_of']]} {limits}."
    )


def _counts(row: Mapping[str, Any]) -> str:
    total = int(row["comparisons"])
    if row["outcome"] not in verdicts.OUTCOMES or row["verdict"] == verdicts.NEEDS_MORE:
        which = "its only comparison" if total == 1 else f"the first to look at of {total}"
        return f"This run does not decide the claim ({row['reason']}); {which} is"
    return _counted(row) + (":" if total == 1 else "; the decisive one is")


def _counted(row: Mapping[str, Any]) -> str:
    """``All 12 comparisons hold``, or how many do not, and on which side undecided ones lie."""
    failing = int(row["failing"])
    undecided = int(row["undecided"])
    holding = int(row["comparisons"]) - failing - undecided
    outcomes = [verdicts.FAILS] * failing
    outcomes += [verdicts.UNDECIDED] * undecided
    outcomes += [verdicts.HOLDS] * holding
    counts = verdicts.counted_outcomes(outcomes)
    if row["verdict"] == verdicts.NO_THRESHOLD:
        counts += "; the paper sets no threshold"
    for phrase in row["reason"].split("; "):
        if " undecided ha" in phrase:  # "has the opposite sign" or "have"
            counts += f"; {phrase}"
    return f"{counts[0].upper()}{counts[1:]}"


def _value(row: Mapping[str, Any]) -> str:
    value = _as_number(row["value"])
    low = _as_number(row["low"])
    high = _as_number(row["high"])
    if math.isnan(value):
        return "has no value here"
    if math.isnan(low):
        return f"is {number(value)}, with an unknown error"
    if low == high:
        return f"is {number(value)}"
    return f"is {number(value)} (95 % interval {number(low, 3)} to {number(high, 3)})"


def _as_number(cell: Any) -> float:
    """A cell of a table as a number; nan if it is empty."""
    return math.nan if cell in (None, "") else float(cell)
