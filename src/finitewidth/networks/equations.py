"""Forward passes of gated networks as data: from one specification tables are typeset
(`finitewidth.networks.notation`) and outputs computed (`finitewidth.networks.evaluate`).

Layers are written as in the papers: ``0`` the input, ``l`` in 1 .. d-1 a hidden layer, ``d`` the
output layer. A network is known by the letter of its superscript, or by no letter at all.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Term:
    """One array of a network: ``x`` input, ``q`` pre-activations, ``z`` layer outputs, ``G`` gates,
    ``P`` gates repeated, ``y`` output; ``unit`` is the index it is written with.
    """

    symbol: str
    network: str = ""
    layer: str = "l"
    unit: str = "i"


@dataclass(frozen=True)
class Weighted:
    """Sum over the units j of ``of``, weighted by the weights of ``layer``."""

    of: Term
    network: str = ""
    layer: str = "l"


@dataclass(frozen=True)
class Product:
    """Pre-activations times gates, unit by unit."""

    preactivation: Term
    gate: "Term | Hard"


@dataclass(frozen=True)
class Positive:
    """Whether a term is positive, 1 or 0."""

    of: Term


@dataclass(frozen=True)
class Hard:
    """The gate 1{q > 0}."""

    of: Term


@dataclass(frozen=True)
class Soft:
    """The gate (1 + eps) / (1 + exp(-beta q))."""

    of: Term | Positive


@dataclass(frozen=True)
class Repeated:
    """The gates of w units m times over: unit k w + i takes the gate of unit i."""

    of: Term


@dataclass(frozen=True)
class One:
    """The constant input 1."""


Expression = Term | Weighted | Product | Hard | Soft | Repeated | One


@dataclass(frozen=True)
class Equation:
    """``left = right``, in a row and a column of a table.

    Attributes:
        row: its label.
        left, right: what is defined, and by what.
        gate: ``hard`` or ``soft`` where it holds for such gates only.
        column: title of the network it belongs to; empty where there is but one.
    """

    row: str
    left: Term
    right: Expression
    gate: str = ""
    column: str = ""


def _layers(network: str, hidden: Product, column: str = "") -> tuple[Equation, ...]:
    """Input, pre-activation and hidden output of one network."""
    below = Term("z", network, "l-1", "j")
    q = Term("q", network)
    return (
        Equation("Input", Term("z", network, "0"), Term("x", layer="0"), column=column),
        Equation("Pre-activation", q, Weighted(below, network), column=column),
        Equation("Hidden output", Term("z", network), hidden, column=column),
    )


def _output(network: str, layer: str = "d") -> Weighted:
    return Weighted(Term("z", network, "d-1", "j"), network, layer)


_Q, _G = Term("q"), Term("G")
FEATURE, VALUE = "Feature network (NPF)", "Value network (NPV)"
GATING, WEIGHT = "Gating network", "Weight network"
OUTPUT = Term("y", layer="d")

# dgn Table 1, dgn Table 5: the gates come from outside
GATED = (*_layers("", Product(_Q, _G)), Equation("Output", OUTPUT, _output("")))
# npf Table 1, npf0 Table 1
RELU = (*GATED[:2], Equation("Gate", _G, Hard(_Q)), *GATED[2:])
# npf Table 5
MEMORISATION = (Equation("Input", Term("z", layer="0"), One()), *GATED[1:])


def _separated(
    letters: str, columns: tuple[str, str], gates: tuple[Equation, ...], hidden: tuple[Product, ...]
) -> tuple[Equation, ...]:
    """A network that makes gates and one that uses them."""
    first, second = (_layers(*parts) for parts in zip(letters, hidden, columns, strict=True))
    output = Equation("Output", OUTPUT, _output(letters[1]), column=columns[1])
    return (*first[:2], *second[:2], *gates, first[2], second[2], output)


# npf Figure 2: the hidden units of the feature network itself are ReLU
_QF, _QV = Term("q", "f"), Term("q", "v")
_NPF_GATES = (
    Equation("Hard gate", _G, Hard(_QF), "hard", FEATURE),
    Equation("Soft gate", _G, Soft(_QF), "soft", FEATURE),
)
_RELU_UNITS = Product(_QF, Hard(_QF))
DECOUPLED = _separated("fv", (FEATURE, VALUE), _NPF_GATES, (_RELU_UNITS, Product(_QV, _G)))
# npf Table 4: the same with the gates m times over
_PADDING = Equation("Padding", Term("P", unit="kw + i"), Repeated(_G), column=VALUE)
PADDED = _separated(
    "fv", (FEATURE, VALUE), (*_NPF_GATES, _PADDING), (_RELU_UNITS, Product(_QV, Term("P")))
)
# dgn Table 2: the gating network's own hidden units use its gates, soft ones too
_QG, _GG = Term("q", "g"), Term("G", "g")
PARAMETERISED = _separated(
    "gw",
    (GATING, WEIGHT),
    (
        Equation("Soft gate, β > 0", _GG, Soft(_QG), "soft", GATING),
        Equation("Hard gate, β = ∞", _GG, Hard(_QG), "hard", GATING),
    ),
    (Product(_QG, _GG), Product(Term("q", "w"), _GG)),
)

# what a paper prints where our equation differs: (row, column) -> its right-hand side
MISPRINTS: dict[str, dict[tuple[str, str], Expression]] = {
    "npf_table1": {("Output", ""): _output("", "d-1")},
    "npf_table4": {
        ("Pre-activation", FEATURE): Weighted(Term("z", "", "l-1", "j"), "f"),
        ("Output", VALUE): _output("v", "l"),
        ("Soft gate", FEATURE): Soft(Positive(_QF)),
    },
}
