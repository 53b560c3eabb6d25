"""Claims of dgn on networks trained on images (section 3)."""

from finitewidth.claims.judges import dgn_training
from finitewidth.claims.ledger import Claim
from finitewidth.claims.needs import FEWEST_RUNS, AtLeast, Covers, KeptEpochs, Original, PaperScale
from finitewidth.claims.verdicts import OBSERVATION

MNIST = {"runs": "dgn_mnist.runs"}
BINARY = {"runs": "dgn_binary.runs"}
SWEEP = {"runs": "dgn_sweep.runs"}
TEXT = {"runs": "dgn_text.runs"}

# All of MNIST, and networks whose narrowest layer is that of the paper.
ALL_OF_MNIST = (
    Original("mnist"),
    AtLeast("dgn.mnist.train", 60_000),
    AtLeast("dgn.mnist.network.widths.*", 64),
    AtLeast("dgn.mnist.runs", FEWEST_RUNS),
)
# A fifth of the paper's epochs: test errors are compared after the training.
TWO_DIGITS = (AtLeast("dgn.binary.runs", FEWEST_RUNS), AtLeast("dgn.binary.epochs", 20))

CLAIMS = (
    Claim(
        id="D14",
        paper="dgn",
        place="Section 3",
        kind=OBSERVATION,
        statement="GaLU trains a bit faster than ReLU on MNIST.",
        rule=(
            "Epochs to 99 % train accuracy on the images, interpolated: GaLU needs fewer than"
            " ReLU, run by run."
        ),
        artifacts=("dgn_fig5",),
        reads=MNIST,
        needs=(
            *ALL_OF_MNIST,
            # Our choice; a run that does not reach 99 % leaves the claim open.
            AtLeast("dgn.mnist.epochs", 10),
        ),
        judge=dgn_training.d14,
    ),
    Claim(
        id="D15",
        paper="dgn",
        place="Section 3",
        kind=OBSERVATION,
        statement="Test accuracy on MNIST is about 96.5 % with GaLU and 98.5 % with ReLU.",
        rule=(
            "Means of the best test accuracy of each run: within .7 points of the printed "
            "ones, and ReLU at least 1 point above GaLU."
        ),
        artifacts=("dgn_fig5",),
        reads=MNIST,
        needs=(*ALL_OF_MNIST, AtLeast("dgn.mnist.epochs", 10)),
        judge=dgn_training.d15,
    ),
    Claim(
        id="D16",
        paper="dgn",
        place="Figure 5",
        kind=OBSERVATION,
        statement="ReLU and GaLU both fit MNIST, random labels and random pixels.",
        rule=(
            "Best train accuracy of an epoch, mean over runs: at least .99 in all six cases. "
            "Undecided where random labels stay below: the number of epochs is our choice."
        ),
        artifacts=("dgn_fig5",),
        reads=MNIST,
        needs=(
            *ALL_OF_MNIST,
            # 60,000 random labels are learnt slowly.
            AtLeast("dgn.mnist.epochs", 100),
        ),
        judge=dgn_training.d16,
    ),
    Claim(
        id="D17",
        paper="dgn",
        place="Experiment 3",
        kind=OBSERVATION,
        statement=(
            "The three networks whose gates adapt generalise better than GaLU with frozen gates."
        ),
        rule=(
            "Squared error on test images after the last epoch: that of GaLU is above those "
            "of ReLU, soft-ReLU and soft-GaLU, by Welch's t."
        ),
        artifacts=("dgn_fig7",),
        reads=BINARY,
        needs=TWO_DIGITS,
        judge=dgn_training.d17,
    ),
    Claim(
        id="D18",
        paper="dgn",
        place="Experiment 4",
        kind=OBSERVATION,
        statement=(
            "A ReLU network generalises better than one from the same start that keeps its "
            "first gates."
        ),
        rule=(
            "Squared error on test images after the last epoch, run by run: frozen ReLU minus"
            " ReLU is above 0."
        ),
        artifacts=("dgn_fig7",),
        reads=BINARY,
        needs=TWO_DIGITS,
        judge=dgn_training.d18,
    ),
    Claim(
        id="D19",
        paper="dgn",
        place="Experiment 5",
        kind=OBSERVATION,
        statement=(
            "Frozen gates that were learnt generalise better than frozen gates that were not."
        ),
        rule=(
            "Squared error on test images after the last epoch, run by run: unlearnt minus "
            "learnt is above 0."
        ),
        artifacts=("dgn_fig7",),
        reads=BINARY,
        needs=TWO_DIGITS,
        judge=dgn_training.d19,
    ),
    Claim(
        id="D20",
        paper="dgn",
        place="Section 3, Figure 8",
        kind=OBSERVATION,
        statement=(
            "With learnt or adaptable gates nu is smaller, and always bounded by the frozen "
            "case or the first value."
        ),
        rule=(
            "At every kept epoch after the first quarter of the training, for all four "
            "kernels: the mean over runs of log nu minus the log of its bound in the same run"
            " is below 0."
        ),
        artifacts=("dgn_fig8",),
        reads={"runs": "dgn_nu.runs"},
        needs=(
            *TWO_DIGITS,
            # three of them after the first quarter of the training
            KeptEpochs("dgn.binary", 5),
            # half of the paper's examples
            AtLeast("dgn.binary.per_class", 50),
        ),
        judge=dgn_training.d20,
    ),
    Claim(
        id="D21",
        paper="dgn",
        place="Experiment 6",
        kind=OBSERVATION,
        statement="Training only the gates gives 56 % test accuracy on CIFAR-10.",
        rule="Mean over runs of the best test accuracy: 53 to 59 %.",
        artifacts=("dgn_extra_text",),
        reads=TEXT,
        needs=(
            # The number is that of CIFAR-10 and the paper's network.
            Original("cifar10"),
            PaperScale(),
        ),
        judge=dgn_training.d21,
    ),
    Claim(
        id="D22",
        paper="dgn",
        place="Table 4",
        kind=OBSERVATION,
        statement=(
            "Test accuracy rises with beta, is saturated at beta = 8, matches ReLU's at large"
            " beta, and hardly depends on eps."
        ),
        rule=(
            "Best test accuracies, run by run. For both eps: beta 8 is above beta 1; each "
            "beta is at most .01 below the one before; beta 24 is at most .015 above beta 8; "
            "beta 16, 20 and 24 are within .015 of ReLU. For every beta: both eps agree "
            "within .03."
        ),
        artifacts=("dgn_table4",),
        reads=SWEEP,
        needs=(
            Original("cifar10"),
            AtLeast("dgn.sweep.runs", FEWEST_RUNS),
            Covers("dgn.sweep.beta", dgn_training.BETAS),
            Covers("dgn.sweep.eps", dgn_training.EPS),
            # On 10,000 test images an accuracy has a standard error of at most .005, half of the
            # smallest difference in the rule. Networks that are narrower than the paper's, or see
            # fewer images, are not told apart by .01.
            AtLeast("dgn.sweep.test", 10_000),
            AtLeast("dgn.sweep.train", 50_000),
            AtLeast("dgn.sweep.network.channels.*", 64),
        ),
        judge=dgn_training.d22,
    ),
    Claim(
        id="D24",
        paper="dgn",
        place="Table 4",
        kind=OBSERVATION,
        statement=(
            "All non-linear networks fit the training images to .99; the deep linear one does"
            " not (.50, test .39)."
        ),
        rule=(
            "Best accuracies of the runs: train at least .985 for ReLU and all sixteen soft-"
            "ReLU networks; linear within .02 of the printed train and test accuracy."
        ),
        artifacts=("dgn_table4",),
        reads=SWEEP,
        needs=(
            # The numbers of the linear network are those of CIFAR-10.
            Original("cifar10"),
            PaperScale(),
        ),
        judge=dgn_training.d24,
    ),
)
