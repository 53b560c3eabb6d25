"""Extra table of dgn: means over gates and weights, stated by the paper and estimated."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.tables.numbers import plain, uncertain, whole
from finitewidth.tables.typeset import Typeset

PLACES = {"D03": "Lemma 2.4", "D10": "Corollary 8.1"}


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return all rows of the table ``identities``."""
    return tables["identities"]


def typeset(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Typeset:
    """Typeset one line per identity and depth."""
    lines = [
        {
            "where": PLACES[row["identity"]],
            "what": row["case"],
            "stated": plain(row["expected"]),
            "drawn ± standard error": uncertain(row["value"], row["standard_error"], 4),
            "draws": whole(row["draws"]),
        }
        for row in rows.to_dict("records")
    ]
    return Typeset(pd.DataFrame(lines), "Means over gates and weights, stated and drawn")
