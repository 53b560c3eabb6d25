"""Values that the text of ``trust`` prints, for the figures of which it speaks."""

import pandas as pd

TEXT = "trust_text"


def printed(reported: pd.DataFrame, quantity: str, row: str) -> float:
    """Return one value of ``config/reported/trust.csv``.

    Args:
        reported: that table.
        quantity: that column, such as ``dispersion``.
        row: that column, such as ``ordered``.

    Raises:
        KeyError: the paper prints no such value.
    """
    own = reported[(reported["artifact"] == TEXT) & (reported["quantity"] == quantity)]
    found = own.loc[own["row"] == row, "value"]
    if len(found) != 1:
        raise KeyError(f"{TEXT}/{quantity}/{row} is given {len(found)} times")
    return float(found.iloc[0])
