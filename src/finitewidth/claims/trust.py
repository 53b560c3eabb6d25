"""Claims of trust, and where our counterparts of its printed numbers come from.

r = E[Theta(x, x)^2] / E[Theta(x, x)]^2. At the border between the phases chi_1 = 1: there sigma_w^2
is 2 for ReLU, and 3.44 for tanh at sigma_b^2 = 1.
"""

from finitewidth.claims.judges import trust_numbers, trust_phases, trust_theory
from finitewidth.claims.ledger import Claim
from finitewidth.claims.needs import AtLeast, AtMost, Covers, Entries
from finitewidth.claims.reported import Numbers
from finitewidth.claims.verdicts import OBSERVATION

WIDTHS = {"cells": "trust_heat_widths.cells", "borders": "trust_heat_widths.borders"}
DEPTH = {"curves": "trust_depth.curves"}
MEAN_FIELD = {"kappa": "trust_mean_field.kappa"}

# The paper draws 200 networks. Ten weight variances are steps of a fifth of the border's.
DRAWN_MAPS = (
    AtLeast("trust.heat_widths.draws", 200),
    AtLeast("trust.heat_widths.sigma_w2.*.points", 10),
)
# The last weight variances are 5/4 of the borders.
UP_TO_CHAOS = (
    AtLeast("trust.heat_widths.sigma_w2.relu.last", 2.5),
    AtLeast("trust.heat_widths.sigma_w2.tanh.last", 4.3),
)

