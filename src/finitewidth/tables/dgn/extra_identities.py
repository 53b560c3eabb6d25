"""Extra of dgn: means over gates and weights that the paper states, beside drawn ones."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.tables.typeset import Typeset, plus_minus

PLACES = {"D03": "Lemma 2.4", "D10": "Corollary 8.1"}


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """All rows."""
    return tables["identities"]


def typeset(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Typeset:
    """A line per identity and depth."""
    lines = [
        {
            "where": PLACES[row["identity"]],
            "what": row["case"],
            "stated": f"{row['expected']:g}",
            "drawn ± standard error": plus_minus(row["value"], row["standard_error"], 3),
            "draws": f"{row['draws']:,}",
        }
        for row in rows.to_dict("records")
    ]
    return Typeset(pd.DataFrame(lines), "Means over gates and weights, stated and drawn")
