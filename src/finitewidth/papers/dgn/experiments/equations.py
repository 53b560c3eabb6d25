"""The equations of the forward passes of dgn; each row is as in npf."""

from finitewidth.experiments.equations import Rows

GATING, WEIGHT = "Gating network", "Weight network"
EQUATIONS: dict[str, Rows] = {
    "dgn_table1": [
        ("Input", "", r"z_{x_s,\Theta_t}(0) = x_s", "z_{xₛ,Θₜ}(0) = xₛ"),
        ("Pre-activation", "", r"q_{x_s,\Theta_t}(l) = \Theta_t(l)^\top z_{x_s,\Theta_t}(l-1)",
         "q_{xₛ,Θₜ}(l) = Θₜ(l)ᵀ z_{xₛ,Θₜ}(l−1)"),
        ("Hidden output", "", r"z_{x_s,\Theta_t}(l) = q_{x_s,\Theta_t}(l) \odot G_{x_s,t}(l)",
         "z_{xₛ,Θₜ}(l) = q_{xₛ,Θₜ}(l) ⊙ G_{xₛ,t}(l)"),
        ("Output", "", r"\hat{y}_t(x_s) = \Theta_t(d)^\top z_{x_s,\Theta_t}(d-1)",
         "ŷₜ(xₛ) = Θₜ(d)ᵀ z_{xₛ,Θₜ}(d−1)"),
        ("note", "", r"$l \in [d-1]$; gates $G_{x_s,t}(l) \in [0, 1]^w$ are given",
         "l ∈ [d−1]; gates G_{xₛ,t}(l) ∈ [0, 1]ʷ are given"),
    ],
    "dgn_table2": [
        ("Input", GATING, r"z_{x,\Theta^g_t}(0) = x", "z_{x,Θᵍₜ}(0) = x"),
        ("Pre-activation", GATING,
         r"q_{x,\Theta^g_t}(l) = \Theta^g_t(l)^\top z_{x,\Theta^g_t}(l-1)",
         "q_{x,Θᵍₜ}(l) = Θᵍₜ(l)ᵀ z_{x,Θᵍₜ}(l−1)"),
        ("Input", WEIGHT, r"z_{x,\Theta^w_t}(0) = x", "z_{x,Θʷₜ}(0) = x"),
        ("Pre-activation", WEIGHT,
         r"q_{x,\Theta^w_t}(l) = \Theta^w_t(l)^\top z_{x,\Theta^w_t}(l-1)",
         "q_{x,Θʷₜ}(l) = Θʷₜ(l)ᵀ z_{x,Θʷₜ}(l−1)"),
        ("Soft gate, β > 0", GATING,
         r"G_{x,\Theta^g_t}(l, i) = \chi_\epsilon(-\beta q_{x,\Theta^g_t}(l, i)) = "
         r"\frac{1+\epsilon}{1 + \exp(-\beta q_{x,\Theta^g_t}(l, i))}",
         "G_{x,Θᵍₜ}(l, i) = χ_ε(−β q_{x,Θᵍₜ}(l, i)) = (1 + ε) / (1 + exp(−β q_{x,Θᵍₜ}(l, i)))"),
        ("Hard gate, β = ∞", GATING,
         r"G_{x,\Theta^g_t}(l, i) = \mathbf{1}_{\{q_{x,\Theta^g_t}(l, i) > 0\}}",
         "G_{x,Θᵍₜ}(l, i) = 1{q_{x,Θᵍₜ}(l, i) > 0}"),
        ("Hidden output", GATING,
         r"z_{x,\Theta^g_t}(l) = q_{x,\Theta^g_t}(l) \odot G_{x,\Theta^g_t}(l)",
         "z_{x,Θᵍₜ}(l) = q_{x,Θᵍₜ}(l) ⊙ G_{x,Θᵍₜ}(l)"),
        ("Hidden output", WEIGHT,
         r"z_{x,\Theta^w_t}(l) = q_{x,\Theta^w_t}(l) \odot G_{x,\Theta^g_t}(l)",
         "z_{x,Θʷₜ}(l) = q_{x,Θʷₜ}(l) ⊙ G_{x,Θᵍₜ}(l)"),
        ("Output", WEIGHT, r"\hat{y}_t(x) = \Theta^w_t(d)^\top z_{x,\Theta^w_t}(d-1)",
         "ŷₜ(x) = Θʷₜ(d)ᵀ z_{x,Θʷₜ}(d−1)"),
        ("note", "", r"$l \in [d-1]$ and $i \in [w]$; $\epsilon \geq 0$",
         "l ∈ [d−1] and i ∈ [w]; ε ≥ 0"),
    ],
    "dgn_table5": [
        ("Input", "", "x_t(s, i, 0) = x(i, s)", "xₜ(s, i, 0) = x(i, s)"),
        ("Pre-activation", "", r"q_t(s, i, l) = \Theta_t(l, \cdot, i)^\top x_t(s, \cdot, l-1)",
         "qₜ(s, i, l) = Θₜ(l, ·, i)ᵀ xₜ(s, ·, l−1)"),
        ("Hidden output", "", r"x_t(s, i, l) = q_t(s, i, l) \cdot G_t(s, i, l)",
         "xₜ(s, i, l) = qₜ(s, i, l) · Gₜ(s, i, l)"),
        ("Output", "", r"\hat{y}_t(s) = \Theta_t(d, \cdot, 1)^\top x_t(s, \cdot, d-1)",
         "ŷₜ(s) = Θₜ(d, ·, 1)ᵀ xₜ(s, ·, d−1)"),
        ("note", "", r"$l \in [d-1]$", "l ∈ [d−1]"),
    ],
}  # fmt: skip
