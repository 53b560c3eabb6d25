"""Claims of dgn, and where our counterparts of its printed numbers come from."""

from functools import partial

from finitewidth.claims import dgn_generalisation, dgn_optimisation
from finitewidth.claims.dgn_generalisation import SWEEP, TEXT
from finitewidth.claims.dgn_optimisation import DEEP_LINEAR
from finitewidth.claims.judges import dgn_dynamics, dgn_training
from finitewidth.claims.reported import Numbers

CLAIMS = tuple(
    sorted((*dgn_optimisation.CLAIMS, *dgn_generalisation.CLAIMS), key=lambda claim: claim.id)
)

NUMBERS: tuple[Numbers, ...] = (
    Numbers(
        artifact="dgn_table4", quantity="accuracy", find=dgn_training.table4_numbers, reads=SWEEP
    ),
    *(
        Numbers(
            artifact="dgn_text", quantity=quantity,
            find=partial(dgn_training.text_numbers, quantity=quantity), reads=TEXT,
            parts=dgn_training.PARTS,
        )
        for quantity in ("test_accuracy", "train_accuracy")
    ),
    Numbers(
        artifact="dgn_text", quantity="error_ratio", find=dgn_dynamics.ideal_ratio, scale_free=True,
        reads=DEEP_LINEAR,
    ),
)  # fmt: skip
