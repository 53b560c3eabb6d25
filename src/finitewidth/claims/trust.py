"""What the paper claims, and where our counterparts of its numbers come from."""

from finitewidth.claims.ledger import LAPTOP, Claim
from finitewidth.claims.reported import Numbers

CLAIMS = (
    Claim(
        id="T01",
        paper="trust",
        place="Sect. 3",
        statement=(
            "Ordered phase: NTK variance small, not growing with depth, vanishing with width."
        ),
        rule=(
            "R and slope of r in L for sigma_w^2 <= .75 border; r-1 vs M: r <= 1.15 for L>=3, "
            "slope CI includes/below 0, r-1 ~ 1/M."
        ),
        artifacts=("trust_fig1", "trust_fig2"),
    ),
    Claim(
        id="T02",
        paper="trust",
        place="Sect. 3",
        statement="Chaotic phase: variance grows with depth.",
        rule="Slope of log r in L: CI > 0.",
        artifacts=("trust_fig1", "trust_fig2"),
    ),
    Claim(
        id="T03",
        paper="trust",
        place="Sect. 3",
        statement="At the border the std stays below the mean even for very deep nets.",
        rule="R at border, max L: r < 2.",
        artifacts=("trust_fig1",),
    ),
    Claim(
        id="T04",
        paper="trust",
        place="Sect. 3",
        statement="Transition sharpens with width.",
        rule="Width in sigma_w^2 of the band 1.3<r<3 at fixed L/M: decreasing in M.",
        artifacts=("trust_fig1",),
    ),
    Claim(
        id="T05",
        paper="trust",
        place="Sect. 3",
        statement="Shallow nets have small variance for any sigma_w^2.",
        rule="Max r at L<=2: < 1.3 for M>=100.",
        artifacts=("trust_fig1",),
    ),
    Claim(
        id="T06",
        paper="trust",
        place="Sect. 3",
        statement=(
            "Chaotic: at fixed L variance decreases with M; log r linear in L/M and curves for "
            "different M collapse."
        ),
        rule="R^2 of log r on L/M; spread across M: R^2 > .97, spread < 15% for L/M<.3.",
        artifacts=("trust_fig2",),
    ),
    Claim(
        id="T08",
        paper="trust",
        place="Sect. 3, App. C",
        statement="Smaller sigma_b^2 narrows the transition.",
        rule="Band width vs sigma_b^2: increasing in sigma_b^2.",
        artifacts=("trust_fig7",),
    ),
    Claim(
        id="T09",
        paper="trust",
        place="Captions",
        statement=(
            "ReLU border independent of sigma_b^2; tanh border depends on it and lies at larger "
            "sigma_w^2 for sigma_b^2=1."
        ),
        rule="Root of chi_1=1: 2 exactly; tanh 3.44 > 2.",
        artifacts=("trust_fig7",),
    ),
    Claim(
        id="T10",
        paper="trust",
        place="Sect. 4",
        statement="Ordered: relative NTK change small at all depths, no growth.",
        rule="Max change; slope in L: < .15 and slope CI includes/below 0.",
        artifacts=("trust_fig3", "trust_fig4"),
        presets=LAPTOP,
    ),
    Claim(
        id="T11",
        paper="trust",
        place="Sect. 4",
        statement="Chaotic: change large and grows with L.",
        rule="Slope; value at deepest trainable L: CI>0; > .5.",
        artifacts=("trust_fig3", "trust_fig4"),
        presets=LAPTOP,
    ),
    Claim(
        id="T12",
        paper="trust",
        place="Sect. 4",
        statement="Border: change larger than ordered, well below 1.",
        rule="Value: ordered < value < 1.",
        artifacts=("trust_fig3", "trust_fig4"),
        presets=LAPTOP,
    ),
    Claim(
        id="T13",
        paper="trust",
        place="Sect. 4",
        statement="Behaviour switches near the theoretical border.",
        rule="Sigma_w^2 of steepest change per L>=8: within 15% of border.",
        artifacts=("trust_fig3", "trust_fig4"),
        presets=LAPTOP,
    ),
    Claim(
        id="T14",
        paper="trust",
        place="Sect. 4",
        statement=(
            "Ordered nets stop training at much smaller depth than chaotic ones (L=20 mostly "
            "untrained)."
        ),
        rule="Min loss: ordered L=20: > 50% of initial; chaotic smaller.",
        artifacts=("trust_fig3",),
        presets=LAPTOP,
    ),
    Claim(
        id="T15",
        paper="trust",
        place="Sect. 4",
        statement="Nets that need more steps change their NTK less.",
        rule="Spearman(steps, change) over cells: < -.3.",
        artifacts=("trust_fig3", "trust_fig4"),
        presets=LAPTOP,
    ),
    Claim(
        id="T16",
        paper="trust",
        place="App. D",
        statement="Deep chaotic nets change early (10-100 steps), ordered ones stay put long.",
        rule="Change at t=10,100: chaotic deep > 10x ordered.",
        artifacts=("trust_fig8", "trust_fig9"),
        presets=LAPTOP,
    ),
    Claim(
        id="T17",
        paper="trust",
        place="App. D",
        statement="Wider nets change less; transition visible at every width.",
        rule="Median change M=512 < 256 < 128: monotone.",
        artifacts=("trust_fig10", "trust_fig11"),
        presets=LAPTOP,
    ),
    Claim(
        id="T18",
        paper="trust",
        place="Sect. 5",
        statement=(
            "Kappa_1/kappa_2 -> 1 with depth in the ordered phase; grows with depth in the "
            "chaotic phase and at the border."
        ),
        rule="Recursion: ordered <1.01 at L=60; chaotic/border increasing for L>=10.",
        artifacts=("trust_fig6",),
    ),
    Claim(
        id="T19",
        paper="trust",
        place="Sect. 5",
        statement="Kappa_2 varies little with the input covariance relative to its mean.",
        rule="(max-min)/mean over c0: < .5 for L>=10.",
        artifacts=("trust_fig5",),
    ),
    Claim(
        id="T20",
        paper="trust",
        place="Thm 5.3/3",
        statement="Var f_inf ~ (1+A^2/S)(q-q_sr)+(A-1)^2 q_sr.",
        rule=(
            "MC of kernel-regressed random outputs with the constant-block kernel vs formula: "
            "within 5%."
        ),
    ),
)

NUMBERS: tuple[Numbers, ...] = ()
