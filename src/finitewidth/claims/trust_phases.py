"""Claims of trust on the kernel at initialisation (Section 3): Figures 1, 2 and 7.

r = E[Theta(x, x)^2] / E[Theta(x, x)]^2. At the border between the phases chi_1 = 1: there sigma_w^2
is 2 for ReLU, and 3.44 for tanh at sigma_b^2 = 1.
"""

from finitewidth.claims.judges import trust_phases
from finitewidth.claims.ledger import Claim
from finitewidth.claims.needs import AtLeast, AtMost, Covers, Entries
from finitewidth.claims.verdicts import HEDGED, OBSERVATION, THEOREM
from finitewidth.common.texts import quoted

WIDTHS = {"cells": "trust_heat_widths.cells", "borders": "trust_heat_widths.borders"}
DEPTH = {"curves": "trust_depth.curves"}

# The paper draws 200 networks. Ten weight variances are steps of a fifth of the border's.
DRAWN_MAPS = (
    AtLeast("trust.heat_widths.draws", 200),
    AtLeast("trust.heat_widths.sigma_w2.*.points", 10),
)
DRAWN_CURVES = AtLeast("trust.depth.draws", 200)
# The last weight variances are 5/4 of the borders.
UP_TO_CHAOS = (
    AtLeast("trust.heat_widths.sigma_w2.relu.last", 2.5),
    AtLeast("trust.heat_widths.sigma_w2.tanh.last", 4.3),
)
# Depths up to M/5 of which one is half as large as another, at the narrowest width of Figure 1.
UP_TO_A_FIFTH = (
    AtLeast("trust.heat_widths.widths.*", 50),
    Entries("trust.heat_widths.depths", 1, low=8, high=10),
    Entries("trust.heat_widths.depths", 1, high=4),
)
# L = 20, and deeper
DEEP_MAPS = (
    Covers("trust.heat_widths.depths", (20,)),
    Entries("trust.heat_widths.depths", 1, low=20, strict=True),
)
# all curves reach L = 20 at L/M = 0.5
DEEP_CURVES = (
    AtLeast("trust.depth.widths.*", 40),
    AtLeast("trust.depth.largest_depth", 20),
    AtLeast("trust.depth.largest_lambda", 0.5),
)

MAPS = "tanh and ReLU networks of widths 50, 100, 200 and 500, sigma_b^2 = 1"

