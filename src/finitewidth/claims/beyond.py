"""Claims of beyond, and where our counterparts of its printed numbers come from.

r = E[Theta^2] / E[Theta]^2, of diagonal elements unless stated otherwise. The errors of printed
formulas are derived in docs/theory.md.
"""

from finitewidth.claims.judges import (
    beyond_diagonal,
    beyond_lemmas,
    beyond_numbers,
    beyond_pairs,
)
from finitewidth.claims.ledger import Claim
from finitewidth.claims.needs import AtLeast, Covers, Entries
from finitewidth.claims.reported import Numbers
from finitewidth.claims.verdicts import OBSERVATION

DIAGONAL = {"estimates": "beyond_diagonal.estimates", "theory": "beyond_diagonal.theory"}
PAIRS = {"estimates": "beyond_off_diagonal.estimates", "theory": "beyond_off_diagonal.theory"}
MEASURED_AND_EXACT = {**DIAGONAL, "curves": "beyond_theorem31.curves"}
MOMENTS = {"moments": "beyond_lemmas.moments"}
STEPS = {"steps": "beyond_lemmas.steps"}

# The paper's number of draws, its narrowest width, and L up to M/2.
DRAWN_DIAGONAL = (
    AtLeast("beyond.diagonal.draws", 500),
    AtLeast("beyond.diagonal.max_lambda", 0.5),
    AtLeast("beyond.diagonal.phases.widths.*", 100),
)
# Figure 2 has M = 200.
NEAR_THE_EDGE = (
    AtLeast("beyond.diagonal.draws", 500),
    AtLeast("beyond.diagonal.max_lambda", 0.5),
    Covers("beyond.diagonal.near.widths", (200,)),
)
# Limits are measured at M = 500 and computed from M = 100 and 500 at L/M = 1 and 2.
LIMITS = (
    *DRAWN_DIAGONAL,
    Covers("beyond.diagonal.phases.widths", (500,)),
    Covers("beyond.theorem31.widths", (100, 500)),
    AtLeast("beyond.theorem31.max_lambda", 2),
)
# As for the diagonal; L = 50 is M/2 at the narrowest width.
DRAWN_PAIRS = (
    AtLeast("beyond.off_diagonal.draws", 500),
    AtLeast("beyond.off_diagonal.max_lambda", 0.5),
    AtLeast("beyond.off_diagonal.ratio.widths.*", 100),
    Covers("beyond.off_diagonal.ratio.cosines", (0.1, 0.9)),
)

