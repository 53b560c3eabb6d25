"""Claims of collapse on trained networks, K09 to K15.

A pair is a network and a dataset. The models close to collapse and far from it are those of the
figures, which a rule chooses (`finitewidth.experiments.collapse.picking`).
"""

from finitewidth.claims.judges import collapse_networks
from finitewidth.claims.ledger import Claim
from finitewidth.claims.needs import AtLeast, Original, Rates
from finitewidth.claims.verdicts import HEDGED, OBSERVATION
from finitewidth.common.texts import quoted

FIGURES = tuple(f"collapse_fig{number}" for number in range(3, 12))
FIGURES_AND_MAIN = ("collapse_fig2", *FIGURES)
MAPS = ("collapse_fig1", *(f"collapse_fig{number}" for number in range(13, 21)))
ENTROPY = "collapse_fig12"
NETS = (
    "VGG, ResNet20 and DenseNet40 on MNIST, FashionMNIST and CIFAR10, 400 epochs, learning rates "
    "from 10^-4 to 10^0.25, three initialisations (Figures 2 to 11, 13 to 20)"
)
PAIRS = tuple(
    f"{network}_{data}"
    for network in ("vgg", "resnet", "densenet")
    for data in ("mnist", "fashion", "cifar")
)
OVER_PAIRS = (
    " Means are over the pairs of a network and a dataset, of which there must be five. Networks "
    "that fit less than 95 per cent of the training images at the end are left out."
)

MANY_RATES = Rates("collapse.pairs.*.rates", 8)
# the whole test sets of the paper: 1 point is then 100 images
TEST_SETS = (
    Original("mnist"),
    Original("fashion_mnist"),
    Original("cifar10"),
    AtLeast("collapse.pairs.*.images.test", 10_000),
)
# two models of a pair, and rates between them; as many images in the kernels as the paper has
TWO_MODELS = (Rates("collapse.pairs.*.rates", 3), AtLeast("collapse.pairs.*.kernel_per_class", 4))
MAPPED = tuple(AtLeast(f"collapse.maps.{pair}.per_class", 4) for pair in PAIRS)