CLAIMS = (
    Claim(
        id="T01",
        paper="trust",
        place="Section 3",
        kind=HEDGED,
        statement=(
            "In the ordered phase, where sigma_w^2 is small enough, the variance of the NTK is "
            "small at any depth, does not grow with depth and vanishes as the width grows."
        ),
        quotes=quoted(
            "trust",
            (123, "small enough (ordered phase), the NTK variance is small and does not increase"),
            (125, "the ratio is close to 1, does not grow with"),
            (125, "converges to its deterministic limit with increasing"),
        ),
        hedge="small enough",
        sizes=f"{MAPS}, any depth (Figure 1); ReLU at (1, 1) and (1.5, 1), any width (Figure 2)",
        rule=(
            "Each activation, at the largest weight variance of Figure 1's maps up to 3/4 of the "
            "border's, and ReLU at the two of Figure 2: r - 1 goes as a negative power of M, from "
            "the narrowest to the widest, at L = 20 and at the largest common depth. In each map "
            "up to this variance r < 2 for L >= 3: the standard deviation is below the mean. From "
            "half of a depth to it (up to M/5) log r grows by less than in the chaotic phase. "
            "Ours: r is at most 1.15 for L >= 3, as planned; it grows from L = 20 to the deepest "
            "by at most 0.05; the power lies between -1.2 and -0.8."
        ),
        artifacts=("trust_fig1", "trust_fig2"),
        reads=WIDTHS | DEPTH,
        needs=(
            *DRAWN_MAPS,
            DRAWN_CURVES,
            # a weight variance in the ordered phase: 3/4 of ReLU's border
            AtMost("trust.heat_widths.sigma_w2.*.first", 1.5),
            *UP_TO_CHAOS,
            *UP_TO_A_FIFTH,
            *DEEP_MAPS,
            *DEEP_CURVES,
            Entries("trust.heat_widths.widths", 2),
            Entries("trust.depth.widths", 2),
        ),
        judge=trust_phases.t01,
    ),
    Claim(
        id="T02",
        paper="trust",
        place="Section 3",
        kind=OBSERVATION,
        statement="In the chaotic phase the variance of the NTK grows significantly with depth.",
        quotes=quoted("trust", (123, "the variance grows significantly with")),
        sizes=f"{MAPS}, large sigma_w^2 (Figure 1)",
        rule=(
            "Each activation and width, at the lowest weight variance of the map that is 5/4 of "
            "the border's or more and at the highest: log r at the deepest L up to M/5 is above "
            "that at half this depth. The first rule went up to M/2, where rare draws carry r and "
            "its error is too large to judge it."
        ),
        artifacts=("trust_fig1", "trust_fig2"),
        reads=WIDTHS,
        needs=(*DRAWN_MAPS, *UP_TO_CHAOS, *UP_TO_A_FIFTH),
        judge=trust_phases.t02,
    ),
    Claim(
        id="T03",
        paper="trust",
        place="Sections 3 and 4",
        kind=OBSERVATION,
        statement=(
            "At the border the standard deviation of the NTK is a fraction of its mean even for "
            "very deep networks."
        ),
        quotes=quoted(
            "trust",
            (123, "the variance of the NTK is a fraction of its mean even for very deep networks"),
            (148, "the standard deviation of the NTK is lower than its mean value for deep"),
        ),
        sizes=(
            f"{MAPS}, at and near the border; very deep, without a number (Figure 1; Section 4 "
            "counts L = 20 as deep)"
        ),
        rule=(
            "r < 2, where the standard deviation is the mean: in each map of Figure 1 at the "
            "largest weight variance not above the border's, at the first depth from 20 on and at "
            "the largest (100). These cells decide. Those of ReLU networks, at sigma_b^2 = 1, are "
            "drawn more often on their own, since rare draws carry r there. Beside them, exactly, "
            "ReLU at (2, 0) of Figure 2 at each width, which the sentence is not about; before "
            "this was seen, they were binding."
        ),
        artifacts=("trust_fig1", "trust_fig2"),
        reads=WIDTHS | DEPTH | {"often": "trust_border.cells"},
        needs=(
            *DRAWN_MAPS,
            AtMost("trust.heat_widths.sigma_w2.*.first", 2),
            *DEEP_MAPS,
            # "very deep"
            Entries("trust.heat_widths.depths", 1, low=50),
            *DEEP_CURVES,
            AtLeast("trust.border.draws", 200),
        ),
        judge=trust_phases.t03,
    ),
    Claim(
        id="T04",
        paper="trust",
        place="Section 3",
        kind=OBSERVATION,
        statement="The transition between the phases sharpens as the width grows.",
        quotes=quoted("trust", (123, "the vertical red region gets narrower, i.e. the transition")),
        sizes=f"{MAPS} (Figure 1)",
        rule=(
            "Each activation: the band of weight variances in which 1.3 < r < 2 at L/M = 0.4, and "
            "that in which 1.1 < r < 1.5 at L/M = 0.2, which all four widths reach, are narrower "
            "at each width than at the one before (straight lines through log r). The standard "
            "deviation equals the mean at r = 2, where the paper's red zone ends; the first rule "
            "had 1.3 to 3. At one depth, in place of one L/M, the whole chaotic phase of the "
            "widest networks lies in or below the band."
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
        kind=HEDGED,
        statement=(
            "Sufficiently shallow networks have a small variance of the NTK at any weight variance."
        ),
        quotes=quoted(
            "trust", (123, "the NTK variance is small for sufficiently shallow NNs with any")
        ),
        hedge="sufficiently shallow",
        sizes=f"{MAPS}, any sigma_w^2 (Figure 1)",
        rule=(
            "Each activation and width: at the highest weight variance r is smaller at L = 2 than "
            "at the deepest L up to M/5; the paper's shallow has no number, and 2 is ours. Ours: "
            "the largest r for L <= 2 is at most 1.15, which "
            "counts as small in the ordered phase too (T01). The planned rule had 1.3, from M = "
            "100 on; no network of two layers comes near it."
        ),
        artifacts=("trust_fig1",),
        reads=WIDTHS,
        needs=(
            *DRAWN_MAPS,
            *UP_TO_CHAOS,
            *UP_TO_A_FIFTH,
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
            "In the chaotic phase the variance falls with the width at one depth. It depends on "
            "L/M and grows exponentially with it."
        ),
        quotes=quoted(
            "trust",
            (125, "the the NTK variance decreases in the chaotic phase, which supports the"),
            (125, "the hypothesis that the variance depends on the ratio"),
            (125, "the ratio grows exponentially as a function of"),
        ),
        sizes="ReLU networks at (3, 1), a wider range of widths than 50 to 500 (Figure 2)",
        rule=(
            "ReLU at (3, 1): at L = 20 log r falls from width to width. At each width r grows more "
            "from L/M = 0.2 to 0.3 than from 0.1 to 0.2. Between the narrowest and the widest "
            "network that reach L/M = 0.1, 0.2 or 0.3 log r differs less there than at L = 20. "
            "Ours: a line through log r against L/M has R^2 > 0.97 over all widths and depths; "
            "those two networks differ in r by at most 15 per cent (planned for L/M below 0.3)."
        ),
        artifacts=("trust_fig2",),
        reads=DEPTH,
        needs=(
            DRAWN_CURVES,
            *DEEP_CURVES,
            Entries("trust.depth.widths", 2),
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
        quotes=quoted("trust", (127, "values yield narrower boundary between the two phases")),
        sizes="tanh and ReLU networks of width 100, several sigma_b^2 without a number (Figure 7)",
        rule=(
            "M = 100, each activation: the width of the band of weight variances in which 1.3 < r "
            "< 2, averaged over L/M = 0.5 to 0.9, is larger at the largest sigma_b^2 than at the "
            "smallest. Ours: it is larger at L/M = 0.28 alone, too, from which on both "
            "activations have a band. The first rule had 1.3 < r < 3 at L/M = 0.4 alone and each "
            "sigma_b^2 against the next; hardly any of these could be told apart."
        ),
        artifacts=("trust_fig7",),
        reads={"cells": "trust_heat_biases.cells"},
        needs=(
            AtLeast("trust.heat_biases.draws", 200),
            AtLeast("trust.heat_biases.sigma_w2.*.points", 10),
            # M and L of the rule
            Covers("trust.heat_biases.widths", (100,)),
            Entries("trust.heat_biases.depths", 1, low=50, high=90),
            Entries("trust.heat_biases.sigma_b2", 2),
        ),
        judge=trust_phases.t08,
    ),
    Claim(
        id="T09",
        paper="trust",
        place="Section 3, captions of Figures 1 and 7",
        kind=THEOREM,
        statement=(
            "ReLU's border does not depend on sigma_b^2; that of tanh does, and at sigma_b^2 = 1 "
            "lies at a larger weight variance than ReLU's."
        ),
        quotes=quoted(
            "trust",
            (123, "values for sigmoid networks"),
            (354, "the location of the border between phases depends on"),
            (354, "for ReLU networks it is the same for all the"),
        ),
        sizes="infinitely wide networks; all sigma_b^2 (Figure 7), the comparison at 1 (Figure 1)",
        rule=(
            "Follows from the definition: the roots of chi_1 = 1 are computed, and nothing is "
            "measured. Over sigma_b^2 they differ by nothing for ReLU and by more than nothing "
            "for tanh; at sigma_b^2 = 1 the root of tanh is the larger one. At sigma_b^2 of 0.1 "
            "and less it is the smaller one, which the paper does not speak about."
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
)
