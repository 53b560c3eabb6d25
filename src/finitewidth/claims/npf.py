"""What the paper claims, and where our counterparts of its numbers come from."""

from finitewidth.claims.judges import (
    npf_accuracy,
    npf_cntk,
    npf_kvf,
    npf_memorisation,
    npf_nu,
    npf_numbers,
    npf_theory,
)
from finitewidth.claims.ledger import LAPTOP, PAPER, Claim
from finitewidth.claims.reported import Numbers

# E-NPF-T2, rule npf_regimes
TABLE2 = {
    "reads": {"runs": "npf/experiments/regimes_runs.csv"},
    "sections": (("npf", "table2"),),
    "roles": ("mnist", "cifar10"),
}
# E-NPF-STAGE beside it, rule npf_stages
STAGES = {
    "reads": {
        **TABLE2["reads"],
        "stages": "npf/experiments/stages_runs.csv",
        "curves": "npf/experiments/stages.csv",
    },
    "sections": (("npf", "table2"), ("npf", "stages")),
    "roles": ("mnist", "cifar10"),
}
# E-NPF-CNTK beside it, rule npf_cntk
CNTK = {
    "reads": {**TABLE2["reads"], "cntk": "npf/experiments/cntk.csv"},
    "sections": (("npf", "table2"), ("npf", "cntk")),
    "roles": ("cifar10",),
}
REDUCED = "networks, epochs or images are reduced: their gaps are not those of the paper's networks"

# checks of the theory, rule npf_theory
MEANS = {"mean": "npf/experiments/theory_mean.csv"}
ERRORS = {"runs": "npf/experiments/theory_runs.csv"}
LIMITS = {"curves": "npf/experiments/theory_curves.csv"}
VARIANCES = {"variance": "npf/experiments/theory_variance.csv"}
THEORY = (("npf", "theory"),)
# E-MEM, rule npf_memorisation
MEMORISATION = {
    "reads": {"errors": "npf/experiments/memorisation_errors.csv"},
    "sections": (
        ("npf", "memorisation_task"),
        ("npf", "memorisation"),
        ("npf", "memorisation_descent"),
    ),
}

