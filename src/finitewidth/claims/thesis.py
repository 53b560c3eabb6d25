"""Claims of chapter 2 of the thesis, H01 and H02."""

from finitewidth.claims.judges import thesis_risk
from finitewidth.claims.ledger import Claim
from finitewidth.claims.needs import AtLeast, AtMost, Covers, Entries
from finitewidth.claims.reported import Numbers
from finitewidth.claims.verdicts import OBSERVATION, THEOREM
from finitewidth.common.texts import quoted

DRAWN = (
    AtLeast("thesis.risk.draws", 100),
    AtLeast("thesis.risk.samples", 100),
    Covers("thesis.risk.ratios", (0.1, 0.5, 1, 2, 10)),
    AtLeast("thesis.risk.signal", 1),
    AtMost("thesis.risk.signal", 1),
    Entries("thesis.risk.noises", 1, high=1, strict=True),
    Entries("thesis.risk.noises", 1, low=1, strict=True),
)


def tables(*names: str) -> dict[str, str]:
    """Tables of thesis_risk under their own names."""
    return {name: f"thesis_risk.{name}" for name in names}


CLAIMS = (
    Claim(
        id="H01",
        paper="thesis",
        place="Theorems 2.4 and 2.5",
        kind=THEOREM,
        statement=(
            "Gradient descent from zero weights converges to the least-squares solution of the "
            "smallest norm. Its risk tends to (2.46), its sign corrected; as printed (2.46) fails "
            "above the ratio 1 (erratum thesis-4)."
        ),
        quotes=quoted(
            "thesis",
            (629, "converges to the solution with minimal"),
            (647, r"r^2 \left(1 - \frac{1}{\gamma}\right) + \sigma^2 \frac{1}{1 - \gamma}"),
        ),
        sizes=(
            "any data and rate up to 1 / lambda_max (2.4); unit covariance, in the limit of many "
            "parameters and samples at any ratio other than 1 (2.5)"
        ),
        rule=(
            "Gaussian inputs, r^2 / sigma^2 below and above 1. The paper's: the exact mean "
            "risk at finite N, from doubled N to the limit, is (2.46) within the error of the "
            "extrapolation at each ratio from 0.1 to 10 but 1, with the sign corrected (erratum "
            "thesis-4, a misprint) and without the noise of the test sample, which (2.45) counts. "
            "Ours: gradient descent at "
            "the rate 1 / lambda_max, for as many steps as the smallest eigenvalue asks for, is "
            "within 1e-6 of the weights of the pseudoinverse, relative; mean risk over repeats is "
            "within 5 per cent of the exact mean at the same N, at ratios at least 0.25 away from "
            "1 (next to 1 no mean or no variance exists). Planned first: mean risk within 3 "
            "standard errors of the limit at every ratio, which more repeats must contradict, "
            "since N is finite, and which left out the peak."
        ),
        artifacts=("thesis_fig2_4",),
        reads=tables("drawn", "doubled", "descent"),
        needs=(
            *DRAWN,
            Entries("thesis.risk.doubled", 4, low=1000),
            Entries("thesis.risk.descent.ratios", 1, high=1, strict=True),
            Entries("thesis.risk.descent.ratios", 1, low=1, strict=True),
        ),
        judge=thesis_risk.h01,
    ),
    Claim(
        id="H02",
        paper="thesis",
        place="Section 2.3.2, remark below Theorem 2.5",
        kind=OBSERVATION,
        statement=(
            "The risk of (2.46) follows double descent: it increases with the number of parameters "
            "below as many as samples, and decreases above."
        ),
        quotes=quoted(
            "thesis",
            (651, "increases with the number of parameters in the underparametrized case, and"),
        ),
        sizes="the limit of many parameters and samples, at any ratio other than 1",
        rule=(
            "The inputs of H01. The paper's: the limit, its sign corrected, rises with the ratio "
            "up to 1 and falls from there; measured, the median risk over repeats at the ratio 1 "
            "is larger than at 0.5 and at 2."
        ),
        artifacts=("thesis_fig2_4",),
        reads=tables("drawn", "curves"),
        needs=DRAWN,
        judge=thesis_risk.h02,
    ),
)

NUMBERS: tuple[Numbers, ...] = ()
