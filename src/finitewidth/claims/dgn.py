"""What the paper claims, and where our counterparts of its numbers come from."""

from finitewidth.claims.judges import dgn_theory, npf_theory
from finitewidth.claims.ledger import LAPTOP, PAPER, Claim
from finitewidth.claims.reported import Numbers

CLAIMS = (
    Claim(
        id="D02",
        paper="dgn",
        place="Thm 2.3",
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
        reads={"variance": "npf/experiments/theory_variance.csv"},
        sections=(("npf", "theory"),),
        judge=npf_theory.d02,
    ),
    Claim(
        id="D04",
        paper="dgn",
        place="Fig 2",
        statement="W=500: K0(s,s)/d about 1, K0(s,s')/d about mu^{d-1}.",
        rule="Mean over 20 runs vs ideal: within 3 SE for each d.",
        artifacts=("dgn_fig2",),
    ),
    Claim(
        id="D05",
        paper="dgn",
        place="Fig 1",
        statement="Wider net is closer to the ideal spectrum.",
        rule="L2 distance between cumulative curves, w=500 vs 25: smaller for every d.",
        artifacts=("dgn_fig1",),
    ),
    Claim(
        id="D06",
        paper="dgn",
        place="Fig 3 text",
        statement="Convergence gets better with depth.",
        rule="Monotone decrease of error ratio over d: monotone up to d=20 for both widths.",
        artifacts=("dgn_fig3",),
    ),
    Claim(
        id="D07",
        paper="dgn",
        place="Exp 2",
        statement="GaLU: spectrum and convergence improve with depth.",
        rule="Error ratio at 1e3, 1e4 vs d: monotone decreasing (1 SE slack).",
        artifacts=("dgn_fig4",),
    ),
    Claim(
        id="D08",
        paper="dgn",
        place="Exp 2",
        statement="GaLU optimises better than ReLU and has the better spectrum.",
        rule=(
            "Paired difference of error ratio and of trace/rho_max, d>=4: GaLU better at all d>=4."
        ),
        artifacts=("dgn_fig4",),
    ),
    Claim(
        id="D09",
        paper="dgn",
        place="Sect. 1",
        statement="A ReLU network without biases cannot fit (x, 1) and (2x, -1).",
        rule=(
            "No training without biases (1, 2 and 4 hidden layers, 20 runs or more each) has at "
            "any step a sum of squares below 9/5 - 1e-6, the least of (a-1)^2 + (2a+1)^2; with "
            "biases every architecture gets below 0.01, or the optimiser could not tell."
        ),
        reads={"fits": "dgn/experiments/theory_fits.csv"},
        sections=(("dgn", "theory"),),
        judge=dgn_theory.d09,
    ),
    Claim(
        id="D11",
        paper="dgn",
        place="Exp 8",
        statement="First-step error ratio e1^2/e0^2 = 0.81 for every depth.",
        rule="Median over 200 draws: in [.79,.84].",
        artifacts=("dgn_fig10",),
    ),
    Claim(
        id="D12",
        paper="dgn",
        place="Exp 8",
        statement="Actual convergence is faster than 0.81^t because K_t grows.",
        rule="Steps to 1e-2; K_T/K_0: steps < 21.9 and K_T/K_0 > 1 for each d.",
        artifacts=("dgn_fig10",),
    ),
    Claim(
        id="D13",
        paper="dgn",
        place="Exp 8",
        statement="Error dynamics similar across depths.",
        rule="Spread of steps to 1e-2: max/min <= 1.3.",
        artifacts=("dgn_fig10",),
    ),
    Claim(
        id="D14",
        paper="dgn",
        place="Sect. 3",
        statement="GaLU trains a bit faster than ReLU on MNIST.",
        rule="Epochs to 99% train accuracy: GaLU < ReLU.",
        artifacts=("dgn_fig5",),
        presets=LAPTOP,
    ),
    Claim(
        id="D15",
        paper="dgn",
        place="Sect. 3",
        statement="Test accuracy about 96.5 (GaLU) and 98.5 (ReLU).",
        rule="Means: within .7 each and ReLU-GaLU >= 1.",
        artifacts=("dgn_fig5",),
        presets=LAPTOP,
    ),
    Claim(
        id="D16",
        paper="dgn",
        place="Fig 5",
        statement="Both fit MNIST, random labels and random pixels.",
        rule="Final train accuracy: >= .99 in all six.",
        artifacts=("dgn_fig5",),
        presets=LAPTOP,
    ),
    Claim(
        id="D17",
        paper="dgn",
        place="Exp 3",
        statement="Three adaptive-gate nets generalise better than frozen GaLU.",
        rule="Test mse/accuracy difference: 3/3 better, p<.05.",
        artifacts=("dgn_fig7",),
    ),
    Claim(
        id="D18",
        paper="dgn",
        place="Exp 4",
        statement="ReLU beats frozen ReLU with identical init.",
        rule="Paired difference: > 0, p<.05.",
        artifacts=("dgn_fig7",),
    ),
    Claim(
        id="D19",
        paper="dgn",
        place="Exp 5",
        statement="Learnt frozen gates beat unlearnt frozen gates.",
        rule="Paired difference: > 0, p<.05.",
        artifacts=("dgn_fig7",),
    ),
    Claim(
        id="D20",
        paper="dgn",
        place="Exp, Fig 8",
        statement="Nu is smaller for learnt/adaptive gates, always bounded by the frozen case.",
        rule="Nu curves (4 kernels): smaller at every snapshot after the first quarter.",
        artifacts=("dgn_fig8",),
    ),
    Claim(
        id="D21",
        paper="dgn",
        place="Exp 6",
        statement="56% on CIFAR-10 by training gates only.",
        rule="Mean best test accuracy: 56 +- 3.",
        presets=PAPER,
    ),
    Claim(
        id="D22",
        paper="dgn",
        place="Table 4",
        statement=(
            "Accuracy rises with beta, saturates by beta=8, and at large beta matches ReLU; eps "
            "matters little."
        ),
        rule=(
            "Differences: monotone within .01; acc(24)-acc(8) <= .015; |acc(16..24)-ReLU| <= "
            ".015; |eps .1 - eps .4| <= .03."
        ),
        artifacts=("dgn_table4",),
        presets=PAPER,
    ),
    Claim(
        id="D24",
        paper="dgn",
        place="Table 4",
        statement="All non-linear nets fit train to .99; the deep linear net does not (.50/.39).",
        rule="Train/test: >= .985; DLN within .02.",
        artifacts=("dgn_table4",),
        presets=PAPER,
    ),
    Claim(
        id="D25",
        paper="dgn",
        place="Lemma 4.1, Fig 9",
        statement=(
            "Conv + average pooling: d_in paths share each strength (8 strengths in the example) "
            "and the expected output kernel is invariant to cyclic shifts."
        ),
        rule=(
            "Enumeration; MC kernel of (x,x') vs (x,shift x'): 24 paths, 8 strengths; diff < 3 SE."
        ),
        artifacts=("dgn_fig9",),
    ),
)

NUMBERS: tuple[Numbers, ...] = ()
