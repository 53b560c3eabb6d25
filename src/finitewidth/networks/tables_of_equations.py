"""The tables of equations of each paper, with its notation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from finitewidth.networks import equations as eq
from finitewidth.networks.notation import LATEX, TEXT, Notation, Pair, write, write_right

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


@dataclass(frozen=True)
class Tabulated:
    """A table of equations.

    Attributes:
        equations: the equations, row by row.
        notation: the notation of the paper.
        notes: lines below the table, such as the ranges of the indices; pairs of LaTeX and text.
        misprints: (row, column) -> the printed right-hand side, if it differs from ours.
    """

    equations: Sequence[eq.Equation]
    notation: Notation
    notes: Sequence[Pair] = ()
    misprints: Mapping[tuple[str, str], eq.Expression] = field(default_factory=dict)


_HIDDEN = (r"$l \in [d-1]$", "l ∈ [d−1]")
TABLES = {
    "npf_table1": Tabulated(eq.RELU, _NPF, [_NPF_RANGES], eq.MISPRINTS["npf_table1"]),
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
        eq.MISPRINTS["npf_table4"],
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


def rows_of(artifact: str) -> list[dict[str, str | int]]:
    """Return the equations of a table, followed by its notes, as rows.

    Args:
        artifact: a key of `TABLES`.

    Returns:
        One dictionary per row with the keys ``artifact``, ``row``, ``column``, ``text``, ``latex``,
        ``printed_text`` and ``printed_latex``. The last two are None if the paper prints the same
        right-hand side. The rows of notes do not have them.
    """
    table = TABLES[artifact]
    rows = []
    for equation in table.equations:
        printed = table.misprints.get((equation.row, equation.column))
        rows.append({
            "artifact": artifact, "row": equation.row, "column": equation.column,
            "text": write(equation, table.notation, TEXT),
            "latex": write(equation, table.notation, LATEX),
            "printed_text": printed and write_right(printed, table.notation, TEXT),
            "printed_latex": printed and write_right(printed, table.notation, LATEX),
        })  # fmt: skip
    for latex, text in table.notes:
        rows.append({"artifact": artifact, "row": "note", "column": "", "text": text,
                     "latex": latex})  # fmt: skip
    return rows