CLAIMS = (
    Claim(
        id="T01",
        paper="trust",
        place="Section 3",
        kind=OBSERVATION,
        statement=(
            "In the ordered phase the variance of the NTK is small at any depth, does not grow "
            "with depth and vanishes as the width grows."
        ),
        rule=(
            "Maps of Figure 1 up to 3/4 of the border's weight variance, each activation and "
            "width: the largest r for L >= 3 is at most 1.15; at the largest of these variances r "
            "grows from L = 20 to the deepest by at most 0.05; and r - 1 at L = 20 goes as M to a "
            "power between -1.2 and -0.8, from the narrowest width to the widest."
        ),
        artifacts=("trust_fig1", "trust_fig2"),
        reads=WIDTHS,
        needs=(
            *DRAWN_MAPS,
            # a weight variance in the ordered phase: 3/4 of ReLU's border
            AtMost("trust.heat_widths.sigma_w2.*.first", 1.5),
            Entries("trust.heat_widths.widths", 2),
            # L = 20, and deeper
            Covers("trust.heat_widths.depths", (20,)),
            Entries("trust.heat_widths.depths", 1, low=20, strict=True),
        ),
        judge=trust_phases.t01,
    ),
    Claim(
        id="T02",
        paper="trust",
        place="Section 3",
        kind=OBSERVATION,
        statement="In the chaotic phase the variance of the NTK grows with depth.",
        rule=(
            "Each activation and width, at the lowest weight variance of the map that is 5/4 of "
            "the border's or more and at the highest: log r at the deepest L up to M/2 is above "
            "that at half this depth."
        ),
        artifacts=("trust_fig1", "trust_fig2"),
        reads=WIDTHS,
        needs=(
            *DRAWN_MAPS,
            *UP_TO_CHAOS,
            # the narrowest width of Figure 1, with depths up to M/2 = 25 of which one is half as
            # large as another
            AtLeast("trust.heat_widths.widths.*", 50),
            Entries("trust.heat_widths.depths", 1, low=13, high=25),
            Entries("trust.heat_widths.depths", 1, high=6),
        ),
        judge=trust_phases.t02,
    ),
    Claim(
        id="T03",
        paper="trust",
        place="Section 3",
        kind=OBSERVATION,
        statement=(
            "At the border the standard deviation of the NTK is a fraction of its mean even for "
            "very deep networks."
        ),
        rule=(
            "Each activation and width, at the largest weight variance of the map not above the "
            "border's and the largest depth: r < 2."
        ),
        artifacts=("trust_fig1",),
        reads=WIDTHS,
        needs=(
            *DRAWN_MAPS,
            AtMost("trust.heat_widths.sigma_w2.*.first", 2),
            # "very deep"
            Entries("trust.heat_widths.depths", 1, low=50),
        ),
        judge=trust_phases.t03,
    ),
    Claim(
        id="T04",
        paper="trust",
        place="Section 3",
        kind=OBSERVATION,
        statement="The transition between the phases sharpens as the width grows.",
        rule=(
            "At L/M = 0.4, each activation: the band of weight variances in which 1.3 < r < 3 "
            "(straight lines through log r) is narrower at each width than at the one before. At "
            "one depth, in place of one L/M, chaotic networks of larger widths would stay below "
            "the band."
        ),
        artifacts=("trust_fig1",),
        reads=WIDTHS,
        needs=(
            *DRAWN_MAPS,
            *UP_TO_CHAOS,
            Entries("trust.heat_widths.widths", 2),
            # L/M = 0.4 at M = 100
            Entries("trust.heat_widths.depths", 1, low=40),
        ),
        judge=trust_phases.t04,
    ),
    Claim(
        id="T05",
        paper="trust",
        place="Section 3",
        kind=OBSERVATION,
        statement="Shallow networks have a small variance of the NTK at any weight variance.",
        rule="Each activation and width from 100 on: the largest r for L <= 2 is below 1.3.",
        artifacts=("trust_fig1",),
        reads=WIDTHS,
        needs=(
            *DRAWN_MAPS,
            *UP_TO_CHAOS,
            Entries("trust.heat_widths.widths", 1, low=100),
            Covers("trust.heat_widths.depths", (1, 2)),
        ),
        judge=trust_phases.t05,
    ),
    Claim(
        id="T06",
        paper="trust",
        place="Section 3",
        kind=OBSERVATION,
        statement=(
            "In the chaotic phase the variance falls with the width at one depth, and log r is a "
            "linear function of L/M, the same for all widths."
        ),
        rule=(
            "ReLU at (3, 1): at L = 20 log r falls from width to width; a line through log r "
            "against L/M has R^2 > 0.97 over all widths and depths; at L/M = 0.1, 0.2 and 0.3 the "
            "narrowest and the widest network that reach it differ in r by at most 15 per cent."
        ),
        artifacts=("trust_fig2",),
        reads=DEPTH,
        needs=(
            # the paper's number of draws
            AtLeast("trust.depth.draws", 200),
            # two widths, all of which reach L = 20 at L/M = 0.5
            Entries("trust.depth.widths", 2),
            AtLeast("trust.depth.widths.*", 40),
            AtLeast("trust.depth.largest_depth", 20),
            AtLeast("trust.depth.largest_lambda", 0.3),
            # of a line in L/M
            AtLeast("trust.depth.points", 5),
        ),
        judge=trust_phases.t06,
    ),
    Claim(
        id="T08",
        paper="trust",
        place="Section 3, Appendix C",
        kind=OBSERVATION,
        statement="A smaller sigma_b^2 narrows the transition between the phases.",
        rule=(
            "M = 100, L/M = 0.4, each activation: the band of weight variances in which 1.3 < r < "
            "3 widens from each sigma_b^2 to the next."
        ),
        artifacts=("trust_fig7",),
        reads={"cells": "trust_heat_biases.cells"},
        needs=(
            AtLeast("trust.heat_biases.draws", 200),
            AtLeast("trust.heat_biases.sigma_w2.*.points", 10),
            # M and L of the rule
            Covers("trust.heat_biases.widths", (100,)),
            Entries("trust.heat_biases.depths", 1, low=40),
            Entries("trust.heat_biases.sigma_b2", 2),
        ),
        judge=trust_phases.t08,
    ),
    Claim(
        id="T09",
        paper="trust",
        place="Captions of Figures 1 and 7",
        kind=OBSERVATION,
        statement=(
            "ReLU's border does not depend on sigma_b^2; that of tanh does, and at sigma_b^2 = 1 "
            "lies at a larger weight variance than ReLU's."
        ),
        rule=(
            "Roots of chi_1 = 1, computed: 2 for ReLU at every sigma_b^2; for tanh they move by "
            "at least 0.01 and exceed 2 at sigma_b^2 = 1."
        ),
        artifacts=("trust_fig7",),
        reads={"borders": "trust_heat_biases.borders"},
        needs=(
            Covers("trust.heat_biases.sigma_b2", (1,)),
            # a value between two others: that a border does not move needs more than its ends
            Entries("trust.heat_biases.sigma_b2", 3),
        ),
        judge=trust_phases.t09,
    ),
    Claim(
        id="T10",
        paper="trust",
        place="Section 4",
        kind=OBSERVATION,
        statement=(
            "In the ordered phase training changes the NTK little at any depth, and no more in "
            "deeper networks."
        ),
        rule=(
            "Largest relative change up to 3/4 of the border's weight variance: at most 0.15; "
            "slope of the change in L: not above 0."
        ),
        artifacts=("trust_fig3", "trust_fig4"),
    ),
    Claim(
        id="T11",
        paper="trust",
        place="Section 4",
        kind=OBSERVATION,
        statement=(
            "In the chaotic phase training changes the NTK much, and more in deeper networks."
        ),
        rule=(
            "Slope of the relative change in L: above 0; the change at the deepest L that trains: "
            "above 0.5."
        ),
        artifacts=("trust_fig3", "trust_fig4"),
    ),
    Claim(
        id="T12",
        paper="trust",
        place="Section 4",
        kind=OBSERVATION,
        statement=(
            "Near the border the NTK changes more than in the ordered phase, and far less than by "
            "its own size."
        ),
        rule=(
            "Relative change at the border, mean over depths: above that of the ordered phase, "
            "below 1."
        ),
        artifacts=("trust_fig3", "trust_fig4"),
    ),
    Claim(
        id="T13",
        paper="trust",
        place="Section 4",
        kind=OBSERVATION,
        statement=(
            "The change of the NTK in training switches its behaviour at the theoretical border."
        ),
        rule=(
            "Weight variance at which the change rises most steeply, each L >= 8: within 15 per "
            "cent of the border's."
        ),
        artifacts=("trust_fig3", "trust_fig4"),
    ),
    Claim(
        id="T14",
        paper="trust",
        place="Section 4",
        kind=OBSERVATION,
        statement=(
            "Ordered networks become untrainable at much smaller depths than chaotic ones; at L = "
            "20 most of them do not train."
        ),
        rule=(
            "Lowest loss at L = 20: above half the initial loss in most ordered networks, and in "
            "the ordered phase above that of the chaotic one."
        ),
        artifacts=("trust_fig3",),
    ),
    Claim(
        id="T15",
        paper="trust",
        place="Section 4",
        kind=OBSERVATION,
        statement="Networks that need more steps to train change their NTK less.",
        rule=(
            "Spearman's correlation of steps taken and relative change over all cells: below -0.3."
        ),
        artifacts=("trust_fig3", "trust_fig4"),
    ),
    Claim(
        id="T16",
        paper="trust",
        place="Appendix D",
        kind=OBSERVATION,
        statement=(
            "The NTK of deep chaotic networks changes within the first 10 to 100 steps; that of "
            "ordered ones stays where it is for long."
        ),
        rule=(
            "Relative change after 10 and 100 steps, deep networks: in the chaotic phase more "
            "than 10 times that in the ordered phase."
        ),
        artifacts=("trust_fig8", "trust_fig9"),
    ),
    Claim(
        id="T17",
        paper="trust",
        place="Appendix D",
        kind=OBSERVATION,
        statement=(
            "The NTK of wider networks changes less, and the transition shows at every width."
        ),
        rule="Median relative change over all cells: falls from M = 128 to 256 to 512.",
        artifacts=("trust_fig10", "trust_fig11"),
    ),
    Claim(
        id="T18",
        paper="trust",
        place="Section 5",
        kind=OBSERVATION,
        statement=(
            "kappa_1 / kappa_2 tends to 1 with depth in the ordered phase; in the chaotic phase "
            "and at the border it grows with depth."
        ),
        rule=(
            "Recursions, inputs of covariance below 1: in the ordered phase the largest ratio at "
            "the largest depth (60) is below 1.01; elsewhere the ratio is larger there than at L "
            "= 10 for every covariance."
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
        statement="kappa_2 depends little on the covariance of the inputs, compared with its mean.",
        rule=(
            "Recursions, inputs of covariance below 1, each pair of variances: (largest - "
            "smallest) / mean of kappa_2 over covariances is below 0.5 at every L >= 10."
        ),
        artifacts=("trust_fig5",),
        reads=MEAN_FIELD,
        needs=(
            # twice the depth from which the rule holds
            AtLeast("trust.mean_field.depth", 20),
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
        kind=OBSERVATION,
        statement=(
            "Where the NTK is well conditioned the output of a trained infinitely wide network "
            "has the variance (1 + A^2/S)(q - q_sr) + (A - 1)^2 q_sr, A = S / (kappa_1/kappa_2 + "
            "S - 1)."
        ),
        rule=(
            "S = 10 random inputs, border and chaotic phase. Kernel of constant entries, as in "
            "the theorem, regression of outputs drawn: variance within 5 per cent of the formula. "
            "Entries of the infinite-width kernels, variance computed exactly, mean over "
            "datasets: within 30 per cent, as the theorem says approximately."
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
)  # fmt: skip
