"""Claims of collapse on the flow under a block kernel, K02 to K08."""

from finitewidth.claims.judges import collapse_flow
from finitewidth.claims.ledger import Claim
from finitewidth.claims.needs import AtLeast, AtMost, Covers, Entries
from finitewidth.claims.verdicts import THEOREM
from finitewidth.common.texts import quoted

BLOCK = "any kernel of the assumed block structure, any number of classes and samples"
RUNS = (AtLeast("collapse.flow.runs", 3),)
LONG = (
    *RUNS,
    AtLeast("collapse.flow.time", 200),
    AtMost("collapse.flow.tolerance", 1e-10),
    Entries("collapse.flow.weights", 1),
)
SMALL = AtMost("collapse.flow.residuals.below", 0.001)
PAIRS = (
    Covers("collapse.flow.frozen.other_class", (0.01,)),
    Covers("collapse.flow.frozen.biases", (0.0,)),
    Entries("collapse.flow.frozen.other_class", 2),
    Entries("collapse.flow.frozen.biases", 4),
)


def tables(*names: str) -> dict[str, str]:
    """Tables of collapse_flow under their own names."""
    return {name: f"collapse_flow.{name}" for name in names}


CLAIMS = (
    Claim(
        id="K02",
        paper="collapse",
        place="Section 4.1",
        kind=THEOREM,
        statement=(
            "Of the residuals the global mean converges first, then the class means, then those of "
            "single samples."
        ),
        quotes=quoted(
            "thesis",
            (2616, "of the residual converges first, then the class means, and finally the"),
        ),
        sizes=BLOCK,
        rule=(
            "Gradient descent (9) on the residuals of one output under three block kernels, from "
            "random starts. Times at which the norms of the three components fall to 1e-3 of "
            "their start: in this order, the paper's. This is an identity: it is the order of the "
            "three eigenvalues of Table 1, which the run confirms. No trained network is judged, "
            "since its kernel has no exact blocks."
        ),
        reads={"residuals": "collapse_flow.residuals"},
        needs=(*RUNS, Entries("collapse.flow.residuals.kernels", 3), SMALL),
        judge=collapse_flow.k02,
    ),
    Claim(
        id="K03",
        paper="collapse",
        place="Theorem 5.1",
        kind=THEOREM,
        statement="The gradient flow of a block kernel conserves the invariant E.",
        quotes=quoted(
            "thesis",
            (2678, "is invariant in time"),
        ),
        sizes=BLOCK,
        rule=(
            "Ours for the paper's 0: |E - E at the start| over the norms of the two parts of E at "
            "the start below 1e-8, for all starts and with frozen biases, integrated by "
            "Runge-Kutta of order 8 (DOP853) at a tolerance of 1e-11; the same for Runge-Kutta of "
            "order 4 at its smallest step, whose drift must fall with the power 4 of the step, "
            "ours. Planned first: Runge-Kutta of order 4 at steps of 0.001, whose own error can "
            "exceed 1e-8 where weights are large."
        ),
        reads=tables("curves", "frozen", "orders"),
        needs=(*LONG, Entries("collapse.flow.steps.steps", 2, high=0.0005)),
        judge=collapse_flow.k03,
    ),
    Claim(
        id="K04",
        paper="collapse",
        place="Theorem 5.2",
        kind=THEOREM,
        statement="An invariant E = 0 and features of global mean 0 lead to NC1 to NC4.",
        quotes=quoted(
            "thesis",
            (2692, "the dynamics invariant (26) is zero"),
            (2692, "Then the DNN's dynamics exhibit neural collapse as defined in (NC1)-(NC4)"),
        ),
        sizes=BLOCK,
        rule=(
            "The flow from E = 0, b = 1/C and class means that sum to 0, to t = 200. The paper's "
            "limits 0, with tolerances of ours: distance from NC2 at the end below 0.01; NC3 and "
            "|H2|, which is NC1, extrapolated with the power -1/2 of the time, within 0.005. "
            "Ours: the power itself is -0.5 +- 0.05 over the last factor of 4 in time. Planned "
            "first: NC3 below 0.03 at t = 200, which the leading term of (25) meets by 2 per cent "
            "only. Added after the first run: both rules of NC4 agree at 99 per cent of random "
            "points around the class means."
        ),
        artifacts=("collapse_extra_flow",),
        reads=tables("curves"),
        needs=LONG,
        judge=collapse_flow.k04,
    ),
    Claim(
        id="K05",
        paper="collapse",
        place="Section 5.3 (2)",
        kind=THEOREM,
        statement=(
            "Where the invariant is not aligned there is no neural collapse: NC1 and NC3 together "
            "make the alignment 1 (an identity)."
        ),
        quotes=quoted(
            "thesis",
            (2702, "is necessary for the emergence of NC in DNNs with block-structured NTK"),
            (2702, "NC1 implies"),
            (2702, "DNNs that do not satisfy this assumption do not display NC"),
        ),
        sizes=BLOCK,
        rule=(
            "That collapse needs alignment is an identity. What is measured: the same flow from "
            "random W of three scales. Ours: the alignment of W^T W with the features' part of E "
            "stays below 0.9, so that the claim is about these flows. The paper's, which follows "
            "from the identity as long as NC1 or NC3 is judged alone: NC3 has a limit above 0, and "
            "is larger at the end than from E = 0. Ours: over the last factor of 4 in time NC3 "
            "changes with a power of the time of at most 0.05 in size; from E = 0 it is 1/2 (K04). "
            "Planned first, in its place: NC3 above 0.5 at the end, which scales of 0.1 and 0.3 "
            "miss."
        ),
        artifacts=("collapse_extra_flow",),
        reads=tables("curves"),
        needs=(*LONG, Entries("collapse.flow.weights", 3)),
        judge=collapse_flow.k05,
    ),
    Claim(
        id="K06",
        paper="collapse",
        place="Section 5.3 (3)",
        kind=THEOREM,
        statement=(
            "At the end of training the biases are 1/C - W <h>: features of global mean 0 make all "
            "of them 1/C."
        ),
        quotes=quoted(
            "thesis",
            (2704, "ensures that the biases are equal to"),
        ),
        sizes=BLOCK,
        rule=(
            "Where R1 = 0, b - 1/C = -W <h> is an identity; that the flow gets there is not. From "
            "b = 0 and features whose global mean is not 0, from E = 0 and from random W: largest "
            "|b - 1/C + W <h>| over the classes at the end below 0.02 of |b - 1/C|, ours for an "
            "equality in the limit. Ours: |b - 1/C| itself is above 0.01 there, so that the "
            "comparison can fail. From b = 0 and class means that sum to 0 the global mean "
            "becomes small and not 0: shown only. From b = 1/C and class means that sum to 0 "
            "neither moves, so that this start, the first rule, decides nothing."
        ),
        reads=tables("curves", "uncentred"),
        needs=LONG,
        judge=collapse_flow.k06,
    ),
    Claim(
        id="K07",
        paper="collapse",
        place="Appendix B.4",
        kind=THEOREM,
        statement=(
            "Where all biases are beta, W W^T is proportional to I - gamma 1 1^T with gamma = (1 - "
            "|1 - beta C| sqrt(1 - alpha C)) / C, as (68) has it; (30) with |beta C| fails "
            "(erratum collapse-7). Centred class means still form an ETF, and NC3 fails."
        ),
        quotes=quoted(
            "thesis",
            (3039, r"\gamma = \frac{1}{C}(1 - |1 - \beta C|\sqrt{1 - \alpha C})"),
            (3035, "we conclude that NC2 holds in case of equal biases, while NC3 does not"),
        ),
        sizes=BLOCK,
        rule=(
            "Flows from E = 0 with biases that are held fixed, eight pairs of kappa_n and beta, "
            "to t = 200. Fitted gamma within 1 per cent of the formula and the distance from NC2 "
            "below 0.001, both ours for limits of the paper; the limit of NC3 is above 0, the "
            "paper's. Ours: NC3 above 0.1 at kappa_n = 0.01, beta = 0. Planned first: above 0.1 "
            "everywhere, which kappa_n = 0.08, beta = 0.05 meets by 0.0005 only. The formula is "
            "that of (68); the text after (30) prints |beta C| (erratum collapse-7, a misprint)."
        ),
        artifacts=("collapse_extra_flow",),
        reads=tables("frozen", "formulas"),
        needs=(*LONG, *PAIRS),
        judge=collapse_flow.k07,
    ),
    Claim(
        id="K08",
        paper="collapse",
        place="Equations 66 and 68",
        kind=THEOREM,
        statement=(
            "Where all biases are beta, H1^T H1 is proportional to I - theta 1 1^T with theta = (1 "
            "- |1 - beta C| / (2 - sqrt(1 - alpha C))) / C."
        ),
        quotes=quoted(
            "thesis",
            (
                3039,
                r"\left(1 - \frac{|1 - \beta C|}{2 - \sqrt{1 - \alpha C}}\right)",
            ),
        ),
        sizes=BLOCK,
        rule=(
            "The same flows: fitted theta within 1 per cent of the printed formula, which is a "
            "limit, for each pair. Erratum collapse-11, a wrong result, has the corrected formula."
        ),
        artifacts=("collapse_extra_flow",),
        reads=tables("frozen", "formulas"),
        needs=(*LONG, *PAIRS),
        judge=collapse_flow.k08,
    ),
)