CLAIMS = (
    Claim(
        id="B01",
        paper="beyond",
        place="Theorem 3.1 (1)",
        kind=OBSERVATION,
        statement=(
            "In the chaotic phase the dispersion tends to e^{5l} (1 - (1 - e^{-4l}) / 4l) / 2l, l "
            "= L/M, whatever sigma_w^2."
        ),
        rule=(
            "Measured at the largest width (500): r over the printed limit, mean over depths L >= "
            "20 up to L/M = 0.3, and at L/M = 0.5, each within 5 per cent (1/sqrt(M), the order "
            "of remainder the paper states). Computed: the limit of exact values, from those at M "
            "= 100 and 500, at L/M = 1 and 2, over the printed one: within 5 per cent. At "
            "every other chaotic sigma_w^2 r over that at the smallest, mean over the same depths "
            "up to L/M = 0.3: within 5 per cent of 1. Ratios are judged, not standard errors: "
            "many draws resolve deviations of order 1/M, which a limit allows."
        ),
        artifacts=("beyond_fig1", "beyond_fig9", "beyond_extra_theorem31"),
        reads=MEASURED_AND_EXACT,
        needs=(
            *LIMITS,
            Entries("beyond.diagonal.phases.sigma_w2", 2, low=2, strict=True),
            Entries("beyond.theorem31.sigma_w2", 1, low=2, strict=True),
        ),
        judge=beyond_diagonal.b01,
    ),
    Claim(
        id="B02",
        paper="beyond",
        place="Theorem 3.1 (2)",
        kind=OBSERVATION,
        statement="At the edge of chaos the dispersion tends to equation 9, here with n_0 = M.",
        rule=(
            "Measured at the largest width (500): r over the printed limit, mean over depths L >= "
            "20 up to L/M = 0.3, and at L/M = 0.5, each within 5 per cent (1/sqrt(M), the order "
            "of remainder the paper states). Computed: the limit of exact values, from those at M "
            "= 100 and 500, at L/M = 1 and 2, over the printed one: within 5 per cent. Ratios are "
            "judged, not standard errors: many draws resolve deviations of order 1/M, which a "
            "limit allows."
        ),
        artifacts=("beyond_fig1", "beyond_fig9", "beyond_extra_theorem31"),
        reads=MEASURED_AND_EXACT,
        needs=(
            *LIMITS,
            Covers("beyond.diagonal.phases.sigma_w2", (2,)),
            Covers("beyond.theorem31.sigma_w2", (2,)),
        ),
        judge=beyond_diagonal.b02,
    ),
    Claim(
        id="B03",
        paper="beyond",
        place="Theorem 3.1 (3)",
        kind=OBSERVATION,
        statement="In the ordered phase the dispersion tends to 1 and does not grow with depth.",
        rule=(
            "sigma_w^2 up to 1.5, each width: r at L/M = 0.5 is at most 1.1 and exceeds that at "
            "the first L >= 20 by at most 0.01; from the narrowest width to the widest r - 1 goes "
            "as M to a power between -1.2 and -0.8."
        ),
        artifacts=("beyond_fig1",),
        reads=DIAGONAL,
        needs=(
            *DRAWN_DIAGONAL,
            Entries("beyond.diagonal.phases.widths", 2),
            Entries("beyond.diagonal.phases.sigma_w2", 1, high=1.5),
        ),
        judge=beyond_diagonal.b03,
    ),
    Claim(
        id="B04",
        paper="beyond",
        place="Theorem 3.1",
        kind=OBSERVATION,
        statement=(
            "The dispersion grows with L/M slower at the edge of chaos than in the chaotic phase."
        ),
        rule=(
            "Limits, printed and corrected: that of the edge is below that of the chaotic phase "
            "at every L/M and alpha_0 up to 1. Measured at L/M = 0.5, each width: r is larger at "
            "every chaotic sigma_w^2 than at 2."
        ),
        artifacts=("beyond_fig1", "beyond_fig5"),
        reads={**DIAGONAL, "limits": "beyond_theory.limits"},
        needs=(
            *DRAWN_DIAGONAL,
            Covers("beyond.diagonal.phases.sigma_w2", (2,)),
            Entries("beyond.diagonal.phases.sigma_w2", 1, low=2, strict=True),
            Entries("beyond.theory.limits.alpha_0", 2, high=1),
        ),
        judge=beyond_diagonal.b04,
    ),
    Claim(
        id="B07",
        paper="beyond",
        place="Theorem 3.2, Figure 2",
        kind=OBSERVATION,
        statement=(
            "Near the edge of chaos the sums of Theorem 3.2 describe networks better than the "
            "limits of Theorem 3.1."
        ),
        rule=(
            "M = 200, each alpha_0: mean of |log (r / sums)| over sigma_w^2 from 1.6 to 2.2 and "
            "depths L >= 20 is below that of |log (r / limit)|. Sums as the paper's proof has "
            "them, remainders dropped."
        ),
        artifacts=("beyond_fig2",),
        reads=DIAGONAL,
        needs=(
            *NEAR_THE_EDGE,
            # below, at and above the edge
            Entries("beyond.diagonal.near.sigma_w2", 3, low=1.6, high=2.2),
        ),
        judge=beyond_diagonal.b07,
    ),
    Claim(
        id="B08",
        paper="beyond",
        place="Section 3.2",
        kind=OBSERVATION,
        statement="In the ordered phase the dispersion rises as sigma_w^2 approaches 2.",
        rule=(
            "M = 200, each alpha_0, at the middle and the largest of the depths: r rises from "
            "each sigma_w^2 to the next, up to 2."
        ),
        artifacts=("beyond_fig2",),
        reads=DIAGONAL,
        needs=(
            *NEAR_THE_EDGE,
            Entries("beyond.diagonal.near.sigma_w2", 2, high=2),
        ),
        judge=beyond_diagonal.b08,
    ),
    Claim(
        id="B09",
        paper="beyond",
        place="Section 3.2",
        kind=OBSERVATION,
        statement=(
            "In the ordered phase the dispersion of networks that widen after the input reaches a "
            "peak and then falls with depth."
        ),
        rule=(
            "M = 200, alpha_0 of 0.5 and 0.1, each ordered sigma_w^2: the depth at which the "
            "exact r is largest lies inside the range, and measured r is larger there than at the "
            "smallest and the largest depth."
        ),
        artifacts=("beyond_fig2",),
        reads=DIAGONAL,
        needs=(
            *NEAR_THE_EDGE,
            Covers("beyond.diagonal.near.alpha_0", (0.5, 0.1)),
            Entries("beyond.diagonal.near.sigma_w2", 1, high=2, strict=True),
        ),
        judge=beyond_diagonal.b09,
    ),
    Claim(
        id="B10",
        paper="beyond",
        place="Appendix B.2",
        kind=OBSERVATION,
        statement=(
            "The dispersion is lower for networks of growing width; for those of shrinking width "
            "it only rises with depth."
        ),
        rule=(
            "Exact values, M from 100 to 500, each sigma_w^2 from 1 to 2.2: at every L >= 50 r of "
            "the growing network is below that of the constant one, and this below that of the "
            "shrinking one; log r of the shrinking one falls from no depth to the next by more "
            "than 0.001 (widths are rounded)."
        ),
        artifacts=("beyond_fig6",),
        reads={"architectures": "beyond_theory.architectures"},
        needs=(
            # the widths of Figure 6, with depths well above 50
            AtLeast("beyond.theory.architectures.narrow", 100),
            AtLeast("beyond.theory.architectures.wide", 500),
            AtLeast("beyond.theory.architectures.max_lambda", 0.3),
            AtLeast("beyond.theory.architectures.points", 10),
        ),
        judge=beyond_diagonal.b10,
    ),
    Claim(
        id="B12",
        paper="beyond",
        place="Theorem 3.3",
        kind=OBSERVATION,
        statement=(
            "The ratio of off-diagonal to diagonal means lies between 1/4 and 1 in the limit."
        ),
        rule=(
            "At the largest depths, over all widths and cosines: each sigma_w^2's smallest "
            "measured ratio is at least 0.23 and its largest at most 1; so are those of infinite "
            "width. A limit is approached from both sides, hence 0.02 below 1/4."
        ),
        artifacts=("beyond_fig3", "beyond_fig11"),
        reads=PAIRS,
        needs=DRAWN_PAIRS,
        judge=beyond_pairs.b12,
    ),
    Claim(
        id="B13",
        paper="beyond",
        place="Section 3.3",
        kind=OBSERVATION,
        statement=(
            "In the ordered phase the ratio of off-diagonal to diagonal means rises quickly with "
            "depth."
        ),
        rule=(
            "sigma_w^2 up to 1, each width, all cosines: the ratio (straight lines between "
            "depths) rises from L = 5 to 20 and from 20 to 50, where it exceeds 0.9."
        ),
        artifacts=("beyond_fig3",),
        reads=PAIRS,
        needs=(
            *DRAWN_PAIRS,
            Entries("beyond.off_diagonal.ratio.sigma_w2", 1, high=1),
        ),
        judge=beyond_pairs.b13,
    ),
    Claim(
        id="B14",
        paper="beyond",
        place="Equation 18",
        kind=OBSERVATION,
        statement=(
            "Equation 18 is a lower bound of this ratio in the ordered phase, and close to it."
        ),
        rule=(
            "sigma_w^2 below 2, L >= 20, all widths and cosines: the measured ratio is below (18) "
            "by no more than 0.005, and differs from it by at most 0.03."
        ),
        artifacts=("beyond_fig3",),
        reads=PAIRS,
        needs=(
            *DRAWN_PAIRS,
            Entries("beyond.off_diagonal.ratio.sigma_w2", 1, high=2, strict=True),
        ),
        judge=beyond_pairs.b14,
    ),
    Claim(
        id="B15",
        paper="beyond",
        place="Appendix C.1",
        kind=OBSERVATION,
        statement=(
            "The dispersion off the diagonal is only slightly higher than on it, and hardly "
            "depends on the angle of the inputs."
        ),
        rule=(
            "Each width, alpha_0 and sigma_w^2 at the largest depth up to L/M = 0.3: the mean of "
            "the dispersions of all cosines is at most 1.3 times the exact one of the diagonal, "
            "and those at the largest and the smallest cosine differ by at most 15 per cent."
        ),
        artifacts=("beyond_fig7", "beyond_fig8"),
        reads=PAIRS,
        needs=(
            AtLeast("beyond.off_diagonal.draws", 500),
            AtLeast("beyond.off_diagonal.max_lambda", 0.3),
            AtLeast("beyond.off_diagonal.phases.widths.*", 100),
            AtLeast("beyond.off_diagonal.near.widths.*", 100),
            Covers("beyond.off_diagonal.phases.cosines", (0.1, 0.9)),
            Covers("beyond.off_diagonal.near.cosines", (0.1, 0.9)),
        ),
        judge=beyond_pairs.b15,
    ),
    Claim(
        id="B16",
        paper="beyond",
        place="Theorem 4.1",
        kind=OBSERVATION,
        statement=(
            "One step of gradient descent at a constant rate changes the NTK, relative to its "
            "mean, by ever more in deeper chaotic networks and by ever less in deeper ordered "
            "ones."
        ),
        rule=(
            "L/M = 0.25, |x| = 1, y = 1, rate 0.001; from L = 4 to 32 mean |change of Theta(x,x)| "
            "/ mean Theta rises at sigma_w^2 = 2.5 and falls at 1: in one step of weights and "
            "biases, in one of the weights alone, and at first order in the rate, where gates "
            "stay as they are, as in the proof."
        ),
        reads=STEPS,
        needs=(
            # half of our number at the paper's scale
            AtLeast("beyond.lemmas.steps.draws", 100),
            Covers("beyond.lemmas.steps.depths", (4, 32)),
            Covers("beyond.lemmas.steps.sigma_w2", (1, 2.5)),
        ),
        judge=beyond_lemmas.b16,
    ),
    Claim(
        id="B18",
        paper="beyond",
        place="Lemmas A.1, A.2, A.4",
        kind=OBSERVATION,
        statement=(
            "Second moments of the norm ratios N_x and N_d of one layer carry the factor 1 + 5/n; "
            "their product carries 1 + 1/n for each layer; products of N_d over layers carry "
            "nothing more; backward weights independent of the forward ones give another result."
        ),
        rule=(
            "Networks drawn in full, n = 16, four hidden layers: each moment over the printed one "
            "is 1 within 2 per cent for one layer and for the product of N_d, 5 per cent for the "
            "product of N_x N_d over all layers (29) and 6 for that of N_d^2 (30); the product of "
            "N_x N_d is larger than with independent backward weights behind the same gates."
        ),
        reads=MOMENTS,
        needs=(
            Covers("beyond.lemmas.moments.width", (16,)),
            Covers("beyond.lemmas.moments.layers", (4,)),
            # The product in (30) has heavy tails: its mean over 100,000 networks has a relative
            # standard error of 1.7 %, of which three fit into the 6 % of the rule.
            AtLeast("beyond.lemmas.moments.draws", 100_000),
        ),
        judge=beyond_lemmas.b18,
    ),
    Claim(
        id="B19",
        paper="beyond",
        place="Section 4.2",
        kind=OBSERVATION,
        statement=(
            "At initialisation the NTK does not see labels, and its diagonal exceeds the rest."
        ),
        rule=(
            "Before training, each sigma_w^2: gap (class mean - mean of other classes) / diagonal "
            "mean below 0.1; class mean below the diagonal mean."
        ),
        artifacts=("beyond_fig4",),
    ),
    Claim(
        id="B20",
        paper="beyond",
        place="Section 4.2",
        kind=OBSERVATION,
        statement="Training gives the NTK blocks of classes, mostly early.",
        rule=(
            "Gap (class mean - mean of other classes) / diagonal mean: at the end more than twice "
            "that at initialisation, and at step 500 of 3000 at least 0.6 of the rise is done; "
            "the kernel's alignment with the labels rises."
        ),
        artifacts=("beyond_fig4", "thesis_fig2_5"),
    ),
    Claim(
        id="B21",
        paper="beyond",
        place="Section 4.2",
        kind=OBSERVATION,
        statement="A larger gap between classes goes with a lower test loss.",
        rule=(
            "sigma_w^2 of 1, 2 and 2.2 at the last step: the order of their gaps is the reverse "
            "of that of their test losses."
        ),
        artifacts=("beyond_fig4",),
    ),
    Claim(
        id="B22",
        paper="beyond",
        place="Appendix C.3",
        kind=OBSERVATION,
        statement="The leave-one-out estimator of the dispersion is unbiased.",
        rule=(
            "Samples of 500 from lognormal laws of known dispersion: the mean of the estimates is "
            "the truth within 0.5 per cent, with the prefactor as printed, 1/(N-2), and with 1/N. "
            "Within one standard error of the mean over many samples nothing would be."
        ),
        reads={"estimators": "beyond_lemmas.estimators"},
        needs=(
            # the paper's number of networks
            Covers("beyond.lemmas.estimators.sizes", (500,)),
            # At r = 2.72 the mean of 10,000 estimates has a relative standard error of 0.2 %.
            AtLeast("beyond.lemmas.estimators.draws", 10_000),
        ),
        judge=beyond_lemmas.b22,
    ),
)

NUMBERS: tuple[Numbers, ...] = (
    Numbers(
        artifact="beyond_text", quantity="dispersion", constant=True,
        find=beyond_numbers.dispersion, reads=DIAGONAL,
    ),
    Numbers(
        artifact="beyond_text", quantity="edge_of_chaos", scale_free=True,
        find=beyond_numbers.edge_of_chaos, reads=MOMENTS,
    ),
    Numbers(
        artifact="beyond_text", quantity="lemma_constant", scale_free=True,
        find=beyond_numbers.lemma_constant, reads=MOMENTS,
    ),
    Numbers(
        artifact="beyond_text", quantity="summand_moment", scale_free=True,
        find=beyond_numbers.summand_moment, reads=MOMENTS,
    ),
    Numbers(
        artifact="beyond_text", quantity="off_diagonal_over_diagonal", constant=True,
        find=beyond_numbers.off_diagonal_over_diagonal, reads=PAIRS,
    ),
    Numbers(
        artifact="beyond_text", quantity="relative_ntk_change", constant=True,
        find=beyond_numbers.relative_ntk_change, reads=STEPS,
    ),
)  # fmt: skip
