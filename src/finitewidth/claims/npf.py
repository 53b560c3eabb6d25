"""Claims of npf, and where our counterparts of its printed numbers come from."""

from finitewidth.claims.judges import (
    npf_accuracy,
    npf_cntk,
    npf_kvf,
    npf_memorisation,
    npf_nu,
    npf_numbers,
    npf_theory,
)
from finitewidth.claims.ledger import Claim
from finitewidth.claims.needs import (
    FEWEST_RUNS,
    AtLeast,
    Covers,
    Entries,
    KeptEpochs,
    Original,
    PaperScale,
)
from finitewidth.claims.reported import Numbers
from finitewidth.claims.verdicts import OBSERVATION

TABLE2 = {"runs": "npf_regimes.runs"}
STAGES = {**TABLE2, "stages": "npf_stages.runs", "curves": "npf_stages.curves"}
CNTK = {**TABLE2, "cntk": "npf_cntk.rows"}
ERRORS = {"runs": "npf_theory.runs"}
MEMORISATION = {"errors": "npf_memorisation.errors"}

# The rules name these depths.
GROWING_WIDTHS = (
    Covers("npf.theory.widths.depths", npf_theory.DEPTHS),
    AtLeast("npf.theory.runs", FEWEST_RUNS),
)
# Figure 7 has these depths, and networks that memorise 200 targets.
FIGURE7 = (
    Covers("npf.memorisation.task.depths", npf_memorisation.DEPTHS),
    AtLeast("npf.memorisation.task.samples", 200),
)
# The claims on Table 2 are about gaps of one to some ten points. The two versions of the paper have
# fully connected networks of width 128 and 100. On 1,000 test images an accuracy of 80 % has a
# standard error of 1.3 points; 1,000 training images are 100 of each class. Five epochs are our
# choice: the paper trains until train accuracy is close to 100 %.
TRAINED_ON_TABLE2 = (
    Original("mnist"),
    Original("cifar10"),
    AtLeast("npf.regimes.runs", FEWEST_RUNS),
    AtLeast("npf.regimes.networks.fc.width", 100),
    AtLeast("npf.regimes.rows.*.train", 1000, default="npf.regimes.train"),
    AtLeast("npf.regimes.rows.*.test", 1000, default="npf.regimes.test"),
    AtLeast("npf.regimes.rows.*.epochs", 5),
)
# The rule judges the order at any number of images. 100 training images are ten of each class; on
# 400 test images an accuracy has a standard error of at most 2.5 points. Ten epochs are our choice.
BESIDE_THE_CNTK = (
    AtLeast("npf.cntk.runs", FEWEST_RUNS),
    AtLeast("npf.cntk.train", 100),
    AtLeast("npf.cntk.test", 400),
    AtLeast("npf.cntk.epochs", 10),
)

