"""Claims of dgn on kernels, optimisation and paths (sections 1, 2 and 4); they need no images."""

from finitewidth.claims.judges import (
    dgn_concepts,
    dgn_dynamics,
    dgn_theory,
    npf_memorisation,
    npf_theory,
)
from finitewidth.claims.ledger import Claim
from finitewidth.claims.needs import FEWEST_RUNS, AtLeast, Covers, Entries
from finitewidth.claims.verdicts import OBSERVATION

KERNELS = {"kernels": "npf_memorisation.kernels"}
PLANAR = {"errors": "dgn_planar.errors", "kernels": "dgn_planar.kernels"}
DEEP_LINEAR = {"runs": "dgn_deep_linear.runs"}

MEMORISATION_DEPTHS = Covers("npf.memorisation.task.depths", npf_memorisation.DEPTHS)
BOTH_WIDTHS = Covers("npf.memorisation.widths.*", (npf_memorisation.NARROW, npf_memorisation.WIDE))
# the sizes of experiment 2
EXPERIMENT2 = (
    Covers("dgn.planar.depths", dgn_dynamics.PLANAR_DEPTHS),
    AtLeast("dgn.planar.samples", 100),
    AtLeast("dgn.planar.width", 100),
    AtLeast("dgn.planar.runs", FEWEST_RUNS),
    AtLeast("dgn.planar.steps", dgn_dynamics.EARLY),
)
# The sizes of experiment 8. At d = 10 the kernel at the start has a relative standard deviation of
# 0.29, so that its mean over 20 runs is known to 7 %.
EXPERIMENT8 = (
    Covers("dgn.deep_linear.depths", dgn_dynamics.LINEAR_DEPTHS),
    AtLeast("dgn.deep_linear.width", 100),
    AtLeast("dgn.deep_linear.runs", 20),
)
# 0.81^t falls to a hundredth in 22 steps.
TO_A_HUNDREDTH = AtLeast("dgn.deep_linear.steps", 22)

