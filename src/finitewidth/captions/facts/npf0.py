"""Facts of the captions of ``npf0``, the earlier version of ``npf``, from the same tables."""

from typing import Any

from finitewidth.captions.facts import Tables
from finitewidth.captions.facts.npf import differing_cells, npf_fig1, npf_fig3

npf0_fig1 = npf_fig1
npf0_fig3 = npf_fig3


def npf0_table2(tables: Tables) -> dict[str, Any]:
    """Printed numbers in which the versions differ."""
    return differing_cells(tables["rows"])