def tables(*kinds: str, pairs: tuple[str, ...] = PAIRS) -> dict[str, str]:
    """Tables of all pairs: ``rates_vgg_mnist`` -> ``collapse_models_vgg_mnist.rates``."""
    return {f"{kind}_{pair}": f"collapse_models_{pair}.{kind}" for kind in kinds for pair in pairs}


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
            (2733, "such models still achieve near-zero error on the training set"),
        ),
        hedge="most; we are able to identify",
        sizes=NETS,
        rule=(
            "All bounds are ours, since the paper says neither which networks count as accurate "
            "nor which show collapse. Of the networks within 1 point of the best test accuracy of "
            "their pair more than half have a distance from NC3 below 0.3. In each pair some "
            "network within 2 points, with a train accuracy of 99.9 per cent or more, is above "
            "0.3; a pair without networks of this accuracy leaves the claim open." + OVER_PAIRS
        ),
        artifacts=FIGURES_AND_MAIN,
        reads=tables("rates"),
        needs=(MANY_RATES, *TEST_SETS),
        judge=collapse_networks.k09,
    ),
    Claim(
        id="K10",
        paper="collapse",
        place="Section 6, Appendix C.2",
        kind=OBSERVATION,
        statement=(
            "Only models with neural collapse have a well aligned invariant; a smaller norm of E "
            "goes with collapse."
        ),
        quotes=quoted(
            "thesis",
            (2734, "holds only for the models with NC"),
            (3094, "smaller invariant norm and higher invariant alignment correlate with NC"),
        ),
        sizes=f"{NETS}; the second sentence: ResNet20 on MNIST with cross-entropy (Figure 12)",
        rule=(
            "At the end of the training, over the networks of all rates: the rank correlation of "
            "NC3 with the alignment of the invariant (pane b), mean over the initialisations of a "
            "pair, is below 0, the paper's; ours: below -0.5. Ours: that with |E|, and that with "
            "|E| over |W^T W|, is above 0. With cross-entropy: NC3 falls with the alignment and "
            "rises with |E| in their ranks, the paper's. Where NC1 holds the alignment is nearly a "
            "function of NC3 (K05). Planned first: differences of two models that were picked by "
            "NC3. In prototypes |E| was 0.89 to 1.1 of |W^T W| in every network, collapsed or not, "
            "so that |E| alone judges |W^T W|." + OVER_PAIRS
        ),
        artifacts=(*FIGURES_AND_MAIN, ENTROPY),
        reads=tables("rates") | tables("rates", pairs=("resnet_mnist_ce",)),
        needs=TWO_MODELS,
        judge=collapse_networks.k10,
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
            (2735, "in the models with the best performance"),
            (3073, "typically stronger in models that exhibit NC"),
        ),
        hedge="typically",
        sizes=NETS,
        rule=(
            "Alignments with the labels (pane j), the model close to collapse minus that far from "
            "it, of each initialisation of which both are found: above 0, the paper's. Ours: the "
            "alignment is at least 0.5 in those of these models that are within 1 point of the "
            "best test accuracy of their pair. Planned first: above 0 in at least 80 per cent of "
            "the pairs." + OVER_PAIRS
        ),
        artifacts=FIGURES,
        reads=tables("rates", "ends"),
        needs=TWO_MODELS,
        judge=collapse_networks.k11,
    ),
    Claim(
        id="K12",
        paper="collapse",
        place="Section 3, Appendix C.1",
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
            "Mean over pairs of samples of two classes over mean over pairs of samples of one "
            "class: below 1, the paper's; ours: below 1/2 for Theta^h and below 2/3 for Theta. "
            "There is one network for each figure, whose error nobody knows. Therefore the mean is "
            "judged, not each figure." + OVER_PAIRS
        ),
        artifacts=MAPS,
        reads=tables("blocks", "rates"),
        needs=MAPPED,
        judge=collapse_networks.k12,
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
            "Median norm of the kernels off the diagonal over the median on it, both for Theta and "
            "for Theta^h: below 1, the paper's; ours: below 0.5." + OVER_PAIRS
        ),
        artifacts=MAPS,
        reads=tables("blocks", "rates"),
        needs=MAPPED,
        judge=collapse_networks.k13,
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
            "At the end of the training (pane i), all bounds ours: |<h> <h>^T| / |H1 H1^T| below "
            "0.05 in both models; |H2 H2^T| / |H1 H1^T|, with H2 in the scale of the authors' "
            "code, below 0.1 close to collapse, and smaller there than far from it. Planned first "
            "for the global mean: below 0.2, which is true of any features: the ratio is at most "
            "1/C, and is 1/C where all class means are equal. Changed to half of this with "
            "prototypes at hand, in which it was 0.03 to 0.1." + OVER_PAIRS
        ),
        artifacts=FIGURES,
        reads=tables("rates", "ends"),
        needs=TWO_MODELS,
        judge=collapse_networks.k14,
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
            "Networks of the same rate and initialisation that fit at least 99 per cent of the "
            "training images with both losses, at least five: ratios, cross-entropy over squared "
            "error, in the median. NC1, NC2 and NC3 are lower and |E| is larger, the paper's. "
            "Ours: variance within over variance between classes is lower, and |E| is more than 5 "
            "times as large."
        ),
        artifacts=(ENTROPY,),
        reads=tables("rates", pairs=("resnet_mnist_ce", "resnet_mnist")),
        needs=(
            Rates("collapse.pairs.resnet_mnist_ce.rates", 3),
            Rates("collapse.pairs.resnet_mnist.rates", 3),
        ),
        judge=collapse_networks.k15,
    ),
)