CLAIMS = (
    Claim(
        id="D02",
        paper="dgn",
        place="Theorem 2.3",
        kind=OBSERVATION,
        statement=(
            "With gates fixed and sigma^2 one over the number of open units, the variance of an "
            "entry of K_0 is O(max(d^2 / w, d^3 / w^2))."
        ),
        rule=(
            "Exact variances of K_0(s, s), all or half of the gates open: at w = 512 and 1024, "
            "where d^2 / w is the larger term, Var w / d^2 is at d = 32 at most twice that at d = "
            "4."
        ),
        artifacts=("npf_extra_theory",),
        reads={"variance": "npf_theory.variance"},
        needs=(
            Covers("npf.theory.variance.depths", (4, 32)),
            Covers("npf.theory.variance.widths", npf_theory.WIDE),
        ),
        judge=npf_theory.d02,
    ),
    Claim(
        id="D04",
        paper="dgn",
        place="Figure 2",
        kind=OBSERVATION,
        statement=(
            "At width 500, K_0(s, s)/d is about 1 and K_0(s, s')/d about mu^(d-1), at every "
            "depth to 20."
        ),
        rule=(
            "Mean over runs of entry (0, 0) of K_0/d within 0.25 of 1 and of entry (0, 1) "
            "within 0.05 of mu^(d-1), by t on both sides. Not within 3 standard errors, as "
            "first planned: the less one measured, the better that would hold."
        ),
        artifacts=("dgn_fig2",),
        reads={**KERNELS, "entries": "npf_memorisation.entries"},
        needs=(
            MEMORISATION_DEPTHS,
            Covers("npf.memorisation.widths.*", (npf_memorisation.WIDE,)),
            AtLeast("npf.memorisation.runs", FEWEST_RUNS),
        ),
        judge=npf_memorisation.d04,
    ),
    Claim(
        id="D05",
        paper="dgn",
        place="Figure 1",
        kind=OBSERVATION,
        statement=(
            "The cumulative spectrum of K_0/d is closer to the ideal one at width 500 than at "
            "width 25."
        ),
        rule=(
            "Euclidean distance between the cumulative spectra of each run and the ideal: mean "
            "at width 25 minus that at width 500 is at least 0 at every depth, by Welch's t."
        ),
        artifacts=("dgn_fig1",),
        reads=KERNELS,
        needs=(
            MEMORISATION_DEPTHS,
            BOTH_WIDTHS,
            # the number of eigenvalues in Figure 1
            AtLeast("npf.memorisation.task.samples", 200),
            AtLeast("npf.memorisation.runs", FEWEST_RUNS),
        ),
        judge=npf_memorisation.d05,
    ),
    Claim(
        id="D06",
        paper="dgn",
        place="Figure 3",
        kind=OBSERVATION,
        statement="Fixed random gates converge better the deeper the network, at both widths.",
        rule=(
            "Gradient descent after 100 steps, widths 25 and 500: mean log10 |e_t|^2/|e_0|^2 of "
            "each depth minus that of the one before it is at most 0, by Welch's t. Same rows "
            "as N12 and N13, which say otherwise."
        ),
        artifacts=("dgn_fig3",),
        reads={"errors": "npf_memorisation.errors"},
        needs=(
            MEMORISATION_DEPTHS,
            BOTH_WIDTHS,
            # the number of targets in Figure 3
            AtLeast("npf.memorisation.task.samples", 200),
            AtLeast("npf.memorisation.descent.narrow.steps", 100),
            AtLeast("npf.memorisation.descent.wide.steps", 100),
            AtLeast("npf.memorisation.descent.narrow.runs", FEWEST_RUNS),
            # Two runs are the fewest with an interval. Wide networks descend for long, and the
            # narrow ones, of which more runs are cheap, can contradict the claim by themselves.
            AtLeast("npf.memorisation.descent.wide.runs", 2),
        ),
        judge=npf_memorisation.d06,
    ),
    Claim(
        id="D07",
        paper="dgn",
        place="Experiment 2",
        kind=OBSERVATION,
        statement="Spectrum and convergence of GaLU networks get better with depth.",
        rule=(
            "From each depth to the next, paired by run: log10 |e_t|^2/|e_0|^2 of gradient "
            "descent falls, after 1000 steps and, where it went on, after 10,000; trace over "
            "largest eigenvalue of K_0 rises."
        ),
        artifacts=("dgn_fig4",),
        reads=PLANAR,
        needs=EXPERIMENT2,
        judge=dgn_dynamics.d07,
    ),
    Claim(
        id="D08",
        paper="dgn",
        place="Experiment 2",
        kind=OBSERVATION,
        statement="GaLU networks optimise better than ReLU networks and have the better spectrum.",
        rule=(
            "At every depth from 4 on, paired by run: log10 |e_t|^2/|e_0|^2 of gradient descent "
            "is smaller for GaLU, after 1000 steps and, where it went on, after 10,000; trace "
            "over largest eigenvalue of K_0 is larger."
        ),
        artifacts=("dgn_fig4",),
        reads=PLANAR,
        needs=EXPERIMENT2,
        judge=dgn_dynamics.d08,
    ),
    Claim(
        id="D09",
        paper="dgn",
        place="Section 1",
        kind=OBSERVATION,
        statement="A ReLU network without biases cannot fit (x, 1) and (2x, -1).",
        rule=(
            "No training without biases (1, 2 and 4 hidden layers, 20 runs or more each) has at "
            "any step a sum of squares below 9/5 - 1e-6, the least of (a-1)^2 + (2a+1)^2; with "
            "biases every architecture gets below 0.01, or the optimiser could not tell."
        ),
        reads={"fits": "dgn_theory.fits"},
        needs=(
            # the numbers of the rule
            Covers("dgn.theory.fit.networks.*.hidden", (1, 2, 4)),
            AtLeast("dgn.theory.runs", 20),
        ),
        judge=dgn_theory.d09,
    ),
    Claim(
        id="D11",
        paper="dgn",
        place="Experiment 8",
        kind=OBSERVATION,
        statement=(
            "With step size 0.1/d the first step leaves 0.81 of the squared error at every depth."
        ),
        rule="Median of e_1^2/e_0^2 over runs between 0.79 and 0.84 at every depth.",
        artifacts=("dgn_fig10",),
        reads=DEEP_LINEAR,
        needs=(
            *EXPERIMENT8,
            # At d = 10 the ratio has a standard deviation of 0.05. The median of 100 runs is known
            # to 0.006, a third of the distance from 0.81 to the nearer end of the rule's interval.
            AtLeast("dgn.deep_linear.runs", 100),
        ),
        judge=dgn_dynamics.d11,
    ),
    Claim(
        id="D12",
        paper="dgn",
        place="Experiment 8",
        kind=OBSERVATION,
        statement="Deep linear networks converge faster than 0.81^t, because K_t grows.",
        rule=(
            "Mean steps to a hundredth of e_0^2 at most those of 0.81^t (21.9), and mean "
            "K_T/K_0 at least 1, at every depth."
        ),
        artifacts=("dgn_fig10",),
        reads=DEEP_LINEAR,
        needs=(*EXPERIMENT8, TO_A_HUNDREDTH),
        judge=dgn_dynamics.d12,
    ),
    Claim(
        id="D13",
        paper="dgn",
        place="Experiment 8",
        kind=OBSERVATION,
        statement="Error dynamics are similar whatever the depth.",
        rule=(
            "Steps to a hundredth of e_0^2: geometric means of any two depths differ by a "
            "factor of at most 1.3, by Welch's t on both sides."
        ),
        artifacts=("dgn_fig10",),
        reads=DEEP_LINEAR,
        needs=(*EXPERIMENT8, TO_A_HUNDREDTH),
        judge=dgn_dynamics.d13,
    ),
    Claim(
        id="D25",
        paper="dgn",
        place="Lemma 4.1, Figure 9",
        kind=OBSERVATION,
        statement=(
            "In a circular convolution network with an average at its end the paths share their "
            "strengths, as many paths each as there are inputs (24 paths and 8 strengths in the "
            "example), and the expected kernel of the output does not change when an input is "
            "shifted in a circle."
        ),
        rule=(
            "Listed: d_in times kernel^(layers) paths, kernel^(layers) strengths, every strength "
            "shared by d_in paths. Averaged over all signs of the weights, for all signs of the "
            "gating network's: the kernel equals Lemma 4.1's sum over bundles, and the kernel of "
            "an input with every shift of another equals the kernel without shift, both within "
            "1e-12 of the largest entry."
        ),
        artifacts=("dgn_fig9",),
        reads={
            "connections": "dgn_concepts.connections",
            "paths": "dgn_concepts.paths",
            "kernel": "dgn_concepts.kernel",
        },
        needs=(
            # A kernel of one tap, or two inputs, would make most of the shifts trivial.
            AtLeast("dgn.concepts.convolution.inputs", 3),
            AtLeast("dgn.concepts.convolution.kernel", 2),
            AtLeast("dgn.concepts.convolution.layers", 2),
            # the kernel of two different inputs
            Entries("dgn.concepts.convolution.examples", 2),
        ),
        judge=dgn_concepts.d25,
    ),
)
