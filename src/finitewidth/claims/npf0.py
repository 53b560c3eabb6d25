"""Numbers of the earlier version of npf. Its claims are those of npf."""

from finitewidth.claims.judges import npf_accuracy, npf_numbers
from finitewidth.claims.ledger import Claim
from finitewidth.claims.npf import STAGES, TABLE2
from finitewidth.claims.reported import Numbers

CLAIMS: tuple[Claim, ...] = ()

NUMBERS: tuple[Numbers, ...] = tuple(
    Numbers(artifact=artifact, quantity="test_accuracy", find=find, reads=reads, parts=parts)
    for artifact, find, reads, parts in (
        ("npf0_table2", npf_accuracy.table2_numbers, TABLE2, npf_accuracy.PARTS),
        ("npf0_fig3", npf_numbers.fig3_numbers, STAGES, npf_numbers.PARTS),
        ("npf0_text", npf_numbers.text_numbers, STAGES, npf_numbers.PARTS),
    )
)
