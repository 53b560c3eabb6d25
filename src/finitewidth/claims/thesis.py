"""Claims of the thesis. No experiment makes their rows yet."""

from finitewidth.claims.ledger import Claim
from finitewidth.claims.reported import Numbers
from finitewidth.claims.verdicts import OBSERVATION

CLAIMS = (
    Claim(
        id="H01",
        paper="thesis",
        place="Theorems 2.4 and 2.5",
        kind=OBSERVATION,
        statement=(
            "Gradient descent from zero weights reaches the least-squares solution of the smallest "
            "norm; its risk over the ratio of parameters to samples peaks at 1 and then falls."
        ),
        rule=(
            "Weights that gradient descent reaches: within 1e-6 of those of the pseudoinverse, "
            "relative. Mean risk over repeats: within 3 standard errors of the limit's formula, "
            "corrected (docs/errata.md), at every ratio."
        ),
        artifacts=("thesis_fig2_4",),
    ),
)

NUMBERS: tuple[Numbers, ...] = ()
