"""Typeset equations in the notation of a paper, as LaTeX and as Unicode text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from finitewidth.networks import equations as eq
from finitewidth.networks.equations import Equation, Expression, Term

LATEX, TEXT = 0, 1  # position of each format in a pair
_RAISED = {"f": "ᶠ", "v": "ᵛ", "g": "ᵍ", "w": "ʷ", "": "", "F": "ꟳ", "V": "ⱽ"}
_DOT = ("\\cdot", "·")
_TIMES = {"·": (" \\cdot ", " · "), "⊙": (" \\odot ", " ⊙ ")}
_COPIES = (",\\quad\\allowbreak {k = 0, \\dots, m-1}", ",  k = 0, …, m−1")

Pair = tuple[str, str]


@dataclass(frozen=True)
class Notation:
    """The notation of a paper. Every template is a pair of LaTeX and text.

    Attributes:
        symbols: term -> its symbol. ``<n>`` stands for the letter of the network, ``<N>`` for its
            capital. The symbols of ``x`` and ``y`` include their arguments.
        theta: the symbol of the weights.
        unit: arguments of q, z and G: ``i`` for the unit, ``l`` for the layer, ``s`` for the
            example. Without ``i`` the terms are vectors.
        entry: arguments in the equations of gates, which are written for one entry; None for
            ``unit``.
        weight: arguments of the weights: ``i`` for the unit, ``j`` or ``·`` for the unit below.
        operand: arguments of the layer below in a weighted sum.
        start: arguments of layer 0.
        last_weight: as ``weight``, in the output layer; None if there is no difference.
        last_operand: as ``operand``, in the output layer; None if there is no difference.
        times: sign between pre-activation and gate.
        hard: template of a hard gate; ``<q>`` stands for the operand.
        soft: template of a soft gate.
        product: template of a product; ``<q>``, ``<x>`` and ``<g>`` stand for the pre-activation,
            the sign and the gate.
        constant: the constant input.
        axes: order of the axes of a weight matrix that ``weight`` implies, ``ij`` or ``ji``.
    """

    symbols: Mapping[str, Pair]
    theta: Pair = (r"\Theta<n>", "Θ<n>")
    unit: tuple[str, ...] = ("i", "l")
    entry: tuple[str, ...] | None = None
    weight: tuple[str, ...] = ("i", "j", "l")
    operand: tuple[str, ...] = ("j", "l")
    start: tuple[str, ...] = ("l",)
    last_weight: tuple[str, ...] | None = None
    last_operand: tuple[str, ...] | None = None
    times: str = "·"
    hard: Pair = (r"\mathbf{1}_{\{<q> > 0\}}", "1{<q> > 0}")
    soft: Pair = (r"\frac{1}{1 + \exp(-\beta \cdot <q>)}", "1 / (1 + exp(−β · <q>))")
    product: Pair = ("<q><x><g>", "<q><x><g>")
    constant: Pair = ("1", "1")
    axes: str = field(init=False)

    def __post_init__(self) -> None:
        # in Θ(l)ᵀ, without indices, the unit below is the first axis
        order = [a for a in self.weight if a in "ij·"] or ["·", "i"]
        object.__setattr__(self, "axes", "ij" if order[0] == "i" else "ji")


@dataclass(frozen=True)
class Tabulated:
    """A table of equations of a paper.

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


def rows_of(artifact: str, table: Tabulated) -> list[dict[str, str | int]]:
    """Return the equations of a table, followed by its notes, as rows.

    Args:
        artifact: its name.
        table: its equations.

    Returns:
        One dictionary per row with the keys ``artifact``, ``row``, ``column``, ``text``, ``latex``,
        ``printed_text`` and ``printed_latex``. The last two are None if the paper prints the same
        right-hand side. The rows of notes do not have them.
    """
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


def write(equation: Equation, notation: Notation, form: int) -> str:
    """Return one equation as text; ``form`` is `LATEX` or `TEXT`."""
    entry = isinstance(equation.right, eq.Hard | eq.Soft)
    left = _term(equation.left, notation, form, entry)
    return f"{left} = {write_right(equation.right, notation, form)}"


def write_right(right: Expression | eq.Positive, notation: Notation, form: int) -> str:
    """Return the right-hand side of an equation as text."""
    match right:
        case eq.One():
            return notation.constant[form]
        case eq.Term():
            return _term(right, notation, form)
        case eq.Repeated():
            return _term(right.of, notation, form) + _COPIES[form]
        case eq.Weighted():
            return _weighted(right, notation, form)
        case eq.Product():
            q, g = (write_right(part, notation, form) for part in (right.preactivation, right.gate))
            template = notation.product[form].replace("<x>", _TIMES[notation.times][form])
            return template.replace("<q>", q).replace("<g>", g)
        case eq.Positive():
            return _term(right.of, notation, form, entry=True) + " > 0"
        case eq.Hard() | eq.Soft():
            template = (notation.hard if isinstance(right, eq.Hard) else notation.soft)[form]
            inner = right.of
            if isinstance(inner, Term):
                return template.replace("<q>", _term(inner, notation, form, entry=True))
            return template.replace("<q>", write_right(inner, notation, form))


def _weighted(sum_: eq.Weighted, notation: Notation, form: int) -> str:
    last = sum_.of.layer == "d-1"
    weight = (last and notation.last_weight) or notation.weight
    operand = (last and notation.last_operand) or notation.operand
    weights = theta(sum_.network, notation, form)
    weights += _arguments(weight, "1" if last else "i", sum_.layer, form)
    below = symbol(sum_.of, notation, form) + _arguments(operand, "j", sum_.of.layer, form)
    if "j" in weight:
        return (rf"\sum_j {weights} \cdot {below}", f"Σⱼ {weights} · {below}")[form]
    return (rf"{weights}^\top {below}", f"{weights}ᵀ {below}")[form]


def _term(term: Term, notation: Notation, form: int, entry: bool = False) -> str:
    name = symbol(term, notation, form)
    if term.symbol in "xy":
        return name
    arguments = notation.start if term.layer == "0" else notation.unit
    if entry and notation.entry:
        arguments = notation.entry
    return name + _arguments(arguments, term.unit, term.layer, form)


def symbol(term: Term, notation: Notation, form: int) -> str:
    """Return the symbol of a term, without its arguments."""
    name = "G" if term.symbol == "P" else term.symbol
    return _lettered(notation.symbols[name][form], term.network, form)


def theta(network: str, notation: Notation, form: int) -> str:
    """Return the symbol of a network's weights, without arguments."""
    return _lettered(notation.theta[form], network, form)


def _lettered(template: str, network: str, form: int) -> str:
    for token, letter in (("<n>", network), ("<N>", network.upper())):
        if token in template:
            raised = _RAISED[letter] if form == TEXT else f"^{letter}" * bool(letter)
            template = template.replace(token, raised)
    return template


def _arguments(names: tuple[str, ...], unit: str, layer: str, form: int) -> str:
    written = {"i": unit, "j": "j", "l": layer, "·": _DOT[form], "s": "s"}
    text = ", ".join(written[name] for name in names)
    return f"({text})" if form == LATEX else f"({text.replace('-', '−')})"
