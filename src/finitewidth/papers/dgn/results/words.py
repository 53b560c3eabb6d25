"""Numbers, ranges and numbers of runs as the sentences of dgn have them."""

import pandas as pd

from finitewidth.common.number_words import listed, number


def plainly(value: float, digits: int = 3) -> str:
    """A number with some significant digits, and without a power of ten if it is large."""
    if pd.isna(value) or abs(value) < 100:
        return number(value, digits)
    return f"{float(f'{value:.{digits}g}'):,.0f}".replace("-", "−")


def between(values: pd.Series) -> str:
    """The range of some numbers, or the number if there is one."""
    ends = [plainly(values.min()), plainly(values.max())]
    return " to ".join(dict.fromkeys(ends))


def count_of_runs(runs: float) -> str:
    """``1 run`` or ``5 runs``."""
    return "1 run" if runs == 1 else f"{runs:g} runs"


def spread_of_runs(runs: float) -> str:
    """What stands behind ±: ``± standard deviation of 5 runs``; ``1 run`` has none."""
    return "1 run" if runs == 1 else f"± standard deviation of {runs:g} runs"


def share(count: int, total: int) -> str:
    """``all 7`` or ``6 of 7``."""
    return f"all {total}" if count == total else f"{count} of {total}"


def untrained(rows: pd.DataFrame, threshold: float) -> str:
    """A sentence on the networks that are not trained; empty if all are.

    Args:
        rows: trained, and series with the networks.
        threshold: train accuracy from which a run counts as trained.
    """
    names = list(dict.fromkeys(rows.loc[rows["trained"] == 0, "series"]))
    if not names:
        return ""
    which = "all networks" if len(names) == rows["series"].nunique() else listed(names)
    below = f"train accuracy below {100 * threshold:g} % in some run, our threshold"
    return f" Not trained ({below}): {which}."
