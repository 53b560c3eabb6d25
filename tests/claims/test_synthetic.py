"""Made-up rows of claims are rows that their experiments could have written."""

from importlib import import_module

import pytest
from tests.helpers.judged_claims import DECLARED, JUDGED, made_up

from finitewidth.records.tables import Table

MODULES = {e.name: e.module for paper in DECLARED for e in paper.experiments}


def table_of(reference):
    """The table that a reference such as ``trust_depth.curves`` names; None of a training."""
    job, name = reference.split(".")
    if job not in MODULES:
        return None
    return import_module(MODULES[job]).TABLES[name]


@pytest.mark.parametrize("made", [0, 1], ids=["supporting", "contradicting"])
@pytest.mark.parametrize("claim", JUDGED, ids=lambda claim: claim.id)
def test_columns_and_types_are_those_of_the_table(claim, made):
    for name, rows in made_up(claim)[made]().items():
        table = table_of(claim.reads[name])
        if table is None:
            continue
        unknown = set(rows.columns) - set(table.names)
        assert not unknown, f"{claim.reads[name]} has no such columns"
        present = Table(*(column for column in table if column.name in rows.columns))
        present.checked_all(rows)
