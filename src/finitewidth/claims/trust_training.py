"""Claims of trust on trained networks (Section 4 and Appendix D): Figures 3, 4 and 8 to 11.

Statistics that differ from those planned first were set after previews at smaller sizes, before the
first run of the experiment; each rule says what was planned.
"""

from finitewidth.claims.judges import trust_descent
from finitewidth.claims.ledger import Claim
from finitewidth.claims.needs import FEWEST_RUNS, AtLeast, Entries
from finitewidth.claims.verdicts import HEDGED, OBSERVATION
from finitewidth.common.texts import quoted

ACTIVATIONS = ("tanh", "relu")
BORDERS = {"tanh": 3.44, "relu": 2.0}  # at sigma_b^2 = 1
DESCENTS = {
    f"{activation}_{table}": f"trust_descent_{activation}.{table}"
    for activation in ACTIVATIONS
    for table in ("changes", "networks", "borders")
}
EACH = (
    "tanh and ReLU, the first sigma_b^2, mean over seeds of a statistic of each. Cells whose rate "
    "exceeds 2 / lambda_max at the start are left out, since the paper says that none does. "
    "Ordered and chaotic: up to 3/4 and from 5/4 of the border's weight variance."
)
RUNS = tuple(AtLeast(f"trust.descent_{name}.runs", FEWEST_RUNS) for name in ACTIVATIONS)
# the times of T16, and more than the first steps, which remove the mean of the outputs
STEPS = tuple(AtLeast(f"trust.descent_{name}.steps", 1000) for name in ACTIVATIONS)
# weight variances of both phases, and the border's
PHASES = tuple(
    need
    for name, border in BORDERS.items()
    for need in (
        Entries(f"trust.descent_{name}.sigma_w2", 2, high=0.75 * border),
        Entries(f"trust.descent_{name}.sigma_w2", 2, low=1.25 * border),
        Entries(f"trust.descent_{name}.sigma_w2", 1, low=0.98 * border, high=1.02 * border),
    )
)
# depths at which networks are deep, 10 among them or near
DEEP = tuple(Entries(f"trust.descent_{name}.depths", 2, low=10) for name in ACTIVATIONS)
NEEDS = (*RUNS, *STEPS, *PHASES, *DEEP)
WIDTHS = tuple(Entries(f"trust.descent_{name}.widths", 3) for name in ACTIVATIONS)
TRAINED = (
    "tanh and ReLU networks of width 256, 128 MNIST images, learning rate 1e-5, at most 1e5 steps "
    "(Figures 3 and 4)"
)

