"""Equations typeset in the notation of each paper: LaTeX, and Unicode text without MathJax."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from finitewidth.networks import equations as eq
from finitewidth.networks.equations import Equation, Expression, Term

LATEX, TEXT = 0, 1  # position of a format in a pair
_RAISED = {"f": "ᶠ", "v": "ᵛ", "g": "ᵍ", "w": "ʷ", "": "", "F": "ꟳ", "V": "ⱽ"}
_DOT = ("\\cdot", "·")
_TIMES = {"·": (" \\cdot ", " · "), "⊙": (" \\odot ", " ⊙ ")}
_COPIES = (",\\quad k = 0, \\dots, m-1", ",  k = 0, …, m−1")

Pair = tuple[str, str]


@dataclass(frozen=True)
class Notation:
    """How a paper writes things: pairs of LaTeX and text.

    Attributes:
        symbols: of each term; ``<n>`` stands for the letter of its network, ``<N>`` for that
            letter as a capital. With ``y`` and ``x`` come their arguments.
        theta: the weights.
        unit: arguments of q, z and G: ``i`` the unit, ``l`` the layer, ``s`` the example; without
            ``i`` they are vectors.
        entry: the same in equations of gates, which hold entry by entry.
        weight: arguments of the weights: ``i`` the unit, ``j`` or ``·`` the unit below.
        operand: arguments of the layer below, within a weighted sum.
        start: arguments of layer 0.
        last_weight, last_operand: the same in the output layer, where they differ.
        times: sign of a product of pre-activations and gates.
        hard, soft, product: how they are written; ``<q>`` and ``<g>`` stand for their operands.
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
    hard: Pair = (r"\mathbb{1}_{\{<q> > 0\}}", "1{<q> > 0}")
    soft: Pair = (r"\frac{1}{1 + \exp(-\beta \cdot <q>)}", "1 / (1 + exp(−β · <q>))")
    product: Pair = ("<q><x><g>", "<q><x><g>")
    constant: Pair = ("1", "1")
    axes: str = field(init=False)

    def __post_init__(self) -> None:
        order = [a for a in self.weight if a in "ij·"] or ["·", "i"]  # Θ(l)ᵀ: below comes first
        object.__setattr__(self, "axes", "ij" if order[0] == "i" else "ji")


def write(equation: Equation, notation: Notation, form: int) -> str:
    """One equation, ``form`` `LATEX` or `TEXT`."""
    entry = isinstance(equation.right, eq.Hard | eq.Soft)
    left = _term(equation.left, notation, form, entry)
    return f"{left} = {write_right(equation.right, notation, form)}"


def write_right(right: Expression | eq.Positive, notation: Notation, form: int) -> str:
    """The right-hand side of an equation."""
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
    """A term without its arguments."""
    name = "G" if term.symbol == "P" else term.symbol
    return _lettered(notation.symbols[name][form], term.network, form)


def theta(network: str, notation: Notation, form: int) -> str:
    """The weights of a network, without arguments."""
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
