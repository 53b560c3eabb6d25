"""What the paper claims, and where our counterparts of its numbers come from."""

from finitewidth.claims.ledger import LAPTOP, Claim
from finitewidth.claims.reported import Numbers

CLAIMS = (
    Claim(
        id="B01",
        paper="beyond",
        place="Thm 3.1(1)",
        statement=(
            "Chaotic dispersion follows e^{5l}(1-(1-e^{-4l})/4l)/(2l), independent of sigma_w^2."
        ),
        rule="Z of (r_hat - theory): |z|<3 at >= 80% of points with L>=20, lambda<=.3.",
        artifacts=("beyond_fig1", "beyond_fig9"),
    ),
    Claim(
        id="B02",
        paper="beyond",
        place="Thm 3.1(2)",
        statement="EOC dispersion follows eq. (9).",
        rule="Same: same.",
        artifacts=("beyond_fig1", "beyond_fig9"),
    ),
    Claim(
        id="B03",
        paper="beyond",
        place="Thm 3.1(3)",
        statement="Ordered dispersion -> 1 and does not grow with depth.",
        rule="R(lambda=.5) and slope: r<1.1 at sigma_w^2<=1.5, slope <= 0.",
        artifacts=("beyond_fig1",),
    ),
    Claim(
        id="B04",
        paper="beyond",
        place="Thm 3.1",
        statement="Growth is slower at the EOC than in the chaotic phase.",
        rule="Eq. 9 < eq. 8 for alpha_0=1 and MC: true for all lambda.",
        artifacts=("beyond_fig1", "beyond_fig5"),
    ),
    Claim(
        id="B07",
        paper="beyond",
        place="Thm 3.2",
        statement="Finite sums describe MC near the EOC better than the limit.",
        rule="Mean |z| of Thm 3.2 vs of Thm 3.1: smaller.",
        artifacts=("beyond_fig2",),
    ),
    Claim(
        id="B08",
        paper="beyond",
        place="Sect. 3.2",
        statement="Ordered variance rises as sigma_w^2 approaches 2.",
        rule="R at fixed L: monotone in sigma_w^2.",
        artifacts=("beyond_fig2",),
    ),
    Claim(
        id="B09",
        paper="beyond",
        place="Sect. 3.2",
        statement=(
            "For n0 <= M (growing dimension) ordered dispersion peaks, then falls with depth."
        ),
        rule="Location and height of peak (theory and MC): interior peak and end < peak - 2 SE.",
        artifacts=("beyond_fig2",),
    ),
    Claim(
        id="B10",
        paper="beyond",
        place="App. B.2",
        statement=(
            "Dispersion is lower for nets of increasing width; for decreasing width it only grows "
            "with depth."
        ),
        rule="Theory for 3 architectures: inc < const < dec at equal lambda; d r/dL >= 0 for dec.",
        artifacts=("beyond_fig6",),
    ),
    Claim(
        id="B12",
        paper="beyond",
        place="Thm 3.3",
        statement="Off-diagonal/diagonal mean ratio lies in [1/4,1] in the limit.",
        rule="MC and formula: >= .25 - .02 and <= 1.",
        artifacts=("beyond_fig3", "beyond_fig11"),
    ),
    Claim(
        id="B13",
        paper="beyond",
        place="Sect. 3.3",
        statement="In the ordered phase the ratio rises quickly with depth to 1.",
        rule="Ratio at L=5,20,50: increasing for sigma_w^2<=1; > .9 at L=50 for sigma_w^2<=1.",
        artifacts=("beyond_fig3",),
    ),
    Claim(
        id="B14",
        paper="beyond",
        place="Eq. 18",
        statement="(18) is a lower bound and a good approximation in the ordered phase.",
        rule="MC - (18): |diff| <= .03 for L>=20; sign >= 0.",
        artifacts=("beyond_fig3",),
    ),
    Claim(
        id="B15",
        paper="beyond",
        place="App. C.1",
        statement=(
            "Off-diagonal dispersion only slightly above diagonal and insensitive to the angle."
        ),
        rule="Ratio of dispersions; spread over angles: ratio <= 1.3; spread < 2 SE.",
        artifacts=("beyond_fig7", "beyond_fig8"),
    ),
    Claim(
        id="B16",
        paper="beyond",
        place="Thm 4.1",
        statement=(
            "One GD step: relative mean change of Theta(x,x) diverges with depth in the chaotic "
            "phase, vanishes in the ordered one."
        ),
        rule=(
            "Mean |dTheta|/mean Theta vs L, eta=1e-3 and eta~a^{-L}: log-slope > 0 / < 0; bounded "
            "with a^{-L}."
        ),
    ),
    Claim(
        id="B18",
        paper="beyond",
        place="Lemmas A.1-A.4",
        statement=(
            "E[N_x^2],E[N_d^2] carry (1+5/n); E[N_x N_d] carries (1+1/n); assuming independent "
            "backward weights changes the result."
        ),
        rule=(
            "MC moments; dispersion with tied vs untied backward weights: within 3 SE; tied != "
            "untied by > 3 SE."
        ),
    ),
    Claim(
        id="B19",
        paper="beyond",
        place="Sect. 4.2",
        statement="At init the NTK is label-blind and diagonal-heavy.",
        rule="(Theta_c-Theta_n)/Theta_d at t=0; Theta_c/Theta_d: < .1; < 1.",
        artifacts=("beyond_fig4",),
        presets=LAPTOP,
    ),
    Claim(
        id="B20",
        paper="beyond",
        place="Sect. 4.2",
        statement=(
            "Training builds class blocks (alignment with labels rises); change is fastest early."
        ),
        rule=(
            "Gap (Theta_c-Theta_n)/Theta_d over t; share reached by t=500 of 3000; A(K,YY^T) "
            "end-start: gap_end > 2 gap_0; share >= .6; A rises."
        ),
        artifacts=("beyond_fig4", "thesis_fig2_5"),
        presets=LAPTOP,
    ),
    Claim(
        id="B21",
        paper="beyond",
        place="Sect. 4.2",
        statement="A larger gap goes with better test loss.",
        rule="Rank order over sigma_w^2=1,2,2.2: gap order = reverse test-loss order.",
        artifacts=("beyond_fig4",),
        presets=LAPTOP,
    ),
    Claim(
        id="B22",
        paper="beyond",
        place="App. C.3",
        statement="Leave-one-out estimator is unbiased.",
        rule="Mean over 2000 repeats, lognormal truth: |bias| < 1 SE.",
    ),
)

NUMBERS: tuple[Numbers, ...] = ()
