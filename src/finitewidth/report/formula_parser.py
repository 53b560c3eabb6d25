"""Formulas as the texts write them, such as ``e^{5l} (1 - x)/2l`` or ``Σ_l α_{l−1} √q``, in LaTeX.

Scripts, fractions, roots, sums, brackets, Greek letters and accents are read, in ASCII or Unicode.
"""

import re
import unicodedata
from dataclasses import dataclass

GREEK_NAMES = (
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "kappa", "lambda", "mu",
    "nu", "xi", "pi", "rho", "sigma", "tau", "phi", "chi", "psi", "omega", "Gamma", "Delta",
    "Theta", "Lambda", "Xi", "Phi", "Psi", "Omega", "Sigma",
)  # fmt: skip
GREEK = {name: f"\\{name}" for name in GREEK_NAMES}
LETTERS = {
    unicodedata.lookup(
        f"GREEK {'CAPITAL' if name[0].isupper() else 'SMALL'} LETTER "
        f"{name.upper().replace('LAMBDA', 'LAMDA')}"
    ): command
    for name, command in GREEK.items()
}
FUNCTIONS = {"exp", "log", "log10", "tanh", "lim", "max", "min", "sin", "cos", "arctan", "arcsin",
             "arccos", "tr", "Var", "diag"}  # fmt: skip
PREFIX = {"exp", "log", "log10", "Var", "tr", "tanh", "E"}
PAIRS = {"dW", "dH", "dt", "WB", "Xw"}  # two letters that are no word
SYMBOLS = {
    "·": r"\cdot ", "×": r"\times ", "−": "-", "-": "-", "+": "+", "=": "=", "<": "<", ">": ">",
    "≤": r"\le ", "≥": r"\ge ", ">=": r"\ge ", "<=": r"\le ", "→": r"\to ", "->": r"\to ",
    "∝": r"\propto ", "≳": r"\gtrsim ", "≈": r"\approx ", "∈": r"\in ", "⊙": r"\odot ",
    "∘": r"\circ ", "~": r"\sim ", ":=": ":=", ",": ",", "±": r"\pm ", "≠": r"\ne ", ";": ";",
}  # fmt: skip
ATOMS = {"∞": r"\infty ", "ℝ": r"\mathbb{R}", "𝕀": r"\mathbb{I}", "𝟏": r"\mathbf{1}",
         "…": r"\ldots ", "..": r"\ldots ", "∫": r"\int ", "½": "½ "}  # fmt: skip
BIG = {"Σ": r"\sum ", "Π": r"\prod "}
OPENING = {"(": ")", "[": "]", "{": "}", "⟨": "⟩"}
BRACKETS = {"{": r"\{", "}": r"\}", "⟨": r"\langle ", "⟩": r"\rangle ", "‖": r"\|"}
ACCENTS = {"\u0302": "hat", "\u0303": "tilde", "\u0307": "dot", "\u0304": "bar"}
SUPERSCRIPTS = dict(
    zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺⁽⁾ᵀⁿˡᵈʰⁱʲᵏᶠᵛᵐᵗˣᵖ", "0123456789-+()Tnldhijkfvmtxp", strict=True)
)
SUBSCRIPTS = dict(zip("₀₁₂₃₄₅₆₇₈₉₋₊₍₎ₓⱼᵢₙₖₗₘₜₚₛₕₐₑ", "0123456789-+()xjinklmtpshae", strict=True))

_SCRIPT = r"(?:\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|"
_SCRIPT += r"[-−]?\d+|[A-Za-z]+\d*|.)"
TOKEN = re.compile(
    rf"\s*(?:(?P<script>[_^]{_SCRIPT})|(?P<number>[0-9]+(?:\.[0-9]+)?(?:e[-−+]?[0-9]+)?)"
    rf"|(?P<raised>[{''.join(SUPERSCRIPTS)}]+)|(?P<lowered>[{''.join(SUBSCRIPTS)}]+)"
    r"|(?P<prime>′+)|(?P<accent>[\u0300-\u036f])|(?P<name>log10\b|[A-Za-z]+)"
    r"|(?P<sign>>=|<=|->|:=|\.\.|\S))"
)


class FormulaError(ValueError):
    """The text is not a formula that this module can read."""


@dataclass(frozen=True)
class Token:
    """A piece of a formula: its kind, its text, its place, and whether a space precedes it."""

    kind: str
    text: str
    start: int
    end: int
    spaced: bool