CLAIMS = (
    Claim(
        id="T10",
        paper="trust",
        place="Section 4",
        kind=OBSERVATION,
        statement=(
            "In the ordered phase training changes the NTK little at any depth, and no more in "
            "deeper networks."
        ),
        quotes=quoted(
            "trust",
            (146, "is small throughout training for any depth"),
            (49, "caused by training is small and does not increase with"),
        ),
        sizes=f"{TRAINED}, any depth",
        rule=(
            f"{EACH} Ours: the largest change of ordered networks with L >= 5 is at most 0.15, as "
            "planned; their mean change at the deepest L exceeds that at L = 10 by at most 0.05. "
            "Planned first: no slope in L above 0, which shallow networks decide, since their "
            "change rises from almost 0 with L whatever the phase."
        ),
        artifacts=("trust_fig3", "trust_fig4"),
        reads=DESCENTS,
        needs=NEEDS,
        judge=trust_descent.t10,
    ),
    Claim(
        id="T11",
        paper="trust",
        place="Section 4",
        kind=OBSERVATION,
        statement=(
            "In the chaotic phase training changes the NTK significantly, and more in deeper "
            "networks."
        ),
        quotes=quoted("trust", (144, "is significant and increases with depth")),
        sizes=f"{TRAINED}, depths that train",
        rule=(
            f"{EACH} The slope of the change in L, mean over chaotic weight variances, is above 0. "
            "Ours: the mean change at the deepest L that is not left out is above 0.5."
        ),
        artifacts=("trust_fig3", "trust_fig4"),
        reads=DESCENTS,
        needs=NEEDS,
        judge=trust_descent.t11,
    ),
    Claim(
        id="T12",
        paper="trust",
        place="Section 4",
        kind=OBSERVATION,
        statement=(
            "In a region close to the border the NTK of deep networks changes more than in the "
            "ordered phase, and by far less than its own size."
        ),
        quotes=quoted(
            "trust", (148, "larger than in the ordered phase but still remains way below 1")
        ),
        sizes=f"{TRAINED}, deep networks close to the border",
        rule=(
            f"{EACH} Mean change over L >= 5 at the weight variance nearest to the border: above "
            'that of ordered networks, and below 1, the paper\'s; its "deep" has no number, and '
            "L >= 5 is ours."
        ),
        artifacts=("trust_fig3", "trust_fig4"),
        reads=DESCENTS,
        needs=NEEDS,
        judge=trust_descent.t12,
    ),
    Claim(
        id="T13",
        paper="trust",
        place="Section 4",
        kind=HEDGED,
        statement=(
            "The change of the NTK in training switches its behaviour around the theoretical "
            "border."
        ),
        quotes=quoted("trust", (142, "changes significantly around the theoretical border")),
        hedge="around",
        sizes=TRAINED,
        rule=(
            "Ours: the change, mean over L >= 8 and over seeds, made to rise by isotonic "
            "regression, rises most steeply between two weight variances whose middle lies within "
            "15 per cent of the border's. Cells whose rate exceeds 2 / lambda_max are kept, since "
            "a curve needs all weight variances; those with a diverged seed are not."
        ),
        artifacts=("trust_fig3", "trust_fig4"),
        reads=DESCENTS,
        needs=NEEDS,
        judge=trust_descent.t13,
    ),
    Claim(
        id="T14",
        paper="trust",
        place="Section 4",
        kind=HEDGED,
        statement=(
            "Ordered networks become untrainable at much smaller depths than chaotic ones; at L = "
            "20 most of them cannot reach a low loss."
        ),
        quotes=quoted(
            "trust",
            (150, "Networks become untrainable with depth much faster in the ordered phase"),
            (150, "already mostly cannot reach low training loss values"),
        ),
        hedge="mostly; in our experiments",
        sizes=f"{TRAINED}, L = 20 in the ordered phase",
        rule=(
            f"{EACH} Lowest loss, at the deepest L up to 20 with cells of both phases: the mean of "
            "ordered networks is above that of chaotic ones. Ours: at the deepest L up to 20 more "
            "than half of the ordered networks keep at least 90 per cent of the loss of the best "
            "constant output. Planned first: half of the initial loss, which the random constant "
            "of the outputs raises tenfold at sigma_b^2 = 1. Judged at the common rate, as the "
            "paper's; trust_extra_scaled shows the same networks at 1 / lambda_max of each."
        ),
        artifacts=("trust_fig3", "trust_fig4", "trust_extra_scaled"),
        reads=DESCENTS,
        needs=NEEDS,
        judge=trust_descent.t14,
    ),
    Claim(
        id="T15",
        paper="trust",
        place="Section 4",
        kind=HEDGED,
        statement="Networks that take more steps to train mostly change their NTK little.",
        quotes=quoted("trust", (154, "take more iterations to train show mostly small changes")),
        hedge="mostly",
        sizes=TRAINED,
        rule=(
            f"{EACH} Spearman's correlation of steps taken and change over all cells: below 0. "
            "Ours: below -0.3. No correlation if fewer than 10 per cent of the networks met the "
            "stopping rule: the others took all steps."
        ),
        artifacts=("trust_fig3", "trust_fig4"),
        reads=DESCENTS,
        needs=NEEDS,
        judge=trust_descent.t15,
    ),
    Claim(
        id="T16",
        paper="trust",
        place="Appendix D",
        kind=OBSERVATION,
        statement=(
            "The NTK of deep chaotic networks changes significantly early in training; that of "
            "ordered ones changes very little for a long time."
        ),
        quotes=quoted(
            "trust",
            (360, "changes significantly already in the early stages of training"),
            (360, "display very low changes in the NTK norm for a long time"),
        ),
        sizes=f"{TRAINED}; after 10 to 10,000 steps (Figures 8 and 9)",
        rule=(
            f"{EACH} Median change of chaotic networks over that of ordered ones, after 10 and 100 "
            "steps, at the deepest two L >= 8 with cells of both phases: above 1, the paper's, in "
            "a range of ours, since its deep and early have no number. Ours: above 10. Planned "
            "first: of all deep networks at once."
        ),
        artifacts=("trust_fig8", "trust_fig9"),
        reads=DESCENTS,
        needs=NEEDS,
        judge=trust_descent.t16,
    ),
    Claim(
        id="T17",
        paper="trust",
        place="Appendix D",
        kind=HEDGED,
        statement=(
            "The NTK of wider networks changes less overall, and the transition shows at every "
            "width."
        ),
        quotes=quoted(
            "trust",
            (362, "values overall result in smaller changes of the NTK"),
            (362, "with all the width values, one can see the transition from ordered to chaotic"),
        ),
        hedge="overall",
        sizes="as Figures 3 and 4, at widths 128, 256 and 512 (Figures 10 and 11)",
        rule=(
            f"{EACH} Median over all cells of the log ratio of changes at neighbouring widths: "
            "below 0. Mean change over L >= 5: larger in chaotic than in ordered networks, at "
            "every width. Widths with fewer than three seeds are left out."
        ),
        artifacts=("trust_fig10", "trust_fig11"),
        reads=DESCENTS,
        needs=(*NEEDS, *WIDTHS),
        judge=trust_descent.t17,
    ),
)
