"""Numbers, ranges, lists and times as words, for sentences and tables."""

import math
from collections.abc import Iterable
from typing import Any

_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: Any, digits: int = 4) -> str:
    """Format a number with ``digits`` significant digits; a missing number is a dash."""
    try:
        value = float(value)
    except (TypeError, ValueError):
        return "–"
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    text = f"{value:.{digits}g}"
    if "e" in text:
        mantissa, _, exponent = text.partition("e")
        text = f"{mantissa}·10{str(int(exponent)).translate(_SUPERSCRIPT)}"
    return text.replace("-", "−")


def duration(seconds: float) -> str:
    """Format a time: ``0.4 s``, ``3 min 20 s`` or ``3 d 4 h``; nan is not recorded."""
    if math.isnan(seconds):
        return "not recorded"
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if not minutes:
        return f"{rest} s"
    hours, minutes_left = divmod(minutes, 60)
    if not hours:
        return f"{minutes} min {rest:02d} s"
    days, hours_left = divmod(hours, 24)
    return f"{days:,} d {hours_left} h" if days else f"{hours} h {minutes_left:02d} min"


def listed(words: Iterable[str]) -> str:
    """Join words: ``a``, ``a and b``, ``a, b and c``; empty if there are none."""
    *first, last = [*words] or [""]
    return f"{', '.join(first)} and {last}" if first else last


def rough_duration(seconds: float) -> str:
    """Format a time in one unit: ``40 s``, ``12 min``, ``5 h``, ``51 days`` or ``7.3 years``."""
    units = ("s", 1, 100), ("min", 60, 100), ("h", 3600, 48), ("days", 86400, 730)
    for unit, length, most in units:
        if round(seconds / length) < most:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds / (365 * 86400):.1f} years"


def threshold(words: str) -> str:
    """Return the range of a threshold; one number if both ends read the same."""
    low, _, high = words.partition(" to ")
    return low if low == high else words
