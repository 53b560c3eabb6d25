"""Claims of npf that need no dataset: theorems on fixed gates, and networks that memorise."""

from finitewidth.claims.judges import npf_memorisation, npf_theory
from finitewidth.claims.ledger import Claim
from finitewidth.claims.needs import FEWEST_RUNS, AtLeast, Covers, Entries
from finitewidth.claims.verdicts import BOUND, OBSERVATION, THEOREM
from finitewidth.common.texts import Quote, quoted

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

CLAIMS = (
    Claim(
        id="N04",
        paper="npf",
        place="Theorem B.1",
        kind=THEOREM,
        statement=(
            "With value weights of ±sigma that are independent of the gates, the mean of K^v is d "
            "sigma^{2(d-1)} H, at any width."
        ),
        quotes=quoted(
            "npf", (385, r"Theorem B.1. $\mathbb{E} [K_{\Theta_0^{\text{DGN}}}^v] = d \cdot")
        ),
        sizes="any width, depth, gates and inputs",
        rule=(
            "The paper prints an equation. Over all networks of three small shapes no entry of the "
            "mean differs by more than rounding, 1e-12 of the largest. Over drawn networks (2,000 "
            "or more; 20 inputs; gates of a ReLU network, or random; d = 3, 5, 8) no entry is more "
            "than 4.5 standard errors away, and the mean trace is within 5 % of the formula's: "
            "what sampling leaves of the equation."
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
        kind=THEOREM,
        statement=(
            "With gates that are independent of the values, which are ±sigma'/sqrt(w), the tangent "
            "kernel K^v tends to d sigma^{2(d-1)} H as the width w tends to infinity."
        ),
        quotes=quoted(
            "npf",
            (173, r"For $\sigma = \frac{\sigma'}{\sqrt{w}}$, as $w \rightarrow \infty$,"),
            (175, r"K_{FNPF}^{(d)} = d \cdot \sigma^{2(d-1)} \cdot H_{FNPF}"),
        ),
        sizes="the limit of infinite width, at any depth",
        rule=(
            "For d = 3, 5, 8 the log-log slope of the relative Frobenius error over the width (16 "
            "to 512 or more) is below 0, and the mean log error at w = 512 is below that at 64: no "
            "limit is reached, but the errors fall. Ours, set after a first look: the slope lies "
            "in -0.65 to -0.35, around the -1/2 that the variance bound of order 1/w gives."
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
        kind=BOUND,
        statement=(
            "With gates fixed and weights of ±sigma'/sqrt(w), the variance of an entry of the "
            "tangent kernel is at most C d_in^2 d^3 / w."
        ),
        quotes=quoted(
            "npf",
            (508, r"\text{Var} [K(x, x')] \leq C d_{in}^2 \frac{d^3}{w}"),
            (520, r"\leq 6d_{\text{in}}^2 \sigma'^2 \left(\frac{6d^3}{w}\right)"),
        ),
        sizes="any depth; the proof's series converges at widths w > 6 d",
        rule=(
            "Exact variances of K(s, s), all or half of the gates open, sigma^2 one over the "
            "number of open units, at widths above 6 d. For d = 4, 8, 16, 32 they are at most the "
            "bound that the proof prints. Its constant is large. Ours, set after a first look, for "
            "its order: the log-log slope over the width lies in -1.2 to -0.8; at w = 512 and 1024 "
            "Var w / d^3 is at d = 32 at most 1.5 times that at d = 16."
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
            "Theorem 5.1 leaves out networks whose gates come from the weights of the values, as "
            "in a ReLU network: its limit d sigma^{2(d-1)} H is another one than theirs. The "
            "earlier version says that the limits differ; the final one that the assumption of "
            "independence does not hold."
        ),
        quotes=(
            Quote(text="npf", line=177, words="does not capture the conditions at initialisation"),
            Quote(text="npf0", line=47, words=r"is different from the $K^{(d)}$ matrix"),
        ),
        sizes="the limit of infinite width; gates and values from the same weights",
        rule=(
            "For d = 3, 5, 8 the relative Frobenius error under Theta^f = Theta^v is above 0 at "
            "infinite width. Ours, set after a first look: it is at least 0.5 there and at w = "
            "512, and its log-log slope over the widths from 64 on is at least -0.25."
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
        kind=THEOREM,
        statement=(
            "Padding the gates of a feature network of finite width m times, with sigma / sqrt(m), "
            "gives the limit d sigma^{2(d-1)} H of the unpadded network as m tends to infinity."
        ),
        quotes=quoted(
            "npf",
            (558, r"$\sigma_{(m)} = \sigma/\sqrt{m}$, as $m \rightarrow \infty$,"),
            (560, r"= d \cdot \sigma^{2(d-1)} H_{FNPF}"),
        ),
        sizes="the limit of infinitely many copies, at any width and depth of the feature network",
        rule=(
            "For d = 3, 5, 8 the log-log slope over m of the relative Frobenius error against d "
            "sigma^{2(d-1)} H of the unpadded network is below 0: no limit is reached, but the "
            "errors fall. Ours: it lies in -0.65 to -0.35, around the -1/2 that the variance bound "
            "of order 1/(m w) gives."
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
            "Networks of width 25 with fixed random gates: increasing the depth up to 8 improves "
            "the convergence, increasing it beyond 8 worsens it."
        ),
        quotes=quoted(
            "npf", (622, "increasing depth till $d = 8$ improves the convergence, however")
        ),
        sizes="width 25, depths 2 to 20, 200 targets, mean of 10 runs; no number of steps",
        rule=(
            "Gradient descent after 100 and after 1000 steps, log10 |e_t|^2/|e_0|^2, mean over "
            "runs, Welch's t: it falls from each depth of Figure 7 to the next up to 8, and it is "
            "larger at 12, 16 and 20 than at 8. Ours: both numbers of steps, since the paper names "
            "none, and logarithms, since runs differ by powers of ten."
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
            "Networks of width 500 with fixed random gates: increasing the depth up to 12 improves "
            "the convergence; depths 16 and 20 are worse than 12."
        ),
        quotes=quoted(
            "npf",
            (622, "increasing the depth till $d = 12$ improves convergence"),
            (622, "$d = 16, 20$ are worse than $d = 12$"),
        ),
        sizes="width 500, depths 2 to 20, 200 targets, mean of 10 runs; no number of steps",
        rule=(
            "Gradient descent after 100 steps, log10 |e_t|^2/|e_0|^2, mean over runs, Welch's t: "
            "it falls from each depth of Figure 7 to the next up to 12, and it is larger at 16 and "
            "20 than at 12. Ours: the number of steps, since the paper names none, and logarithms, "
            "since runs differ by powers of ten."
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
)
