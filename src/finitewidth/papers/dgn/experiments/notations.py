"""The tables of equations of dgn, with their notation."""

from finitewidth.networks import equations as eq
from finitewidth.networks.notation import Notation, Tabulated

_DGN1 = Notation(
    symbols={
        "x": ("x_s", "xₛ"), "z": (r"z_{x_s,\Theta_t}", "z_{xₛ,Θₜ}"),
        "q": (r"q_{x_s,\Theta_t}", "q_{xₛ,Θₜ}"),
        "G": ("G_{x_s,t}", "G_{xₛ,t}"), "y": (r"\hat{y}_t(x_s)", "ŷₜ(xₛ)"),
    },
    theta=(r"\Theta_t", "Θₜ"), unit=("l",), weight=("l",), operand=("l",), times="⊙",
)  # fmt: skip
_DGN2 = Notation(
    symbols={
        "x": ("x", "x"), "z": (r"z_{x,\Theta<n>_t}", "z_{x,Θ<n>ₜ}"),
        "q": (r"q_{x,\Theta<n>_t}", "q_{x,Θ<n>ₜ}"),
        "G": (r"G_{x,\Theta^g_t}", "G_{x,Θᵍₜ}"), "y": (r"\hat{y}_t(x)", "ŷₜ(x)"),
    },
    theta=(r"\Theta<n>_t", "Θ<n>ₜ"), unit=("l",), entry=("l", "i"), weight=("l",), operand=("l",),
    times="⊙",
    soft=(
        r"\chi_\epsilon(-\beta <q>) = \frac{1+\epsilon}{1 + \exp(-\beta <q>)}",
        "χ_ε(−β <q>) = (1 + ε) / (1 + exp(−β <q>))",
    ),
)  # fmt: skip
_DGN5 = Notation(
    symbols={
        "x": ("x(i, s)", "x(i, s)"), "z": ("x_t", "xₜ"), "q": ("q_t", "qₜ"), "G": ("G_t", "Gₜ"),
        "y": (r"\hat{y}_t(s)", "ŷₜ(s)"),
    },
    theta=(r"\Theta_t", "Θₜ"), unit=("s", "i", "l"), start=("s", "i", "l"),
    weight=("l", "·", "i"), operand=("s", "·", "l"),
)  # fmt: skip
_HIDDEN = (r"$l \in [d-1]$", "l ∈ [d−1]")
TABLES = {
    "dgn_table1": Tabulated(
        eq.GATED,
        _DGN1,
        [(r"$l \in [d-1]$; gates $G_{x_s,t}(l) \in [0, 1]^w$ are given",
          "l ∈ [d−1]; gates G_{xₛ,t}(l) ∈ [0, 1]ʷ are given")],
    ),
    "dgn_table2": Tabulated(
        eq.PARAMETERISED,
        _DGN2,
        [(r"$l \in [d-1]$ and $i \in [w]$; $\epsilon \geq 0$",
          "l ∈ [d−1] and i ∈ [w]; ε ≥ 0")],
    ),
    "dgn_table5": Tabulated(eq.GATED, _DGN5, [_HIDDEN]),
}  # fmt: skip
