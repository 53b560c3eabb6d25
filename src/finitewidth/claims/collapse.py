"""What the paper claims, and where our counterparts of its numbers come from."""

from finitewidth.claims.ledger import LAPTOP, Claim
from finitewidth.claims.reported import Numbers

CLAIMS = (
    Claim(
        id="K02",
        paper="collapse",
        place="Sect. 4.1",
        statement="Residual global mean converges first, then class means, then single samples.",
        rule="Time to 1e-3 of each component, linear sim; and in real training: order holds.",
    ),
    Claim(
        id="K03",
        paper="collapse",
        place="Thm 5.1",
        statement="E is conserved by the block-kernel flow.",
        rule="Drift of E over integration: < 1e-8 (RK4, dt 1e-3).",
    ),
    Claim(
        id="K04",
        paper="collapse",
        place="Thm 5.2",
        statement="E=0 and centred features give NC1-NC4.",
        rule=(
            "NC1..NC3 at the end, b(0)=1/C, H1 1=0: NC2<1e-2, NC3<.03 at t=200 and still falling, "
            "same for H2."
        ),
    ),
    Claim(
        id="K05",
        paper="collapse",
        place="Sect. 5.3(2)",
        statement="Without alignment of the invariant there is no NC.",
        rule="Same with random W(0): NC3 > .5.",
    ),
    Claim(
        id="K06",
        paper="collapse",
        place="Sect. 5.3(3)",
        statement="Zero feature mean forces b = 1/C at the end.",
        rule="Max |b-1/C|: < .02.",
    ),
    Claim(
        id="K07",
        paper="collapse",
        place="App. B.4",
        statement=(
            "Equal biases b=beta: weights have W W^T ~ I - gamma 11^T with gamma=(1-|1-beta "
            "C|sqrt(1-alpha C))/C, centred means still ETF, NC3 fails."
        ),
        rule="Fitted gamma; NC2; NC3: gamma within 1%; NC2<1e-3; NC3>.1.",
    ),
    Claim(
        id="K08",
        paper="collapse",
        place="Eq. 66/68",
        statement="Class means have theta=(1-|1-beta C|/(2-sqrt(1-alpha C)))/C.",
        rule="Fitted theta: within 1%.",
    ),
    Claim(
        id="K09",
        paper="collapse",
        place="Sect. 6",
        statement=(
            "Most nets with high test accuracy show NC, yet some equally accurate ones do not."
        ),
        rule=(
            "Share of top-accuracy rates with NC3<.3; existence of a non-NC model within 2 points "
            "and ~0 train error: share > .5; exists."
        ),
        artifacts=(
            "collapse_fig2",
            "collapse_fig3",
            "collapse_fig4",
            "collapse_fig5",
            "collapse_fig6",
            "collapse_fig7",
            "collapse_fig8",
            "collapse_fig9",
            "collapse_fig10",
            "collapse_fig11",
        ),
        presets=LAPTOP,
    ),
    Claim(
        id="K10",
        paper="collapse",
        place="Sect. 6",
        statement="Invariant alignment (pane b) is high and |E| small only in NC models.",
        rule=(
            "Difference NC - non-NC at the end: alignment diff > .2; |E| ratio < .5, in >= 80% of "
            "pairs."
        ),
        artifacts=(
            "collapse_fig2",
            "collapse_fig3",
            "collapse_fig4",
            "collapse_fig5",
            "collapse_fig6",
            "collapse_fig7",
            "collapse_fig8",
            "collapse_fig9",
            "collapse_fig10",
            "collapse_fig11",
        ),
        presets=LAPTOP,
    ),
    Claim(
        id="K11",
        paper="collapse",
        place="Sect. 6, App. C",
        statement=(
            "Theta and Theta^h align with labels; kernel alignment is stronger in models with NC."
        ),
        rule="Paired difference pane j: > 0 in >= 80% of pairs.",
        artifacts=(
            "collapse_fig3",
            "collapse_fig4",
            "collapse_fig5",
            "collapse_fig6",
            "collapse_fig7",
            "collapse_fig8",
            "collapse_fig9",
            "collapse_fig10",
            "collapse_fig11",
        ),
        presets=LAPTOP,
    ),
    Claim(
        id="K12",
        paper="collapse",
        place="Sect. 3",
        statement="Traced kernels show class blocks.",
        rule="Mean same-class / other-class value: > 2 (Theta^h), > 1.5 (Theta).",
        artifacts=(
            "collapse_fig1",
            "collapse_fig13",
            "collapse_fig14",
            "collapse_fig15",
            "collapse_fig16",
            "collapse_fig17",
            "collapse_fig18",
            "collapse_fig19",
            "collapse_fig20",
        ),
        presets=LAPTOP,
    ),
    Claim(
        id="K13",
        paper="collapse",
        place="App. C.1",
        statement="Off-diagonal kernels (k != s) have smaller norm than diagonal ones.",
        rule="Median ratio: < .5.",
        artifacts=(
            "collapse_fig1",
            "collapse_fig13",
            "collapse_fig14",
            "collapse_fig15",
            "collapse_fig16",
            "collapse_fig17",
            "collapse_fig18",
            "collapse_fig19",
            "collapse_fig20",
        ),
        presets=LAPTOP,
    ),
    Claim(
        id="K14",
        paper="collapse",
        place="App. C",
        statement="Global feature mean small relative to class means; H2 small for NC models.",
        rule="|hh^T|/|H1H1^T|; |H2H2^T|/|H1H1^T|: < .2 ; < .1.",
        artifacts=(
            "collapse_fig3",
            "collapse_fig4",
            "collapse_fig5",
            "collapse_fig6",
            "collapse_fig7",
            "collapse_fig8",
            "collapse_fig9",
            "collapse_fig10",
            "collapse_fig11",
        ),
        presets=LAPTOP,
    ),
    Claim(
        id="K15",
        paper="collapse",
        place="App. C.2",
        statement="CE: better NC metrics, much larger |E| than MSE.",
        rule="Ratio of medians: NC lower, |E| ratio > 5.",
        artifacts=("collapse_fig12",),
        presets=LAPTOP,
    ),
)

NUMBERS: tuple[Numbers, ...] = ()
