"""npf Table 3: which layouts of four paths may follow one another."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.papers.npf.columns import concepts as columns
from finitewidth.records.tables import Table
from finitewidth.tables.typeset import Typeset

TABLE = Table(
    columns.LAYOUT,
    columns.STARTS,
    columns.ENDS,
    columns.WEIGHTS,
    columns.WAYS,
    columns.NODES,
    columns.NEXT,
)
COUNTS = {"starts": "start nodes", "ends": "end nodes", "weights": "weights"}


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return each layout once, with the layouts that may follow it."""
    layouts = tables["layouts"].drop_duplicates("layout")[["layout", *COUNTS, "ways", "nodes"]]
    return layouts.merge(tables["successors"], on="layout")


def typeset(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Typeset:
    """Typeset one line per layout."""
    lines = []
    for letter, group in rows.groupby("layout", sort=False):
        first = group.iloc[0]
        line = {"layout of a layer": f"({letter})"}
        for name, title in COUNTS.items():
            line[title] = str(first[name])
        line["ways"] = str(first["ways"])
        line["layout of the next layer"] = " or ".join(f"({name})" for name in group["next"])
        lines.append(line)
    return Typeset(
        pd.DataFrame(lines),
        "Four paths that take every weight an even number of times: layouts of a layer and of the "
        "next",
        (
            f"Counted by listing all ways in which four paths can pass through a layer with "
            f"{rows['nodes'].iloc[0]} nodes on either side; Figure 4 draws one way of each layout.",
        ),
    )
