"""Claims of collapse. No experiment makes their rows yet.

Neural collapse means four things. NC1: the features of a class are alike. NC2: the centred class
means form a simplex equiangular tight frame (ETF). NC3: the rows of the last layer's W are aligned
with them. NC4: the network decides for the nearest class mean. There are C classes of m samples. H1
and H2 are the class means and the deviations from them, <h> is the global mean, b are the biases of
the last layer, and E is the invariant.
"""

from finitewidth.claims.ledger import Claim
from finitewidth.claims.reported import Numbers
from finitewidth.claims.verdicts import HEDGED, OBSERVATION, THEOREM
from finitewidth.common.texts import quoted

PAIRS = tuple(f"collapse_fig{number}" for number in range(3, 12))
PAIRS_AND_MAIN = ("collapse_fig2", *PAIRS)
BLOCK = "any kernel of the assumed block structure, any number of classes and samples"
NETS = (
    "VGG, ResNet20 and DenseNet40 on MNIST, FashionMNIST and CIFAR10, 400 epochs, learning rates "
    "from 10^-4 to 10^0.25, three initialisations (Figures 2 to 11, 13 to 20)"
)
KERNELS = ("collapse_fig1", *(f"collapse_fig{number}" for number in range(13, 21)))

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
            "Times at which the norms of the three components fall to 1e-3 of their start: in "
            "this order in the linear dynamics of a block kernel. A trained network, whose kernel "
            "has no exact blocks, is shown beside it."
        ),
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
            "Integrated by Runge-Kutta of order 4 at steps of 0.001: |E - E at the start| below "
            "1e-8 of |E at the start|."
        ),
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
            "The flow from E = 0, b = 1/C and class means that sum to 0: at t = 200 the distance "
            "from NC2 below 0.01, that from NC3 below 0.03 and still falling, and the norm of H2 "
            "likewise."
        ),
    ),
    Claim(
        id="K05",
        paper="collapse",
        place="Section 5.3 (2)",
        kind=THEOREM,
        statement="Where the invariant is not aligned there is no neural collapse.",
        quotes=quoted(
            "thesis",
            (2702, "is necessary for the emergence of NC in DNNs with block-structured NTK"),
            (2702, "DNNs that do not satisfy this assumption do not display NC"),
        ),
        sizes=BLOCK,
        rule="The same flow from a random W: the distance from NC3 at the end above 0.5.",
    ),
    Claim(
        id="K06",
        paper="collapse",
        place="Section 5.3 (3)",
        kind=THEOREM,
        statement="Features of global mean 0 make all biases 1/C at the end.",
        quotes=quoted(
            "thesis",
            (2704, "ensures that the biases are equal to"),
        ),
        sizes=BLOCK,
        rule="Largest |b - 1/C| over the classes at the end: below 0.02.",
    ),
    Claim(
        id="K07",
        paper="collapse",
        place="Appendix B.4",
        kind=THEOREM,
        statement=(
            "Where all biases are beta, W W^T is proportional to I - gamma 1 1^T with gamma = (1 - "
            "|1 - beta C| sqrt(1 - alpha C)) / C; centred class means still form an ETF, and NC3 "
            "fails."
        ),
        quotes=quoted(
            "thesis",
            (3039, r"\gamma = \frac{1}{C}(1 - |1 - \beta C|\sqrt{1 - \alpha C})"),
            (3035, "we conclude that NC2 holds in case of equal biases, while NC3 does not"),
        ),
        sizes=BLOCK,
        rule=(
            "At the end of the flow: fitted gamma within 1 per cent of the formula, the distance "
            "from NC2 below 0.001, that from NC3 above 0.1."
        ),
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
        rule="At the end of the flow: fitted theta within 1 per cent of the printed formula.",
    ),
    Claim(
        id="K09",
        paper="collapse",
        place="Section 6",
        kind=HEDGED,
        statement=(
            "Most networks of high test accuracy show neural collapse, yet some that are equally "
            "accurate do not."
        ),
        quotes=quoted(
            "thesis",
            (2733, "While most of the DNNs that achieve high test performance exhibit NC"),
            (2733, "DNNs with comparable performance that do not exhibit NC"),
        ),
        hedge="most; we are able to identify",
        sizes=NETS,
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
        quotes=quoted(
            "thesis",
            (2734, "holds only for the models with NC"),
            (3094, "smaller invariant norm and higher invariant alignment correlate with NC"),
        ),
        sizes=NETS,
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
        kind=HEDGED,
        statement=(
            "The kernels Theta and Theta^h align with the labels, and more so in models with "
            "neural collapse."
        ),
        quotes=quoted(
            "thesis",
            (2735, "are strongly aligned with the labels"),
            (3073, "typically stronger in models that exhibit NC"),
        ),
        hedge="typically",
        sizes=NETS,
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
        quotes=quoted(
            "thesis",
            (2549, "approximate block structure with larger kernel values"),
            (
                3088,
                "the block structure pattern is visible in the traced kernels in all the figures",
            ),
        ),
        hedge="approximate",
        sizes=NETS,
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
        kind=HEDGED,
        statement=(
            "Kernels of two different outputs, or features, have a smaller norm than those of one."
        ),
        quotes=quoted(
            "thesis",
            (3088, 'are generally smaller than the "diagonal" components'),
        ),
        hedge="generally; large variability in some settings",
        sizes=NETS,
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
        quotes=quoted(
            "thesis",
            (3073, "relatively small in comparison with the class-means in every setup"),
            (3073, "is small for models that exhibit NC"),
        ),
        hedge="relatively",
        sizes=NETS,
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
        kind=HEDGED,
        statement=(
            "Cross-entropy leads closer to neural collapse than the squared error, with a much "
            "larger norm of E."
        ),
        quotes=quoted(
            "thesis",
            (3094, "overall reach better NC metrics but have much larger norm of the invariant"),
        ),
        hedge="overall; preliminary experiments",
        sizes="ResNet20 on MNIST, 400 epochs, learning rates from 10^-4 to 10^0.25 (Figure 12)",
        rule=(
            "Medians over the learning rates, cross-entropy beside squared error: NC1, NC2 and "
            "NC3 are lower, and |E| is more than 5 times as large."
        ),
        artifacts=("collapse_fig12",),
    ),
)

NUMBERS: tuple[Numbers, ...] = ()
