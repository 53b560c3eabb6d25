"""Claims of collapse. No experiment makes their rows yet.

Neural collapse means four things. NC1: the features of a class are alike. NC2: the centred class
means form a simplex equiangular tight frame (ETF). NC3: the rows of the last layer's W are aligned
with them. NC4: the network decides for the nearest class mean. There are C classes of m samples. H1
and H2 are the class means and the deviations from them, <h> is the global mean, b are the biases of
the last layer, and E is the invariant.
"""

from finitewidth.claims.ledger import Claim
from finitewidth.claims.reported import Numbers
from finitewidth.claims.verdicts import OBSERVATION

PAIRS = tuple(f"collapse_fig{number}" for number in range(3, 12))
PAIRS_AND_MAIN = ("collapse_fig2", *PAIRS)
KERNELS = ("collapse_fig1", *(f"collapse_fig{number}" for number in range(13, 21)))

CLAIMS = (
    Claim(
        id="K02",
        paper="collapse",
        place="Section 4.1",
        kind=OBSERVATION,
        statement=(
            "Of the residuals the global mean converges first, then the class means, then those of "
            "single samples."
        ),
        rule=(
            "Times at which the norms of the three components fall to 1e-3 of their start: in "
            "this order in the linear dynamics of a block kernel, and in a trained network."
        ),
    ),
    Claim(
        id="K03",
        paper="collapse",
        place="Theorem 5.1",
        kind=OBSERVATION,
        statement="The gradient flow of a block kernel conserves the invariant E.",
        rule=(
            "Integrated by Runge-Kutta of order 4 at steps of 0.001: |E - E at the start| below "
            "1e-8 of |E at the start|."
        ),
    ),
    Claim(
        id="K04",
        paper="collapse",
        place="Theorem 5.2",
        kind=OBSERVATION,
        statement="An invariant E = 0 and features of global mean 0 lead to NC1 to NC4.",
        rule=(
            "The flow from E = 0, b = 1/C and class means that sum to 0: at t = 200 the distance "
            "from NC2 below 0.01, that from NC3 below 0.03 and still falling, and the norm of H2 "
            "likewise."
        ),
    ),
    Claim(
        id="K05",
        paper="collapse",
        place="Section 5.3 (2)",
        kind=OBSERVATION,
        statement="Where the invariant is not aligned there is no neural collapse.",
        rule="The same flow from a random W: the distance from NC3 at the end above 0.5.",
    ),
    Claim(
        id="K06",
        paper="collapse",
        place="Section 5.3 (3)",
        kind=OBSERVATION,
        statement="Features of global mean 0 make all biases 1/C at the end.",
        rule="Largest |b - 1/C| over the classes at the end: below 0.02.",
    ),
    Claim(
        id="K07",
        paper="collapse",
        place="Appendix B.4",
        kind=OBSERVATION,
        statement=(
            "Where all biases are beta, W W^T is proportional to I - gamma 1 1^T with gamma = (1 - "
            "|1 - beta C| sqrt(1 - alpha C)) / C; centred class means still form an ETF, and NC3 "
            "fails."
        ),
        rule=(
            "At the end of the flow: fitted gamma within 1 per cent of the formula, the distance "
            "from NC2 below 0.001, that from NC3 above 0.1."
        ),
    ),
    Claim(
        id="K08",
        paper="collapse",
        place="Equations 66 and 68",
        kind=OBSERVATION,
        statement=(
            "Where all biases are beta, H1^T H1 is proportional to I - theta 1 1^T with theta = (1 "
            "- |1 - beta C| / (2 - sqrt(1 - alpha C))) / C."
        ),
        rule="At the end of the flow: fitted theta within 1 per cent of the printed formula.",
    ),
    Claim(
        id="K09",
        paper="collapse",
        place="Section 6",
        kind=OBSERVATION,
        statement=(
            "Most networks of high test accuracy show neural collapse, yet some that are equally "
            "accurate do not."
        ),
        rule=(
            "Of the learning rates with test accuracy within 1 point of the best more than half "
            "have a distance from NC3 below 0.3; at some rate within 2 points of the best, with "
            "train accuracy of 99.9 % or more, it is above 0.3."
        ),
        artifacts=PAIRS_AND_MAIN,
    ),
    Claim(
        id="K10",
        paper="collapse",
        place="Section 6",
        kind=OBSERVATION,
        statement=(
            "Only models with neural collapse have a well aligned invariant, and a small norm of E."
        ),
        rule=(
            "At the end of the training, model with minus model without neural collapse: the "
            "alignment of the invariant (pane b) is larger by more than 0.2, and |E| less than "
            "half, in at least 80 per cent of the pairs."
        ),
        artifacts=PAIRS_AND_MAIN,
    ),
    Claim(
        id="K11",
        paper="collapse",
        place="Section 6, Appendix C",
        kind=OBSERVATION,
        statement=(
            "The kernels Theta and Theta^h align with the labels, and more so in models with "
            "neural collapse."
        ),
        rule=(
            "Alignments with the labels (pane j), model with minus model without neural collapse: "
            "above 0 in at least 80 per cent of the pairs."
        ),
        artifacts=PAIRS,
    ),
    Claim(
        id="K12",
        paper="collapse",
        place="Section 3",
        kind=OBSERVATION,
        statement="Traced kernels show blocks of classes.",
        rule=(
            "Mean over pairs of samples of one class over mean over pairs of two classes: above 2 "
            "for Theta^h and above 1.5 for Theta."
        ),
        artifacts=KERNELS,
    ),
    Claim(
        id="K13",
        paper="collapse",
        place="Appendix C.1",
        kind=OBSERVATION,
        statement=(
            "Kernels of two different outputs, or features, have a smaller norm than those of one."
        ),
        rule=(
            "Median norm of the kernels off the diagonal over the median on it: below 0.5, both "
            "for Theta and for Theta^h."
        ),
        artifacts=KERNELS,
    ),
    Claim(
        id="K14",
        paper="collapse",
        place="Appendix C",
        kind=OBSERVATION,
        statement=(
            "The global mean of the features is small beside their class means, and so is H2 in "
            "models with neural collapse."
        ),
        rule=(
            "At the end of the training (pane i): |<h> <h>^T| / |H1 H1^T| below 0.2, and |H2 "
            "H2^T| / |H1 H1^T| below 0.1 in models with neural collapse."
        ),
        artifacts=PAIRS,
    ),
    Claim(
        id="K15",
        paper="collapse",
        place="Appendix C.2",
        kind=OBSERVATION,
        statement=(
            "Cross-entropy leads closer to neural collapse than the squared error, with a much "
            "larger norm of E."
        ),
        rule=(
            "Medians over the learning rates, cross-entropy beside squared error: NC1, NC2 and "
            "NC3 are lower, and |E| is more than 5 times as large."
        ),
        artifacts=("collapse_fig12",),
    ),
)

NUMBERS: tuple[Numbers, ...] = ()