def tokens(text: str) -> list[Token]:
    """Return the pieces of a text. Accents must be separate characters (Unicode's form NFD)."""
    found = []
    for match in TOKEN.finditer(text):
        kind = match.lastgroup or ""
        if kind:
            start = match.start(kind)
            found.append(Token(kind, match[kind], start, match.end(), start > match.start()))
    return found


@dataclass(frozen=True)
class Item:
    """A piece of LaTeX.

    Attributes:
        factor: whether it is a factor, and not an operator.
        simple: whether it may be a part of a fraction on one line.
        spaced: whether a space precedes it.
        inside: its content without brackets; empty if it has none.
    """

    latex: str
    factor: bool = True
    simple: bool = True
    spaced: bool = False
    inside: str = ""


def to_latex(formula: str, flat: bool = False) -> str:
    """Translate a formula to LaTeX.

    Args:
        formula: in ASCII or Unicode.
        flat: whether to write all fractions on one line, as in exponents.

    Raises:
        FormulaError: a bracket is not closed, or a piece has no meaning.
    """
    parser = _Parser(tokens(unicodedata.normalize("NFD", formula).replace("\u0338", "")), flat)
    latex = parser.expression("")
    if parser.rest:
        raise FormulaError(formula)
    return latex


class _Parser:
    def __init__(self, pieces: list[Token], flat: bool):
        self.rest, self.flat = list(pieces), flat

    def peek(self) -> Token | None:
        return self.rest[0] if self.rest else None

    def expression(self, closing: str) -> str:
        """Read up to a closing bracket, or to the end."""
        items: list[Item] = []
        while (token := self.peek()) and token.text != closing:
            if token.text == "/":
                self.rest.pop(0)
                items.append(self.fraction(items))
            elif token.kind == "sign" and token.text in SYMBOLS:
                self.rest.pop(0)
                items.append(Item(SYMBOLS[token.text], factor=False))
            else:
                items.append(self.factor())
        if closing:
            if not self.rest:
                raise FormulaError(f"{closing} is missing")
            self.rest.pop(0)
        return " ".join(item.latex for item in items)

    def fraction(self, items: list[Item]) -> Item:
        """Take the numerator from the end of ``items``, and read the denominator."""
        above = _run(items)
        if not above or not self.rest:
            raise FormulaError("a fraction lacks a part")
        below = [self.factor()]
        while (token := self.peek()) and not token.spaced and _is_symbol(token):
            below.append(self.factor())
        first = above[0].spaced
        one_line = self.flat or all(item.simple for item in (*above, *below))
        if one_line:
            joined = " ".join(i.latex for i in above) + " / " + " ".join(i.latex for i in below)
            return Item(joined, simple=False, spaced=first)
        return Item(f"\\dfrac{{{_bare(above)}}}{{{_bare(below)}}}", simple=False, spaced=first)

    def factor(self) -> Item:
        """Read a number, letter, root, sum or bracket, with its scripts."""
        if not self.rest:
            raise FormulaError("a factor is missing")
        token = self.rest.pop(0)
        text, item = token.text, None
        if token.kind == "number":
            item = Item(_number(text))
        elif token.kind == "name":
            return self.name(token)
        elif text in BIG and not (text == "Σ" and self.is_covariance()):
            return self.prefixed(BIG[text], token, tight=False)
        elif text == "√":
            inside = self.factor()
            item = Item(f"\\sqrt{{{inside.inside or inside.latex}}}", simple=False)
        elif text in OPENING or text in "|‖":
            closing = OPENING.get(text, text)
            inside_text = self.expression(closing)
            item = _bracketed(text, inside_text, closing)
        elif text in LETTERS or text in ATOMS:
            return self.applied(Item(LETTERS.get(text) or ATOMS[text]), token)
        if item is None:
            raise FormulaError(text)
        return self.scripted(item, token.spaced)

    def applied(self, item: Item, token: Token) -> Item:
        """Read the scripts of a letter and, if it names a function, its arguments."""
        item = self.scripted(item, token.spaced)
        after = self.peek()
        if after and after.text == "(" and not after.spaced:
            arguments = self.factor()
            return Item(item.latex + arguments.latex, simple=False, spaced=token.spaced)
        return item

    def is_covariance(self) -> bool:
        """Whether the Σ just read is a letter: with a power or an accent, and no index."""
        after = self.peek()
        return bool(after and not after.spaced
                    and (after.kind in ("accent", "raised") or after.text[0] in "^)"))  # fmt: skip

    def name(self, token: Token) -> Item:
        text, after = token.text, self.peek()
        if text == "sqrt" and after and after.text == "(":
            inside = self.factor()
            return self.scripted(Item(f"\\sqrt{{{inside.inside}}}", simple=False), token.spaced)
        if text == "E" and after and (
            after.text in "[{" or (after.spaced and _is_symbol(after) and after.kind != "number")
        ):  # fmt: skip
            return self.prefixed(r"\mathbb{E} ", token)
        if text in FUNCTIONS:
            word = {"log10": r"\log_{10} "}.get(text, f"\\operatorname{{{text}}} ")
            return self.prefixed(word, token) if text in PREFIX else self.scripted(
                Item(word), token.spaced)  # fmt: skip
        if text in GREEK:
            item = Item(GREEK[text])
        elif text in PAIRS or len(text) <= 2:
            item = Item(text)
        else:
            raise FormulaError(text)
        if len(text) == 1 and text.isupper() and after and (after.kind, after.spaced) == (
            "number", False
        ):  # fmt: skip
            item = Item(f"{text}_{{{self.rest.pop(0).text}}}")  # H1
        return self.applied(item, token)

    def prefixed(self, word: str, token: Token, tight: bool = True) -> Item:
        """Read the factor that an operator such as E or Σ applies to; all factors for a sum."""
        head = self.scripted(Item(word), token.spaced)
        parts = [head.latex]
        while (after := self.peek()) and _starts_factor(after):
            parts.append(self.factor().latex)
            if tight:
                break
        return Item(" ".join(parts), simple=False, spaced=token.spaced)

    def scripted(self, item: Item, spaced: bool) -> Item:
        """Read the scripts and accents behind a factor."""
        latex, above, below = item.latex, "", ""
        while (token := self.peek()) and not token.spaced:
            if token.kind == "accent" and token.text in ACCENTS:
                latex = f"\\{ACCENTS[token.text]}{{{latex}}}"
            elif token.kind == "prime":
                above += r"\prime " * len(token.text)
            elif token.kind == "raised":
                above += _script("".join(SUPERSCRIPTS[sign] for sign in token.text))
            elif token.kind == "lowered":
                below += _script("".join(SUBSCRIPTS[sign] for sign in token.text))
            elif token.kind == "script" and token.text[0] == "^":
                above += _script(token.text[1:])
            elif token.kind == "script":
                below += _script(token.text[1:])
            else:
                break
            self.rest.pop(0)
        scripts = f"_{{{below}}}" * bool(below) + f"^{{{above}}}" * bool(above)
        inside = "" if scripts else item.inside
        return Item(latex + scripts, simple=item.simple, spaced=spaced, inside=inside)


