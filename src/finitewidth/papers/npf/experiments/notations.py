"""The tables of equations of both versions of npf, with their notation."""

from dataclasses import replace

from finitewidth.networks import equations as eq
from finitewidth.networks.notation import Notation, Tabulated

_NPF_RANGES = (
    r"$l \in [d-1]$ and $i \in [w]$; $j \in [d_\mathrm{in}]$ for $l = 1$, else $j \in [w]$",
    "l ∈ [d−1] and i ∈ [w]; j ∈ [dᵢₙ] for l = 1, else j ∈ [w]",
)
_NPF = Notation(
    symbols={
        "x": ("x", "x"), "z": (r"z_{x,\Theta}", "z_{x,Θ}"), "q": (r"q_{x,\Theta}", "q_{x,Θ}"),
        "G": (r"G_{x,\Theta}", "G_{x,Θ}"), "y": (r"\hat{y}_\Theta(x)", "ŷ_Θ(x)"),
    },
)  # fmt: skip
_NPF0 = Notation(
    symbols=_NPF.symbols,
    unit=("l", "i"),
    weight=("l", "·", "i"),
    operand=("l",),
    last_weight=("l",),
    hard=(r"\gamma_r(<q>) = \mathbf{1}_{\{<q> > 0\}}", "γᵣ(<q>) = 1{<q> > 0}"),
    product=(r"\chi_r(<q>) = <q><x><g>", "χᵣ(<q>) = <q><x><g>"),
)
_SEPARATED = Notation(
    symbols={
        "x": ("x", "x"), "z": ("z<n>_x", "z<n>ₓ"), "q": ("q<n>_x", "q<n>ₓ"), "G": ("G_x", "Gₓ"),
        "y": (r"\hat{y}_{\Theta^\mathrm{DGN}}(x)", "ŷ_{Θ^DGN}(x)"),
    },
)  # fmt: skip
# the output of the network with m copies of its gates has a name of its own
_PADDED = replace(
    _SEPARATED,
    symbols={
        **_SEPARATED.symbols,
        "y": (r"\hat{y}_{\Theta^{\mathrm{DGN}^{(m)}}}(x)", "ŷ_{Θ^DGN^(m)}(x)"),
    },
)
_SEPARATED0 = Notation(
    symbols={
        "x": ("x", "x"), "z": ("z<N>_{x,t}", "z<N>ₓₜ"), "q": ("q<N>_{x,t}", "q<N>ₓₜ"),
        "G": ("G_{x,t}", "Gₓₜ"), "y": (r"\hat{y}_t(x)", "ŷₜ(x)"),
    },
    theta=(r"\Theta<N>_t", "Θ<N>ₜ"), unit=("l", "i"), weight=("l", "·", "i"), operand=("l",),
    last_weight=("l",),
)  # fmt: skip
_MEMORISATION = Notation(
    symbols={
        "z": (r"z_{s,\Theta}", "z_{s,Θ}"), "q": (r"q_{s,\Theta}", "q_{s,Θ}"), "G": ("G_s", "Gₛ"),
        "y": (r"\hat{y}_\Theta(s)", "ŷ_Θ(s)"),
    },
)  # fmt: skip
# right-hand sides that the paper prints differently: (row, column) -> as printed
_TABLE1_PRINTED = {("Output", ""): eq.output("", "d-1")}
_TABLE4_PRINTED = {
    ("Pre-activation", eq.FEATURE): eq.Weighted(eq.Term("z", "", "l-1", "j"), "f"),
    ("Output", eq.VALUE): eq.output("v", "l"),
    ("Soft gate", eq.FEATURE): eq.Soft(eq.Positive(eq.Term("q", "f"))),
}
TABLES = {
    "npf_table1": Tabulated(eq.RELU, _NPF, [_NPF_RANGES], _TABLE1_PRINTED),
    "npf0_table1": Tabulated(
        eq.RELU, _NPF0, [(r"$l \in [d-1]$ and $i \in [w]$", "l ∈ [d−1] and i ∈ [w]")]
    ),
    "npf_fig2": Tabulated(eq.DECOUPLED, _SEPARATED),
    "npf0_fig2": Tabulated(eq.DECOUPLED, _SEPARATED0),
    "npf_table4": Tabulated(
        eq.PADDED,
        _PADDED,
        [(
            r"$l \in [d-1]$. Gates and feature network: $i \in [w]$; value network: $i \in [mw]$; "
            r"$j$ runs over the layer below",
            "l ∈ [d−1]. Gates and feature network: i ∈ [w]; value network: i ∈ [mw]; j runs over "
            "the layer below",
        )],
        _TABLE4_PRINTED,
    ),
    "npf_table5": Tabulated(
        eq.MEMORISATION,
        _MEMORISATION,
        [(
            r"$l \in [d-1]$ and $i \in [w]$; $j = 1$ for $l = 1$, else $j \in [w]$. "
            r"Gates are given: $G_s(i, l) \sim \mathrm{Ber}(\mu)$, independent and fixed",
            "l ∈ [d−1] and i ∈ [w]; j = 1 for l = 1, else j ∈ [w]. Gates are given: "
            "Gₛ(i, l) ~ Ber(μ), independent and fixed",
        )],
    ),
}  # fmt: skip
