"""What the paper claims, and where our counterparts of its numbers come from."""

from finitewidth.claims.judges import npf_accuracy
from finitewidth.claims.ledger import LAPTOP, PAPER, Claim
from finitewidth.claims.reported import Numbers

# E-NPF-T2, rule npf_regimes
TABLE2 = {
    "reads": {"runs": "npf/experiments/regimes_runs.csv"},
    "sections": (("npf", "table2"),),
    "roles": ("mnist", "cifar10"),
}

CLAIMS = (
    Claim(
        id="N04",
        paper="npf",
        place="Thm B.1 (5.1)",
        statement=(
            "With independent +-sigma value weights, E[K^v] = d sigma^{2(d-1)} H already at "
            "finite width."
        ),
        rule="Entrywise z over 2000 inits: max z < 4.5 (n=20 points).",
    ),
    Claim(
        id="N05",
        paper="npf",
        place="Thm 5.1",
        statement="NTK -> const x NPK as width grows.",
        rule=(
            "Log-log slope of relative Frobenius error vs w in {16..512}, d=3,5,8: slope in "
            "[-0.65,-0.35] and error(512) < error(64)."
        ),
    ),
    Claim(
        id="N06",
        paper="npf",
        place="Thm B.2",
        statement="Var of an NTK entry is O(d^3/w).",
        rule=(
            "Slope of Var in w; Var*w/d^3 over d=4..32 at w>=512 (gates half on, "
            "sigma=sqrt(2/w)): slope -1+-0.2; Var*w/d^3 saturates (d=32 over d=16 < 1.5)."
        ),
    ),
    Claim(
        id="N07",
        paper="npf",
        place="Sect. 5",
        statement=(
            "Independence of gates and values is needed in the theorem (ReLU/DI case not covered)."
        ),
        rule=(
            "Relative error and kernel correlation at w=512 under Theta^f=Theta^v: error does NOT "
            "shrink: > 0.5."
        ),
    ),
    Claim(
        id="N10",
        paper="npf",
        place="Cor. C.1",
        statement=(
            "Padding gates m times with sigma/sqrt(m) gives the same limit without widening the "
            "feature net."
        ),
        rule="Slope of rel. error vs m: -0.5+-0.15.",
        artifacts=("npf_table4",),
    ),
    Claim(
        id="N12",
        paper="npf",
        place="App. D.1",
        statement="W=25: deeper helps until d=8, then hurts.",
        rule=(
            "Argmin over d of error ratio at t=100 and 1000 (10 runs): argmin = 8 (accept 6 if "
            "within 1 SE) and ratio(20) > ratio(8)."
        ),
        artifacts=("npf_fig7",),
    ),
    Claim(
        id="N13",
        paper="npf",
        place="App. D.1",
        statement="W=500: best at d=12; 16 and 20 worse than 12.",
        rule="Same at t=100: ratio(16),ratio(20) > ratio(12) by > 1 SE.",
        artifacts=("npf_fig7",),
    ),
    Claim(
        id="N14",
        paper="npf",
        place="6.2(1)",
        statement="FRNPF-II and FRNPF-DI do not differ significantly.",
        rule="Every row: |mean difference| < 1 point, by Welch's t on both sides.",
        artifacts=("npf_table2",),
        presets=LAPTOP,
        otherwise="networks this small are not told apart by a point",
        judge=npf_accuracy.n14,
        **TABLE2,
    ),
    Claim(
        id="N15",
        paper="npf",
        place="6.2(1)",
        statement="Decoupled learning beats fixed random gates.",
        rule="DLNPF - max(FRNPF) per row: > 0 with one-sided p<.05 in 6/6.",
        artifacts=("npf_table2",),
        presets=LAPTOP,
    ),
    Claim(
        id="N16",
        paper="npf",
        place="6.2(2)",
        statement="GCONV/Adam: {FRNPF} < CNTK 77.43 < {FLNPF, ReLU}.",
        rule="Group means vs constant: all on the stated side by > 2 SE.",
        artifacts=("npf_table2",),
        presets=PAPER,
    ),
    Claim(
        id="N17",
        paper="npf",
        place="6.2(2), omitted",
        statement="Every model with gate learning beats CNTK.",
        rule="DLNPF GCONV/Adam vs 77.43: > 77.43.",
        artifacts=("npf_table2",),
        presets=PAPER,
    ),
    Claim(
        id="N18",
        paper="npf",
        place="6.2(3)",
        statement="Learnt gates alone recover nearly all accuracy.",
        rule="ReLU - FLNPF per row: <= 1.2 points in each row.",
        artifacts=("npf_table2",),
        presets=LAPTOP,
    ),
    Claim(
        id="N19",
        paper="npf",
        place="6.2(4)",
        statement="FLNPF improves monotonically with the stage.",
        rule="Kendall tau of 6 stage means (5 runs): tau = 1, or every drop < 1 SE.",
        artifacts=("npf_fig3",),
        presets=PAPER,
    ),
    Claim(
        id="N20",
        paper="npf",
        place="6.2(4)",
        statement=(
            "Already stage 1 beats random gates; stage 6 is about as good as ReLU; curve crosses "
            "CNTK between stages 3 and 4."
        ),
        rule="Differences: stage1-FRNPF >= 3; ReLU-stage6 <= 1.5; crossing index.",
        artifacts=("npf_fig3",),
        presets=PAPER,
    ),
    Claim(
        id="N21",
        paper="npf",
        place="6.2(5)",
        statement="Nu_t falls during training.",
        rule="Spearman(t, mean nu_t); nu_end/nu_0: rho <= -.8 and ratio < .8.",
        artifacts=("npf_fig3", "dgn_fig6"),
    ),
    Claim(
        id="N22",
        paper="npf",
        place="6.2(6)",
        statement="K^v and K^f have the same scale.",
        rule="Trace and Frobenius ratios over all snapshots: within [0.1, 10].",
        artifacts=("npf_fig3",),
    ),
    Claim(
        id="N25",
        paper="npf",
        place="Table 2",
        statement="Absolute numbers.",
        rule="|ours - reported|: <= 2 x reported std + 1.0 point per cell.",
        artifacts=("npf_table2",),
        presets=PAPER,
    ),
)

NUMBERS: tuple[Numbers, ...] = tuple(
    Numbers(
        artifact=f"{paper}_table2", quantity="test_accuracy", find=npf_accuracy.table2_numbers,
        **TABLE2,
    )
    for paper in ("npf", "npf0")
)  # fmt: skip
