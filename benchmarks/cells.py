"""The cells of the tables of the page: numbers and times in few digits."""

from collections.abc import Callable

import pandas as pd


def meanings(columns: dict[str, str]) -> str:
    return markdown(pd.DataFrame({"column": columns.keys(), "meaning": columns.values()}))


def markdown(table: pd.DataFrame) -> str:
    return table.to_markdown(index=False, disable_numparse=True) + "\n"


def goal(ratio: float) -> str:
    """Return a ratio that is asked for: at least, if it is one of times, which is above one."""
    if pd.isna(ratio):
        return ""
    return f"≥ {number(ratio)}" if ratio >= 1 else f"≤ {fraction(ratio)}"


def fraction(ratio: float) -> str:
    """Return a ratio below one as a fraction."""
    return number(ratio) if ratio >= 1 else f"1/{number(1 / max(ratio, 1e-9))}"


def span(values: pd.Series, in_words: Callable[[float], str]) -> str:
    """Return the smallest and the largest value in words; one of them if these are the same."""
    low = in_words(values.min())
    high = in_words(values.max())
    return low if low == high else f"{low} to {high}"


def number(value: float) -> str:
    """Return three digits, without exponents."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def per_cent(value: float) -> str:
    return f"{100 * value:.2g} %" if value < 0.995 else f"{100 * value:.0f} %"


def prefixed(value: float) -> str:
    """Return three digits, in thousands, millions or billions (k, M, G)."""
    for prefix, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{value / size:.3g} {prefix}"
    return f"{value:.3g}"


def duration(seconds: float) -> str:
    """Return seconds with three digits and a prefix."""
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"
