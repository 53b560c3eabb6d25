"""Our counterpart of the number in Table 1 of collapse."""

from finitewidth.claims.ledger import Tables
from finitewidth.claims.reported import Ours


def multiplicity(tables: Tables) -> list[Ours]:
    """Number of independent eigenvectors of the largest eigenvalue."""
    rows = tables["rows"]
    rows = rows[rows["component"] == "global"]
    return [
        Ours(row="lambda_global", column="multiplicity", value=float(rank)) for rank in rows["rank"]
    ]
