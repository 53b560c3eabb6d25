"""Numbers and ranges as words, for sentences and tables of the report."""

import math
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


def threshold(words: str) -> str:
    """Return the range of a threshold; one number if both ends read the same."""
    low, _, high = words.partition(" to ")
    return low if low == high else words
