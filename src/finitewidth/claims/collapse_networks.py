"""Claims of collapse on trained networks, K09 to K15. No experiment makes their rows yet."""

from finitewidth.claims.ledger import Claim
from finitewidth.claims.verdicts import HEDGED, OBSERVATION
from finitewidth.common.texts import quoted

PAIRS = tuple(f"collapse_fig{number}" for number in range(3, 12))
PAIRS_AND_MAIN = ("collapse_fig2", *PAIRS)
NETS = (
    "VGG, ResNet20 and DenseNet40 on MNIST, FashionMNIST and CIFAR10, 400 epochs, learning rates "
    "from 10^-4 to 10^0.25, three initialisations (Figures 2 to 11, 13 to 20)"
)
KERNELS = ("collapse_fig1", *(f"collapse_fig{number}" for number in range(13, 21)))

CLAIMS = (
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