CLAIMS = (
    Claim(
        id="N04",
        paper="npf",
        place="Theorem B.1",
        kind=OBSERVATION,
        statement=(
            "With value weights of ±sigma that are independent of the gates, the mean of K^v is d "
            "sigma^{2(d-1)} H, already at finite width."
        ),
        rule=(
            "Over all networks of three small shapes no entry of the mean differs by more than "
            "1e-12 of the largest. Over drawn ones (2,000 or more; 20 inputs; gates of a ReLU "
            "network, or random; d = 3, 5, 8) no entry is more than 4.5 standard errors away, and "
            "the mean trace is within 5 % of the formula's."
        ),
        reads={"mean": "npf_theory.mean"},
        needs=(
            # the numbers of the rule
            AtLeast("npf.theory.mean.draws", 2000),
            AtLeast("npf.theory.inputs", 20),
            Covers("npf.theory.mean.depths", npf_theory.DEPTHS),
            Entries("npf.theory.mean.enumerated", 3),
        ),
        judge=npf_theory.n04,
    ),
    Claim(
        id="N05",
        paper="npf",
        place="Theorem 5.1",
        kind=OBSERVATION,
        statement=(
            "With independent gates and values the tangent kernel tends to d sigma^{2(d-1)} H as "
            "the width grows."
        ),
        rule=(
            "For d = 3, 5, 8 the log-log slope of the relative Frobenius error over the width (16 "
            "to 512 or more) lies in -0.65 to -0.35, and the mean log error at w = 512 is below "
            "that at 64."
        ),
        artifacts=("npf_extra_theory",),
        reads=ERRORS,
        needs=(*GROWING_WIDTHS, Covers("npf.theory.widths.widths", (16, 64, 512))),
        judge=npf_theory.n05,
    ),
    Claim(
        id="N06",
        paper="npf",
        place="Theorem B.2",
        kind=OBSERVATION,
        statement=(
            "With gates fixed and sigma^2 one over the number of open units, the variance of an "
            "entry of the tangent kernel is O(d^3 / w)."
        ),
        rule=(
            "Exact variances of K(s, s), all or half of the gates open. For d = 4, 8, 16, 32 the "
            "log-log slope over the widths above 6 d, where the proof's series converges, lies in "
            "-1.2 to -0.8; at w = 512 and 1024 Var w / d^3 is at d = 32 at most 1.5 times that at "
            "d = 16."
        ),
        artifacts=("npf_extra_theory",),
        reads={"variance": "npf_theory.variance"},
        needs=(
            Covers("npf.theory.variance.depths", npf_theory.VARIANCE_DEPTHS),
            Covers("npf.theory.variance.widths", npf_theory.WIDE),
            # three widths for a slope at d = 32, above 6 d
            Entries("npf.theory.variance.widths", 3, low=192, strict=True),
        ),
        judge=npf_theory.n06,
    ),
    Claim(
        id="N07",
        paper="npf",
        place="Section 5",
        kind=OBSERVATION,
        statement=(
            "The theorem needs gates that are independent of the values: where both come from the "
            "same weights, as in a ReLU network, the kernel does not tend to d sigma^{2(d-1)} H."
        ),
        rule=(
            "For d = 3, 5, 8 the relative Frobenius error under Theta^f = Theta^v is at least 0.5 "
            "at w = 512 and at infinite width, and its log-log slope over the widths from 64 on "
            "is at least -0.25."
        ),
        artifacts=("npf_extra_theory",),
        reads={**ERRORS, "curves": "npf_theory.curves"},
        needs=(
            *GROWING_WIDTHS,
            Covers("npf.theory.widths.widths", (512,)),
            # three widths for a slope
            Entries("npf.theory.widths.widths", 3, low=64),
        ),
        judge=npf_theory.n07,
    ),
    Claim(
        id="N10",
        paper="npf",
        place="Corollary C.1",
        kind=OBSERVATION,
        statement=(
            "Padding the gates m times, with sigma / sqrt(m), gives the same limit without a "
            "wider feature network."
        ),
        rule=(
            "For d = 3, 5, 8 the log-log slope over m of the relative Frobenius error against d "
            "sigma^{2(d-1)} H of the unpadded network lies in -0.65 to -0.35."
        ),
        artifacts=("npf_table4", "npf_extra_theory"),
        reads=ERRORS,
        needs=(
            AtLeast("npf.theory.runs", FEWEST_RUNS),
            Covers("npf.theory.padding.depths", npf_theory.DEPTHS),
            # three numbers of copies for a slope, up to 16 or more
            Entries("npf.theory.padding.copies", 3),
            Entries("npf.theory.padding.copies", 1, low=16),
        ),
        judge=npf_theory.n10,
    ),
    Claim(
        id="N12",
        paper="npf",
        place="Appendix D.1",
        kind=OBSERVATION,
        statement=(
            "Fixed random gates of width 25 memorise fastest at depth 8: shallower and deeper "
            "networks converge more slowly."
        ),
        rule=(
            "Gradient descent after 100 and after 1000 steps: mean log10 |e_t|^2/|e_0|^2 of every "
            "other depth of Figure 7 is at least that of depth 8, by Welch's t."
        ),
        artifacts=("npf_fig7",),
        reads=MEMORISATION,
        needs=(
            *FIGURE7,
            Covers("npf.memorisation.widths.*", (npf_memorisation.NARROW,)),
            AtLeast("npf.memorisation.descent.narrow.runs", FEWEST_RUNS),
            AtLeast("npf.memorisation.descent.narrow.steps", 1000),
        ),
        judge=npf_memorisation.n12,
    ),
    Claim(
        id="N13",
        paper="npf",
        place="Appendix D.1",
        kind=OBSERVATION,
        statement=(
            "Fixed random gates of width 500 memorise fastest at depth 12: shallower and deeper "
            "networks, 16 and 20 among them, converge more slowly."
        ),
        rule=(
            "Gradient descent after 100 steps: mean log10 |e_t|^2/|e_0|^2 of every other depth of "
            "Figure 7 is at least that of depth 12, by Welch's t."
        ),
        artifacts=("npf_fig7",),
        reads=MEMORISATION,
        needs=(
            *FIGURE7,
            Covers("npf.memorisation.widths.*", (npf_memorisation.WIDE,)),
            # With five runs of each depth the interval of a difference reaches 2.3 standard errors
            # to each side, with two 4.3 or more (Welch's t).
            AtLeast("npf.memorisation.descent.wide.runs", 5),
            AtLeast("npf.memorisation.descent.wide.steps", 100),
        ),
        judge=npf_memorisation.n13,
    ),
    Claim(
        id="N14",
        paper="npf",
        place="Section 6.2 (1)",
        kind=OBSERVATION,
        statement=(
            "Fixed random gates do as well with weights of their own (FRNPF-II) as with those of "
            "the value network's start (FRNPF-DI): the two do not differ significantly."
        ),
        rule=(
            "Every row: mean best test accuracy of FRNPF-II minus that of FRNPF-DI between -1 and "
            "1 point, by Welch's t on both sides."
        ),
        artifacts=("npf_table2",),
        reads=TABLE2,
        needs=TRAINED_ON_TABLE2,
        judge=npf_accuracy.n14,
    ),
    Claim(
        id="N15",
        paper="npf",
        place="Section 6.2 (1)",
        kind=OBSERVATION,
        statement=(
            "Gates learnt beside the value network (DLNPF) beat fixed random gates, of both kinds."
        ),
        rule=(
            "Every row: mean best test accuracy of DLNPF minus that of FRNPF-II, and minus that of "
            "FRNPF-DI, above 0 (Welch's t): both differences in all six rows."
        ),
        artifacts=("npf_table2",),
        reads=TABLE2,
        needs=TRAINED_ON_TABLE2,
        judge=npf_accuracy.n15,
    ),
    Claim(
        id="N16",
        paper="npf",
        place="Section 6.2 (2)",
        kind=OBSERVATION,
        statement=(
            "GCONV networks trained by Adam: fixed random gates, of both kinds, do worse than the "
            "CNTK (77.43 % on CIFAR-10), learnt gates (FLNPF) and ReLU better."
        ),
        rule=(
            "The CNTK computed, and GCONV/Adam trained, on the same images: FRNPF-II and FRNPF-DI "
            "below, FLNPF and ReLU above the CNTK (t; errors of runs and test images; the epoch "
            "chosen on the other half of the test images). On fewer images the verdict is on the "
            "order at that size. At the paper's scale also the cells of Table 2 below and above "
            "the printed 77.43."
        ),
        artifacts=("npf_table2", "npf_extra_cntk"),
        reads=CNTK,
        needs=BESIDE_THE_CNTK,
        judge=npf_cntk.n16,
    ),
    Claim(
        id="N17",
        paper="npf",
        place="Section 6.2 (2)",
        kind=OBSERVATION,
        statement=(
            "GCONV networks trained by Adam: whatever learns gates (DLNPF, FLNPF, ReLU) does "
            "better than the CNTK (77.43 % on CIFAR-10). The paper draws this conclusion, and "
            "leaves DLNPF out of its comparison."
        ),
        rule=(
            "The CNTK computed, and GCONV/Adam trained, on the same images: DLNPF, FLNPF and ReLU "
            "above the CNTK (errors as for N16). At the paper's scale also the cells of Table 2 "
            "above the printed 77.43."
        ),
        artifacts=("npf_table2", "npf_extra_cntk"),
        reads=CNTK,
        needs=BESIDE_THE_CNTK,
        judge=npf_cntk.n17,
    ),
    Claim(
        id="N18",
        paper="npf",
        place="Section 6.2 (3)",
        kind=OBSERVATION,
        statement=(
            "Fixed gates that a ReLU network has learnt (FLNPF) recover almost all of its accuracy."
        ),
        rule=(
            "Every row: mean best test accuracy of ReLU minus that of FLNPF at most 1.2 points "
            "(Welch's t)."
        ),
        artifacts=("npf_table2",),
        reads=TABLE2,
        needs=TRAINED_ON_TABLE2,
        judge=npf_accuracy.n18,
    ),
    Claim(
        id="N19",
        paper="npf",
        place="Section 6.2 (4)",
        kind=OBSERVATION,
        statement=(
            "The later in the training of a ReLU network gates are taken from it, the better a "
            "network with these gates fixed (FLNPF) becomes."
        ),
        rule=(
            "From stage 1 on, each stage's mean best test accuracy minus that of the stage before "
            "at least -1 point, and the last minus the first above 0 (t, paired by seed). A point, "
            "not one standard error, with which fewer runs would find it monotone more easily."
        ),
        artifacts=("npf_fig3",),
        reads={"stages": "npf_stages.runs"},
        needs=(
            Original("cifar10"),
            # A monotone rise needs two steps. Two runs are the fewest with an interval; they can
            # suffice, since stages are compared run by run and rise by several points.
            AtLeast("npf.stages.stages", 3),
            AtLeast("npf.stages.runs", 2),
            # as for Table 2
            AtLeast("npf.stages.train", 1000),
            AtLeast("npf.stages.test", 1000),
            AtLeast("npf.stages.epochs", 5),
        ),
        judge=npf_accuracy.n19,
    ),
    Claim(
        id="N20",
        paper="npf",
        place="Section 6.2 (4)",
        kind=OBSERVATION,
        statement=(
            "Gates of stage 1 already beat random ones, those of the last stage are about as good "
            "as ReLU, and between stages 3 and 4 the accuracy crosses that of the CNTK."
        ),
        rule=(
            "Mean best test accuracy: stage 1 minus FRNPF at least 3 points (paired by seed); ReLU "
            "of Table 2 minus the last stage at most 1.5; stage 3 below and stage 4 above the "
            "printed 77.43."
        ),
        artifacts=("npf_fig3",),
        reads=STAGES,
        needs=(
            # The printed 77.43 is for all of CIFAR-10.
            Original("cifar10"),
            PaperScale(),
            AtLeast("npf.stages.stages", 4),
        ),
        judge=npf_accuracy.n20,
    ),
    Claim(
        id="N21",
        paper="npf",
        place="Section 6.2 (5)",
        kind=OBSERVATION,
        statement=(
            "nu_t = y^T H^-1 y, with the path kernel H of the gates at time t, falls while a ReLU "
            "network learns."
        ),
        rule=(
            "Spearman's correlation of the mean of nu over runs with the epoch is at most -0.8 "
            "(error by jackknife over runs), and the mean of nu at the end over nu at the start at "
            "most 0.8."
        ),
        artifacts=("npf_fig3", "dgn_fig6"),
        reads={"runs": "npf_nu.runs"},
        needs=(
            AtLeast("npf.nu.runs", FEWEST_RUNS),
            # From seven epochs on, a rank correlation of -0.8 has a p-value below 2.5 %.
            KeptEpochs("npf.nu", 7),
            # half of the paper's examples
            AtLeast("npf.nu.per_class", 50),
        ),
        judge=npf_nu.n21,
    ),
    Claim(
        id="N22",
        paper="npf",
        place="Section 6.2 (6)",
        kind=OBSERVATION,
        statement=(
            "While gates are learnt, the tangent kernels of the value and of the feature network, "
            "K^v and K^f, are of the same scale."
        ),
        rule=(
            "At every kept epoch the mean over runs of log10 of the ratio K^v / K^f, of traces and "
            "of Frobenius norms, lies within -1 to 1: a factor of ten (t)."
        ),
        artifacts=("npf_fig3",),
        reads={"kernels": "npf_kvf.runs"},
        needs=(
            AtLeast("npf.kvf.runs", FEWEST_RUNS),
            # the start, the end and some of what is between
            KeptEpochs("npf.kvf", 5),
        ),
        judge=npf_kvf.n22,
    ),
    Claim(
        id="N25",
        paper="npf",
        place="Table 2",
        kind=OBSERVATION,
        statement="The test accuracies of Table 2, all thirty.",
        rule=(
            "Every cell: mean best test accuracy within twice the printed standard deviation plus "
            "one point of the printed mean (t)."
        ),
        artifacts=("npf_table2",),
        reads={**TABLE2, "cells": "npf_regimes.rows"},
        needs=(PaperScale(),),
        judge=npf_accuracy.n25,
    ),
)

NUMBERS: tuple[Numbers, ...] = tuple(
    Numbers(artifact=artifact, quantity=quantity, find=find, reads=reads, parts=parts)
    for artifact, quantity, find, reads, parts in (
        ("npf_table2", "test_accuracy", npf_accuracy.table2_numbers, TABLE2, npf_accuracy.PARTS),
        ("npf_fig3", "test_accuracy", npf_numbers.fig3_numbers, STAGES, npf_numbers.PARTS),
        ("npf_text", "test_accuracy", npf_numbers.text_numbers, STAGES, npf_numbers.PARTS),
        ("npf_text", "accuracy_gain", npf_numbers.cntk_gain_numbers, CNTK, npf_numbers.GAINS),
        ("npf_text", "train_accuracy", npf_numbers.train_numbers, TABLE2, {"": ""}),
        ("npf_text", "best_depth", npf_memorisation.best_depths, MEMORISATION, {"": ""}),
    )
)
