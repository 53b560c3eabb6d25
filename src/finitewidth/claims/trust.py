"""Claims of trust, and where our counterparts of its printed numbers come from."""

from finitewidth.claims import trust_phases, trust_training
from finitewidth.claims.judges import trust_numbers, trust_theory
from finitewidth.claims.ledger import Claim
from finitewidth.claims.needs import AtLeast, Covers, Entries
from finitewidth.claims.reported import Numbers
from finitewidth.claims.trust_phases import DEPTH, WIDTHS
from finitewidth.claims.trust_training import DESCENTS
from finitewidth.claims.verdicts import OBSERVATION, THEOREM
from finitewidth.common.texts import quoted

MEAN_FIELD = {"kappa": "trust_mean_field.kappa"}
INFINITE_WIDTH = (
    Claim(
        id="T18",
        paper="trust",
        place="Section 5",
        kind=OBSERVATION,
        statement=(
            "The ratio of kappa_1 to the mean of kappa_2 over the data tends to 1 with depth in "
            "the ordered phase; in the chaotic phase and at the border it grows with depth."
        ),
        quotes=quoted(
            "trust",
            (223, "rapidly with depth, as"),
            (225, "increases with depth in the chaotic phase"),
            (227, "grows with depth, hence the kernel is well-conditioned"),
        ),
        sizes="infinitely wide erf and ReLU networks, depths without a number (Figure 6)",
        rule=(
            "Recursions, inputs of covariance below 1; the mean of kappa_2 over our covariances. "
            "In the ordered phase the ratio is smaller at the largest depth (60) than at L = 10, "
            "elsewhere it is larger. Outside: elsewhere it is larger at L = 10 than at 2. Ours: in "
            "the ordered phase the ratio at the largest depth is below 1.01 for every covariance, "
            "elsewhere it grows for every covariance. The first rule had these two alone."
        ),
        artifacts=("trust_fig6",),
        reads=MEAN_FIELD,
        needs=(
            # the largest depth of the rule
            AtLeast("trust.mean_field.depth", 60),
            Entries("trust.mean_field.covariances", 2, high=1, strict=True),
        ),
        judge=trust_theory.t18,
    ),
    Claim(
        id="T19",
        paper="trust",
        place="Section 5",
        kind=OBSERVATION,
        statement=(
            "The changes of kappa_2 that come from the covariance of the inputs are small "
            "compared with its mean."
        ),
        quotes=quoted(
            "trust",
            (199, "that come from the changes in covariance are small with respect to its mean"),
            (199, "converge to their data-independent limits with depth"),
        ),
        sizes="infinitely wide erf and ReLU networks, depths without a number (Figure 5)",
        rule=(
            "Recursions, inputs of covariance below 1, each pair of variances: at every L >= 10 "
            "kappa_2 differs from its mean over covariances by less than this mean; (largest - "
            "smallest) / mean is smaller at the largest depth than at L = 10. Outside: the first "
            "of these at L = 2 to 9. Ours: (largest - smallest) / mean is below 0.5 at every L >= "
            "10, as planned, and at every L >= 20."
        ),
        artifacts=("trust_fig5",),
        reads=MEAN_FIELD,
        needs=(
            # more than the depth from which the last comparison is made
            AtLeast("trust.mean_field.depth", 21),
            # from almost orthogonal inputs to similar ones
            Entries("trust.mean_field.covariances", 1, high=0.1),
            Covers("trust.mean_field.covariances", (0.9,)),
        ),
        judge=trust_theory.t19,
    ),
    Claim(
        id="T20",
        paper="trust",
        place="Theorem 5.3",
        kind=THEOREM,
        statement=(
            "Where the NTK is well conditioned the output of a trained infinitely wide network "
            "has approximately the variance (1 + A^2/S)(q - q_sr) + (A - 1)^2 q_sr, A = S / "
            "(kappa_1/kappa_2 + S - 1)."
        ),
        quotes=quoted(
            "trust",
            (215, "Suppose also that the NTK matrix is well-conditioned. Then the variance"),
        ),
        hedge="approximately",
        sizes="infinitely wide networks, any S, well-conditioned kernel (not the ordered phase)",
        rule=(
            "S = 10 random inputs, border and chaotic phase. Kernel of constant entries, as in the "
            "proof, regression of outputs drawn: variance within 5 per cent of the formula (room "
            "for the draws). This repeats the theorem's own algebra, by simulation. Independent of "
            "it, and ours: for the entries of the infinite-width kernels the exact variance, mean "
            "over datasets, is within 30 per cent of the formula, as planned; and at the largest "
            "depth it is closer to it than in the ordered phase."
        ),
        reads={"solutions": "trust_solutions.solutions"},
        needs=(
            # S of the rule
            Covers("trust.solutions.samples", (10,)),
            # A variance of 10,000 draws has a relative standard error of 1.4 %, of which three fit
            # into the 5 % of the rule.
            AtLeast("trust.solutions.draws", 10_000),
            AtLeast("trust.solutions.datasets", 10),
            AtLeast("trust.solutions.depths.*", 5),
        ),
        judge=trust_theory.t20,
    ),
)

CLAIMS = trust_phases.CLAIMS + trust_training.CLAIMS + INFINITE_WIDTH

NUMBERS: tuple[Numbers, ...] = (
    Numbers(
        artifact="trust_text", quantity="dispersion", find=trust_numbers.dispersion,
        constant=True, reads=DEPTH,
    ),
    Numbers(
        artifact="trust_text", quantity="kappa_ratio", find=trust_numbers.kappa_ratio,
        constant=True, reads=MEAN_FIELD,
    ),
    Numbers(
        artifact="trust_text", quantity="edge_of_chaos", find=trust_numbers.edge_of_chaos,
        scale_free=True, reads=WIDTHS,
    ),
    Numbers(
        artifact="trust_text", quantity="relative_ntk_change",
        find=trust_numbers.relative_ntk_change, reads=DESCENTS,
    ),
    Numbers(
        artifact="trust_text", quantity="untrainable_depth", find=trust_numbers.untrainable_depth,
        reads=DESCENTS,
    ),
)  # fmt: skip