CLAIMS = (
    Claim(
        id="N04",
        paper="npf",
        place="Theorem B.1",
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
        reads=MEANS,
        sections=THEORY,
        judge=npf_theory.n04,
    ),
    Claim(
        id="N05",
        paper="npf",
        place="Theorem 5.1",
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
        sections=THEORY,
        judge=npf_theory.n05,
    ),
    Claim(
        id="N06",
        paper="npf",
        place="Theorem B.2",
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
        reads=VARIANCES,
        sections=THEORY,
        judge=npf_theory.n06,
    ),
    Claim(
        id="N07",
        paper="npf",
        place="Section 5",
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
        reads={**ERRORS, **LIMITS},
        sections=THEORY,
        judge=npf_theory.n07,
    ),
    Claim(
        id="N10",
        paper="npf",
        place="Corollary C.1",
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
        sections=THEORY,
        judge=npf_theory.n10,
    ),
    Claim(
        id="N12",
        paper="npf",
        place="Appendix D.1",
        statement=(
            "Fixed random gates of width 25 memorise fastest at depth 8: shallower and deeper "
            "networks converge more slowly."
        ),
        rule=(
            "Gradient descent after 100 and after 1000 steps: mean log10 |e_t|^2/|e_0|^2 of every "
            "other depth of Figure 7 is at least that of depth 8, by Welch's t."
        ),
        artifacts=("npf_fig7",),
        judge=npf_memorisation.n12,
        **MEMORISATION,
    ),
    Claim(
        id="N13",
        paper="npf",
        place="Appendix D.1",
        statement=(
            "Fixed random gates of width 500 memorise fastest at depth 12: shallower and deeper "
            "networks, 16 and 20 among them, converge more slowly."
        ),
        rule=(
            "Gradient descent after 100 steps: mean log10 |e_t|^2/|e_0|^2 of every other depth of "
            "Figure 7 is at least that of depth 12, by Welch's t."
        ),
        artifacts=("npf_fig7",),
        presets=LAPTOP,
        otherwise="two descents of width 500 are too few for an interval of use",
        judge=npf_memorisation.n13,
        **MEMORISATION,
    ),
    Claim(
        id="N14",
        paper="npf",
        place="Section 6.2 (1)",
        statement=(
            "Fixed random gates do as well with weights of their own (FRNPF-II) as with those of "
            "the value network's start (FRNPF-DI): the two do not differ significantly."
        ),
        rule=(
            "Every row: mean best test accuracy of FRNPF-II minus that of FRNPF-DI between -1 and "
            "1 point, by Welch's t on both sides."
        ),
        artifacts=("npf_table2",),
        presets=LAPTOP,
        otherwise="networks this small are not told apart by a point",
        judge=npf_accuracy.n14,
        **TABLE2,
    ),
    Claim(
        id="N15",
        paper="npf",
        place="Section 6.2 (1)",
        statement=(
            "Gates learnt beside the value network (DLNPF) beat fixed random gates, of both kinds."
        ),
        rule=(
            "Every row: mean best test accuracy of DLNPF minus that of FRNPF-II, and minus that of "
            "FRNPF-DI, above 0 (Welch's t): both differences in all six rows."
        ),
        artifacts=("npf_table2",),
        presets=LAPTOP,
        otherwise=REDUCED,
        judge=npf_accuracy.n15,
        **TABLE2,
    ),
    Claim(
        id="N16",
        paper="npf",
        place="Section 6.2 (2)",
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
        judge=npf_cntk.n16,
        **CNTK,
    ),
    Claim(
        id="N17",
        paper="npf",
        place="Section 6.2 (2)",
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
        judge=npf_cntk.n17,
        **CNTK,
    ),
    Claim(
        id="N18",
        paper="npf",
        place="Section 6.2 (3)",
        statement=(
            "Fixed gates that a ReLU network has learnt (FLNPF) recover almost all of its accuracy."
        ),
        rule=(
            "Every row: mean best test accuracy of ReLU minus that of FLNPF at most 1.2 points "
            "(Welch's t)."
        ),
        artifacts=("npf_table2",),
        presets=LAPTOP,
        otherwise=REDUCED,
        judge=npf_accuracy.n18,
        **TABLE2,
    ),
    Claim(
        id="N19",
        paper="npf",
        place="Section 6.2 (4)",
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
        presets=LAPTOP,
        otherwise=REDUCED,
        judge=npf_accuracy.n19,
        **{
            **STAGES,
            "reads": {"stages": STAGES["reads"]["stages"]},
            "sections": (("npf", "stages"),),
            "roles": ("cifar10",),
        },
    ),
    Claim(
        id="N20",
        paper="npf",
        place="Section 6.2 (4)",
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
        presets=PAPER,
        otherwise="the CNTK's 77.43 is for CIFAR-10 at full size",
        judge=npf_accuracy.n20,
        **STAGES,
    ),
    Claim(
        id="N21",
        paper="npf",
        place="Section 6.2 (5)",
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
        reads={"runs": "npf/experiments/nu_runs.csv"},
        sections=(("npf", "nu"),),
        roles=("mnist",),
        judge=npf_nu.n21,
    ),
    Claim(
        id="N22",
        paper="npf",
        place="Section 6.2 (6)",
        statement=(
            "While gates are learnt, the tangent kernels of the value and of the feature network, "
            "K^v and K^f, are of the same scale."
        ),
        rule=(
            "At every kept epoch the mean over runs of log10 of the ratio K^v / K^f, of traces and "
            "of Frobenius norms, lies within -1 to 1: a factor of ten (t)."
        ),
        artifacts=("npf_fig3",),
        reads={"kernels": "npf/experiments/kvf_runs.csv"},
        sections=(("npf", "kvf"),),
        roles=("mnist",),
        judge=npf_kvf.n22,
    ),
    Claim(
        id="N25",
        paper="npf",
        place="Table 2",
        statement="The test accuracies of Table 2, all thirty.",
        rule=(
            "Every cell: mean best test accuracy within twice the printed standard deviation plus "
            "one point of the printed mean (t)."
        ),
        artifacts=("npf_table2",),
        presets=PAPER,
        otherwise="only the paper's own data and sizes have its numbers",
        judge=npf_accuracy.n25,
        **{**TABLE2, "reads": {**TABLE2["reads"], "cells": "npf/experiments/regimes.csv"}},
    ),
)

NUMBERS: tuple[Numbers, ...] = tuple(
    Numbers(artifact=artifact, quantity=quantity, find=find, **source)
    for artifact, quantity, find, source in (
        ("npf_table2", "test_accuracy", npf_accuracy.table2_numbers, TABLE2),
        ("npf_fig3", "test_accuracy", npf_numbers.fig3_numbers, STAGES),
        ("npf_text", "test_accuracy", npf_numbers.text_numbers, STAGES),
        ("npf_text", "accuracy_gain", npf_numbers.cntk_gain_numbers, CNTK),
        ("npf_text", "train_accuracy", npf_numbers.train_numbers, TABLE2),
        ("npf_text", "best_depth", npf_memorisation.best_depths, MEMORISATION),
        ("npf0_table2", "test_accuracy", npf_accuracy.table2_numbers, TABLE2),
        ("npf0_fig3", "test_accuracy", npf_numbers.fig3_numbers, STAGES),
        ("npf0_text", "test_accuracy", npf_numbers.text_numbers, STAGES),
    )
)
