"""npf Table 3: which layouts of four paths may follow one another."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.records import fields
from finitewidth.tables.typeset import Typeset

FIELDS = {
    "layout": fields.text("letter of the layout of a layer"),
    "starts": fields.integer("number of different nodes at which the four paths enter the layer"),
    "ends": fields.integer("number of different nodes at which they leave it"),
    "weights": fields.integer("number of different weights that they take"),
    "ways": fields.integer("number of ways in which four paths can have this layout"),
    "nodes": fields.integer("number of nodes on either side of the layer"),
    "next": fields.text("letter of a layout that the next layer may have; one row for each"),
}
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
