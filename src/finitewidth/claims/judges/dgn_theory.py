"""Claims of dgn that need no data: what a ReLU network without biases cannot fit."""

from finitewidth.claims.ledger import Tables
from finitewidth.claims.verdicts import CannotDecideError, Part

FLOOR = 9 / 5  # min over a of (a - 1)^2 + (2a + 1)^2, at a = -1/5
FITTED = 0.01  # above this loss with biases, the optimiser is too weak for the claim to be judged


def d09(tables: Tables) -> list[Part]:
    """Without biases no training gets below the floor; with biases all architectures fit."""
    parts = []
    for (hidden, width), fits in tables["fits"].groupby(["hidden", "width"]):
        name = f"{hidden} hidden layers of {width}"
        lowest = fits.groupby("biases")["lowest"].min()
        if set(lowest.index) != {0, 1}:
            raise CannotDecideError(f"{name}: trainings with and without biases are needed")
        if lowest[1] > FITTED:
            raise CannotDecideError(f"{name}: with biases the loss stays at {lowest[1]:.3g}")
        parts.append(
            Part(
                name=f"{name}, no biases: least sum of squares at any step of any run",
                value=float(lowest[0]), low=FLOOR - 1e-6,
            )
        )  # fmt: skip
    return parts
