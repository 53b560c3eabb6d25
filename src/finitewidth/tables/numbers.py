"""Numbers as text, in one way for all tables: uncertainties, thousands, powers of ten, dashes."""

import math

import pandas as pd

MISSING = "–"
THIN = "\u202f"  # narrow space at which no line breaks
# decimals that resolve one image of 10,000
PERCENT = 2
FRACTION = 4
SIGNIFICANT = 2  # digits of an uncertainty


def uncertain(mean: float, spread: float, decimals: int = PERCENT) -> str:
    """Return ``97.9 ± 1.2``: two significant digits of the spread, the mean with as many decimals.

    Args:
        mean: the number; a dash is returned if it is missing.
        spread: a standard deviation or a standard error, in the unit of the mean; the table says
            which. If it is missing, as for a single run or a number printed without one, the mean
            stands alone.
        decimals: the most that are shown. A smaller spread keeps fewer significant digits. The mean
            has all of them if its spread is zero or missing.
    """
    if pd.isna(mean):
        return MISSING
    if pd.isna(spread):
        return _signed(f"{mean:.{decimals}f}")
    if 0 < spread < math.inf:
        decimals = min(decimals, _decimals_of(spread))
    return _signed(f"{mean:.{decimals}f} ± {spread:.{decimals}f}")


def _decimals_of(spread: float) -> int:
    """Decimals that show `SIGNIFICANT` digits, also where rounding adds one: 0.996 is 1.0."""
    exponent = int(f"{spread:.{SIGNIFICANT - 1}e}".partition("e")[2])
    return max(0, SIGNIFICANT - 1 - exponent)


def as_printed(mean: float, spread: float, decimals: int = PERCENT) -> str:
    """Return a number of a paper with as many decimals as the paper prints."""
    if pd.isna(mean) or pd.isna(spread):
        return uncertain(mean, math.nan, decimals)
    return _signed(f"{mean:.{decimals}f} ± {spread:.{decimals}f}")


def rounded_down(number: float, decimals: int) -> str:
    """Return a number of which no digit is rounded up, so that it stays below its bounds."""
    scale = 10**decimals
    # a number that is whole but for rounding errors loses no unit
    units = round(number * scale, 6)
    return fixed(math.floor(units) / scale, decimals)


def whole(number: float) -> str:
    """Return a count with thin spaces between thousands; a dash if it is missing."""
    if pd.isna(number):
        return MISSING
    return _signed(f"{number:,.0f}".replace(",", THIN))


def fixed(number: float, decimals: int = PERCENT) -> str:
    """Return a number with a fixed number of decimals; a dash if it is missing."""
    return uncertain(number, math.nan, decimals)


def plain(number: float, missing: str = MISSING) -> str:
    """Return a number with the digits that it has, at most six, and no zeros at the end."""
    return missing if pd.isna(number) else _signed(f"{number:g}")


def scientific(number: float) -> str:
    """Return two significant digits, ``1.9 × 10⁴``; a power of ten alone is ``10⁻⁶``."""
    if pd.isna(number):
        return MISSING
    if number == 0 or 0.1 <= abs(number) < 100:
        return plain(float(f"{number:.1e}"))
    digits, _, exponent = f"{number:.1e}".partition("e")
    raised = str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"10{raised}" if digits == "1.0" else _signed(f"{digits} × 10{raised}")


def _signed(text: str) -> str:
    return text.replace("-", "−")


def runs_said(counts: pd.Series) -> str:
    """Return ``over 3 runs``, or ``over 1 to 3 runs`` if they differ; for titles and notes."""
    least = int(counts.min())
    most = int(counts.max())
    if least < most:
        return f"over {least} to {most} runs"
    return "over 1 run" if most == 1 else f"over {most} runs"
