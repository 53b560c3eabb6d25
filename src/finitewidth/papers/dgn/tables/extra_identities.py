"""Extra table of dgn: means over gates and weights, stated by the paper and estimated."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.declarations import columns as shared
from finitewidth.papers.dgn import columns
from finitewidth.records.tables import Table
from finitewidth.tables.numbers import plain, uncertain, whole
from finitewidth.tables.typeset import Typeset

TABLE = Table(
    columns.STATED_AT,
    columns.AVERAGED,
    shared.DEPTH,
    columns.DRAWN_OR_STATED,
    columns.MEAN,
    columns.ERROR_OF_OURS,
    columns.DRAWS_OF_OURS,
)


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return two rows for each row of the table ``identities``: our mean and the stated one."""
    rows = tables["identities"]
    # a case is named like "self overlap / expectation, d=3"
    named = rows["case"].str.extract(r"^(?P<quantity>.*), d=(?P<depth>\d+)$")
    places = {"D03": "Lemma 2.4", "D10": "Corollary 8.1"}
    rows = rows.join(named).assign(place=rows["identity"].map(places))
    ours = rows.rename(columns={"value": "mean"}).assign(source="ours")
    stated = rows.rename(columns={"expected": "mean"})[["place", "quantity", "depth", "mean"]]
    # a stable sort by the index puts the stated mean below ours
    return pd.concat([ours, stated.assign(source="paper")]).sort_index(kind="stable")


def typeset(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Typeset:
    """Typeset one line per identity and depth."""
    lines = []
    for (place, quantity, depth), group in rows.groupby(["place", "quantity", "depth"], sort=False):
        by_source = group.set_index("source")
        ours = by_source.loc["ours"]
        stated = by_source.loc["paper", "mean"]
        line = {
            "where": place,
            "what": f"{quantity}, d = {depth}",
            "stated": plain(stated),
            "drawn ± standard error": uncertain(ours["mean"], ours["standard_error"], 4),
            "draws": whole(ours["draws"]),
        }
        lines.append(line)
    title = "Means over gates and weights, stated and drawn"
    return Typeset(pd.DataFrame(lines), title, variables=("d",))
