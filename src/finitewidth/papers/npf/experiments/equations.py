"""The equations of the forward passes, as both versions of npf write them.

Each equation is a row: what it computes, the network that it belongs to (empty if there is one),
its LaTeX, and the same as text.
"""

from finitewidth.experiments.equations import Rows

FEATURE, VALUE = "Feature network (NPF)", "Value network (NPV)"
_DECOUPLED = [
    ("Input", FEATURE, "z^f_x(0) = x", "zᶠₓ(0) = x"),
    ("Pre-activation", FEATURE, r"q^f_x(i, l) = \sum_j \Theta^f(i, j, l) \cdot z^f_x(j, l-1)",
     "qᶠₓ(i, l) = Σⱼ Θᶠ(i, j, l) · zᶠₓ(j, l−1)"),
    ("Input", VALUE, "z^v_x(0) = x", "zᵛₓ(0) = x"),
    ("Pre-activation", VALUE, r"q^v_x(i, l) = \sum_j \Theta^v(i, j, l) \cdot z^v_x(j, l-1)",
     "qᵛₓ(i, l) = Σⱼ Θᵛ(i, j, l) · zᵛₓ(j, l−1)"),
    ("Hard gate", FEATURE, r"G_x(i, l) = \mathbf{1}_{\{q^f_x(i, l) > 0\}}",
     "Gₓ(i, l) = 1{qᶠₓ(i, l) > 0}"),
    ("Soft gate", FEATURE, r"G_x(i, l) = \frac{1}{1 + \exp(-\beta \cdot q^f_x(i, l))}",
     "Gₓ(i, l) = 1 / (1 + exp(−β · qᶠₓ(i, l)))"),
    ("Hidden output", FEATURE,
     r"z^f_x(i, l) = q^f_x(i, l) \cdot \mathbf{1}_{\{q^f_x(i, l) > 0\}}",
     "zᶠₓ(i, l) = qᶠₓ(i, l) · 1{qᶠₓ(i, l) > 0}"),
    ("Hidden output", VALUE, r"z^v_x(i, l) = q^v_x(i, l) \cdot G_x(i, l)",
     "zᵛₓ(i, l) = qᵛₓ(i, l) · Gₓ(i, l)"),
    ("Output", VALUE,
     r"\hat{y}_{\Theta^\mathrm{DGN}}(x) = \sum_j \Theta^v(1, j, d) \cdot z^v_x(j, d-1)",
     "ŷ_{Θ^DGN}(x) = Σⱼ Θᵛ(1, j, d) · zᵛₓ(j, d−1)"),
]  # fmt: skip
EQUATIONS: dict[str, Rows] = {
    "npf_table1": [
        ("Input", "", r"z_{x,\Theta}(0) = x", "z_{x,Θ}(0) = x"),
        ("Pre-activation", "",
         r"q_{x,\Theta}(i, l) = \sum_j \Theta(i, j, l) \cdot z_{x,\Theta}(j, l-1)",
         "q_{x,Θ}(i, l) = Σⱼ Θ(i, j, l) · z_{x,Θ}(j, l−1)"),
        ("Gate", "", r"G_{x,\Theta}(i, l) = \mathbf{1}_{\{q_{x,\Theta}(i, l) > 0\}}",
         "G_{x,Θ}(i, l) = 1{q_{x,Θ}(i, l) > 0}"),
        ("Hidden output", "", r"z_{x,\Theta}(i, l) = q_{x,\Theta}(i, l) \cdot G_{x,\Theta}(i, l)",
         "z_{x,Θ}(i, l) = q_{x,Θ}(i, l) · G_{x,Θ}(i, l)"),
        ("Output", "", r"\hat{y}_\Theta(x) = \sum_j \Theta(1, j, d) \cdot z_{x,\Theta}(j, d-1)",
         "ŷ_Θ(x) = Σⱼ Θ(1, j, d) · z_{x,Θ}(j, d−1)"),
        ("note", "",
         r"$l \in [d-1]$ and $i \in [w]$; $j \in [d_\mathrm{in}]$ for $l = 1$, else $j \in [w]$",
         "l ∈ [d−1] and i ∈ [w]; j ∈ [dᵢₙ] for l = 1, else j ∈ [w]"),
    ],
    "npf0_table1": [
        ("Input", "", r"z_{x,\Theta}(0) = x", "z_{x,Θ}(0) = x"),
        ("Pre-activation", "", r"q_{x,\Theta}(l, i) = \Theta(l, \cdot, i)^\top z_{x,\Theta}(l-1)",
         "q_{x,Θ}(l, i) = Θ(l, ·, i)ᵀ z_{x,Θ}(l−1)"),
        ("Gate", "",
         r"G_{x,\Theta}(l, i) = \gamma_r(q_{x,\Theta}(l, i)) = \mathbf{1}_{\{q_{x,\Theta}(l, i) "
         r"> 0\}}", "G_{x,Θ}(l, i) = γᵣ(q_{x,Θ}(l, i)) = 1{q_{x,Θ}(l, i) > 0}"),
        ("Hidden output", "",
         r"z_{x,\Theta}(l, i) = \chi_r(q_{x,\Theta}(l, i)) = q_{x,\Theta}(l, i) \cdot "
         r"G_{x,\Theta}(l, i)",
         "z_{x,Θ}(l, i) = χᵣ(q_{x,Θ}(l, i)) = q_{x,Θ}(l, i) · G_{x,Θ}(l, i)"),
        ("Output", "", r"\hat{y}_\Theta(x) = \Theta(d)^\top z_{x,\Theta}(d-1)",
         "ŷ_Θ(x) = Θ(d)ᵀ z_{x,Θ}(d−1)"),
        ("note", "", r"$l \in [d-1]$ and $i \in [w]$", "l ∈ [d−1] and i ∈ [w]"),
    ],
    "npf_fig2": _DECOUPLED,
    "npf0_fig2": [
        ("Input", FEATURE, "z^F_{x,t}(0) = x", "zꟳₓₜ(0) = x"),
        ("Pre-activation", FEATURE,
         r"q^F_{x,t}(l, i) = \Theta^F_t(l, \cdot, i)^\top z^F_{x,t}(l-1)",
         "qꟳₓₜ(l, i) = Θꟳₜ(l, ·, i)ᵀ zꟳₓₜ(l−1)"),
        ("Input", VALUE, "z^V_{x,t}(0) = x", "zⱽₓₜ(0) = x"),
        ("Pre-activation", VALUE, r"q^V_{x,t}(l, i) = \Theta^V_t(l, \cdot, i)^\top z^V_{x,t}(l-1)",
         "qⱽₓₜ(l, i) = Θⱽₜ(l, ·, i)ᵀ zⱽₓₜ(l−1)"),
        ("Hard gate", FEATURE, r"G_{x,t}(l, i) = \mathbf{1}_{\{q^F_{x,t}(l, i) > 0\}}",
         "Gₓₜ(l, i) = 1{qꟳₓₜ(l, i) > 0}"),
        ("Soft gate", FEATURE, r"G_{x,t}(l, i) = \frac{1}{1 + \exp(-\beta \cdot q^F_{x,t}(l, i))}",
         "Gₓₜ(l, i) = 1 / (1 + exp(−β · qꟳₓₜ(l, i)))"),
        ("Hidden output", FEATURE,
         r"z^F_{x,t}(l, i) = q^F_{x,t}(l, i) \cdot \mathbf{1}_{\{q^F_{x,t}(l, i) > 0\}}",
         "zꟳₓₜ(l, i) = qꟳₓₜ(l, i) · 1{qꟳₓₜ(l, i) > 0}"),
        ("Hidden output", VALUE, r"z^V_{x,t}(l, i) = q^V_{x,t}(l, i) \cdot G_{x,t}(l, i)",
         "zⱽₓₜ(l, i) = qⱽₓₜ(l, i) · Gₓₜ(l, i)"),
        ("Output", VALUE, r"\hat{y}_t(x) = \Theta^V_t(d)^\top z^V_{x,t}(d-1)",
         "ŷₜ(x) = Θⱽₜ(d)ᵀ zⱽₓₜ(d−1)"),
    ],
    "npf_table4": [
        *_DECOUPLED[:6],
        ("Padding", VALUE, r"G_x(kw + i, l) = G_x(i, l),\quad\allowbreak {k = 0, \dots, m-1}",
         "Gₓ(kw + i, l) = Gₓ(i, l),  k = 0, …, m−1"),
        *_DECOUPLED[6:8],
        ("Output", VALUE,
         r"\hat{y}_{\Theta^{\mathrm{DGN}^{(m)}}}(x) = \sum_j \Theta^v(1, j, d) \cdot z^v_x(j, "
         "d-1)", "ŷ_{Θ^DGN^(m)}(x) = Σⱼ Θᵛ(1, j, d) · zᵛₓ(j, d−1)"),
        ("note", "",
         r"$l \in [d-1]$. Gates and feature network: $i \in [w]$; value network: $i \in [mw]$; "
         "$j$ runs over the layer below",
         "l ∈ [d−1]. Gates and feature network: i ∈ [w]; value network: i ∈ [mw]; j runs over "
         "the layer below"),
    ],
    "npf_table5": [
        ("Input", "", r"z_{s,\Theta}(0) = 1", "z_{s,Θ}(0) = 1"),
        ("Pre-activation", "",
         r"q_{s,\Theta}(i, l) = \sum_j \Theta(i, j, l) \cdot z_{s,\Theta}(j, l-1)",
         "q_{s,Θ}(i, l) = Σⱼ Θ(i, j, l) · z_{s,Θ}(j, l−1)"),
        ("Hidden output", "", r"z_{s,\Theta}(i, l) = q_{s,\Theta}(i, l) \cdot G_s(i, l)",
         "z_{s,Θ}(i, l) = q_{s,Θ}(i, l) · Gₛ(i, l)"),
        ("Output", "", r"\hat{y}_\Theta(s) = \sum_j \Theta(1, j, d) \cdot z_{s,\Theta}(j, d-1)",
         "ŷ_Θ(s) = Σⱼ Θ(1, j, d) · z_{s,Θ}(j, d−1)"),
        ("note", "",
         r"$l \in [d-1]$ and $i \in [w]$; $j = 1$ for $l = 1$, else $j \in [w]$. Gates are "
         r"given: $G_s(i, l) \sim \mathrm{Ber}(\mu)$, independent and fixed",
         "l ∈ [d−1] and i ∈ [w]; j = 1 for l = 1, else j ∈ [w]. Gates are given: Gₛ(i, l) ~ "
         "Ber(μ), independent and fixed"),
    ],
}  # fmt: skip
# right-hand sides that the paper prints differently, by table, equation and network
PRINTED = {
    ("npf_table1", "Output", ""): (
        r"\sum_j \Theta(1, j, d-1) \cdot z_{x,\Theta}(j, d-1)", "Σⱼ Θ(1, j, d−1) · z_{x,Θ}(j, d−1)"
    ),
    ("npf_table4", "Pre-activation", FEATURE): (
        r"\sum_j \Theta^f(i, j, l) \cdot z_x(j, l-1)", "Σⱼ Θᶠ(i, j, l) · zₓ(j, l−1)"
    ),
    ("npf_table4", "Soft gate", FEATURE): (
        r"\frac{1}{1 + \exp(-\beta \cdot q^f_x(i, l) > 0)}", "1 / (1 + exp(−β · qᶠₓ(i, l) > 0))"
    ),
    ("npf_table4", "Output", VALUE): (
        r"\sum_j \Theta^v(1, j, l) \cdot z^v_x(j, d-1)", "Σⱼ Θᵛ(1, j, l) · zᵛₓ(j, d−1)"
    ),
}  # fmt: skip
