"""Equations of the forward passes of gated networks, as data.

The same equations are typeset by `finitewidth.networks.notation` and evaluated by
`finitewidth.networks.evaluate`.

Layers are written as in the papers: ``0`` is the input, ``l`` in 1 .. d-1 is a hidden layer and
``d`` is the output layer. A network is identified by the letter of its superscript; the letter is
empty if there is only one network.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Term:
    """One array of a network.

    Attributes:
        symbol: ``x`` (input), ``q`` (pre-activations), ``z`` (layer outputs), ``G`` (gates),
            ``P`` (repeated gates) or ``y`` (output).
        network: letter of the network.
        layer: ``0``, ``l-1``, ``l``, ``d-1`` or ``d``.
        unit: the index of the unit as it is written.
    """

    symbol: str
    network: str = ""
    layer: str = "l"
    unit: str = "i"


@dataclass(frozen=True)
class Weighted:
    """The sum over the units j of ``of``, weighted by the weights of ``layer``."""

    of: Term
    network: str = ""
    layer: str = "l"


@dataclass(frozen=True)
class Product:
    """The product of pre-activations and gates, unit by unit."""

    preactivation: Term
    gate: "Term | Hard"


@dataclass(frozen=True)
class Positive:
    """1 if a term is positive, otherwise 0."""

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
    """The gates of w units repeated m times: unit k w + i has the gate of unit i."""

    of: Term


@dataclass(frozen=True)
class One:
    """The constant input 1."""


Expression = Term | Weighted | Product | Hard | Soft | Repeated | One


@dataclass(frozen=True)
class Equation:
    """The equation ``left = right`` in a row and a column of a table.

    Attributes:
        row: label of the row.
        left: the term that the equation defines.
        right: the expression that defines it.
        gate: ``hard`` or ``soft`` if the equation holds only for such gates, otherwise empty.
        column: title of the network; empty if there is only one.
    """

    row: str
    left: Term
    right: Expression
    gate: str = ""
    column: str = ""


def _layers(network: str, hidden: Product, column: str = "") -> tuple[Equation, ...]:
    """Return the equations of input, pre-activation and hidden output of one network."""
    below = Term("z", network, "l-1", "j")
    q = Term("q", network)
    return (
        Equation("Input", Term("z", network, "0"), Term("x", layer="0"), column=column),
        Equation("Pre-activation", q, Weighted(below, network), column=column),
        Equation("Hidden output", Term("z", network), hidden, column=column),
    )


def output(network: str, layer: str = "d") -> Weighted:
    """Return the output of a network: its last hidden layer, weighted."""
    return Weighted(Term("z", network, "d-1", "j"), network, layer)


_Q, _G = Term("q"), Term("G")
FEATURE, VALUE = "Feature network (NPF)", "Value network (NPV)"
GATING, WEIGHT = "Gating network", "Weight network"
OUTPUT = Term("y", layer="d")

# dgn Table 1, dgn Table 5: the gates are given
GATED = (*_layers("", Product(_Q, _G)), Equation("Output", OUTPUT, output("")))
# npf Table 1, npf0 Table 1
RELU = (*GATED[:2], Equation("Gate", _G, Hard(_Q)), *GATED[2:])
# npf Table 5
MEMORISATION = (Equation("Input", Term("z", layer="0"), One()), *GATED[1:])


def _separated(
    letters: str, columns: tuple[str, str], gates: tuple[Equation, ...], hidden: tuple[Product, ...]
) -> tuple[Equation, ...]:
    """Return the equations of a network that computes gates and of a network that uses them."""
    first, second = (_layers(*parts) for parts in zip(letters, hidden, columns, strict=True))
    last = Equation("Output", OUTPUT, output(letters[1]), column=columns[1])
    return (*first[:2], *second[:2], *gates, first[2], second[2], last)


# npf Figure 2: the hidden units of the feature network are ReLU units
_QF, _QV = Term("q", "f"), Term("q", "v")
_NPF_GATES = (
    Equation("Hard gate", _G, Hard(_QF), "hard", FEATURE),
    Equation("Soft gate", _G, Soft(_QF), "soft", FEATURE),
)
_RELU_UNITS = Product(_QF, Hard(_QF))
DECOUPLED = _separated("fv", (FEATURE, VALUE), _NPF_GATES, (_RELU_UNITS, Product(_QV, _G)))
# npf Table 4: the same, with the gates repeated m times
_PADDING = Equation("Padding", Term("P", unit="kw + i"), Repeated(_G), column=VALUE)
PADDED = _separated(
    "fv", (FEATURE, VALUE), (*_NPF_GATES, _PADDING), (_RELU_UNITS, Product(_QV, Term("P")))
)
# dgn Table 2: the hidden units of the gating network use its own gates, also if they are soft
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
