"""Formatting of numbers, times, sizes and verdicts in the pages."""

import math
import re
from typing import Any

# tone -> sign, and the words shown in the tone's colour with this sign before them
TONES = {
    "good": (
        "✓",
        (
            "supported",
            "supported with a caveat",
            "reproduced",
            "close at reduced scale",
            "misprint confirmed",
            "made",
            "holds",
            "at the paper's sizes",
        ),
    ),
    "seen": ("✓", ("seen on the stand-in",)),
    "bad": (
        "✗",
        ("contradicted", "contradicted in part", "off", "not confirmed", "fails", "altered"),
    ),
    "unclear": (
        "?",
        (
            "inconclusive",
            "not seen on the stand-in",
            "differs at reduced scale",
            "undecided",
            "on a stand-in",
            "made with other settings",
            "of another run",
        ),
    ),
    "open": (
        "–",
        (
            "no threshold in the paper",
            "needs a larger run",
            "not comparable",
            "not trained",
            "not judged",
            "not computed",
            "reduced",
            "the paper's sizes, fewer runs",
            "at sizes of our own",
            "drawing",
        ),
    ),
    "none": ("·", ("not run", "not made yet")),
}
_TONE_OF = {word: tone for tone, (_, words) in TONES.items() for word in words}


def tone(word: str) -> str:
    """Return the colour class of a status."""
    return _TONE_OF[word]


def sign(word: str) -> str:
    """Return the sign of a status, which distinguishes statuses without colour."""
    return TONES[_TONE_OF[word]][0]


def order(value: Any) -> str:
    """Return what a column is sorted by: the number at full length, empty if there is none."""
    try:
        value = float(value)
    except (TypeError, ValueError):
        return ""
    return repr(value) if math.isfinite(value) else ""


def thousands(value: float) -> str:
    """Format a large number: ``640`` or ``12\u202f345``; nan is a dash."""
    return "–" if math.isnan(value) else f"{value:,.0f}".replace(",", "\u202f")


def size(count: int) -> str:
    """Format a number of bytes: ``840 B``, ``12 kB`` or ``1.4 MB``."""
    if count < 1000:
        return f"{count} B"
    if count < 1e6:
        return f"{count / 1000:.0f} kB"
    return f"{count / 1e6:.1f} MB"


def quotes(sources: str) -> str:
    """Quotes of an erratum without the numbers of lines, which a reader's copy may not have."""
    return re.sub(r'(^|; )(\w+): \d+, "', r'\1\2, "', sources)