def _script(text: str) -> str:
    """The content of an index or a power; words stand upright."""
    if text[0] == "{":
        text = text[1:-1]
    if re.fullmatch(r"[A-Za-z]{3,}\d*|in", text) and text not in GREEK:
        return f"\\mathrm{{{text}}}"
    return to_latex(text, flat=True)


def _number(text: str) -> str:
    mantissa, _, exponent = text.replace("−", "-").partition("e")
    return f"{mantissa} \\cdot 10^{{{int(exponent)}}}" if exponent else mantissa


def _bracketed(opening: str, content: str, closing: str) -> Item:
    left, right = BRACKETS.get(opening, opening), BRACKETS.get(closing, closing)
    tall = "\\dfrac" in content or opening == "|"
    latex = f"\\left{left}{content}\\right{right}" if tall else f"{left}{content}{right}"
    # only round and square brackets are left out above and below a bar
    short = opening in "|‖" and " " not in content
    return Item(latex, simple=short, inside=content if opening in "([" else "")


def _run(items: list[Item]) -> list[Item]:
    """Take the last factor, and those that stand before it without a space."""
    run: list[Item] = []
    while items and items[-1].factor and not (run and run[0].spaced):
        run.insert(0, items.pop())
    return run


def _bare(items: list[Item]) -> str:
    """The LaTeX of factors; a single pair of brackets is left out."""
    if len(items) == 1 and items[0].inside:
        return items[0].inside
    return " ".join(item.latex for item in items)


def _is_symbol(token: Token) -> bool:
    return token.kind in ("number", "name") or token.text in LETTERS


def _starts_factor(token: Token) -> bool:
    return _is_symbol(token) or token.text in OPENING or token.text in {"√", "‖", *BIG, *ATOMS}
