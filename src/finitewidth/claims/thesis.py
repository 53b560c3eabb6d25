"""What the paper claims, and where our counterparts of its numbers come from."""

from finitewidth.claims.ledger import Claim
from finitewidth.claims.reported import Numbers

CLAIMS = (
    Claim(
        id="H01",
        paper="thesis",
        place="Thm 2.4/2.5",
        statement="GD from 0 reaches the min-norm solution; risk curve of min-norm regression.",
        rule="Distance to pinv; risk vs formula: 1e-6; within 3 SE of the CORRECTED formula.",
        artifacts=("thesis_fig2_4",),
    ),
)

NUMBERS: tuple[Numbers, ...] = ()
