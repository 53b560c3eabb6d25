"""Formulas within sentences, as MathML, which browsers typeset without any further file."""

import html
import re
import unicodedata
from functools import cache

from markupsafe import Markup

from finitewidth.report.formula_parser import (
    ATOMS,
    BIG,
    FUNCTIONS,
    GREEK,
    LETTERS,
    OPENING,
    PAIRS,
    SYMBOLS,
    Token,
    to_latex,
    tokens,
)

# a letter behind one of these words names a part of the paper
NAMING = {"appendix", "figure", "section", "table", "theorem", "lemma", "pane", "panel", "case",
          "equation", "panes", "panels", "stage"}  # fmt: skip
WORDS = {"a", "A", "I"}  # letters that may be words
ENDS = {"|", "‖", "/", ",", ";"} | set(SYMBOLS)
CLOSING = {closing: opening for opening, closing in OPENING.items()}
STRONG_SIGNS = {*LETTERS, *ATOMS, *BIG, "√", "⟨"} - {"…", ".."}
NAMES = {command[1:]: sign for sign, command in LETTERS.items()}
LABEL = re.compile(r"(?:^|[\s(,>])([a-n])′?'?\)")  # of a panel: (a) or a)
CLINGING = {",", ".", ";", ":", ")", "”"}
RELATIONS = {"=", "<", ">", "≤", "≥", ">=", "<=", "→", "∝", "∈", "≳", "≈", "≠"}


def with_formulas(text: object) -> Markup:
    """Return a sentence as HTML, its formulas as MathML. What cannot be read stays as it is."""
    return _typeset(html.unescape(str(text)) if isinstance(text, Markup) else str(text), "")


def in_html(markup: str) -> Markup:
    """Typeset the formulas in a piece of HTML, outside its code.

    A letter that is the label of a panel, such as ``(b)``, is no formula.
    """
    labels = "".join(sorted(set(LABEL.findall(markup))))
    if labels:
        labels = "".join(chr(each) for each in range(ord("a"), ord(labels[-1]) + 1))
    parts, code = re.split(r"(<[^>]+>)", markup), 0
    for place, part in enumerate(parts):
        if part.startswith(("<code", "<pre", "<math", "<tt")):
            code += 1
        elif part.startswith(("</code", "</pre", "</math", "</tt")):
            code -= 1
        elif part and not part.startswith("<") and not code:
            parts[place] = _typeset(html.unescape(part), labels)
    return Markup("".join(parts))


@cache
def _typeset(text: str, labels: str) -> Markup:
    # one character for a letter with an accent, or the places would shift
    plain = unicodedata.normalize("NFD", text).replace("11ᵀ", "𝟏𝟏ᵀ").replace("1 1^T", "𝟏𝟏^T")
    plain = re.sub(r"<(\w)>", r"⟨\1⟩", plain)  # a mean
    done, at = [], 0
    for start, end in formulas(plain):
        if labels and re.match(rf"\([{labels}]\)", plain[start:]):
            start += len(plain[start:]) - len(plain[start + 3 :].lstrip())
        formula = plain[start:end]
        if formula in labels:  # or empty
            continue
        if (math := mathml(formula)) is not None:
            sign = plain[end : end + 1]
            if sign in CLINGING:  # no line begins with it
                math, end = f'<span class="fw-whole">{math}{sign}</span>', end + 1
            done += [_escaped(plain[at:start]), math]
            at = end
    return Markup("".join([*done, _escaped(plain[at:])]))


def _escaped(text: str) -> str:
    return html.escape(unicodedata.normalize("NFC", text), quote=False)


def mathml(formula: str) -> str | None:
    """Return a formula as MathML, with its text for programs that cannot show it.

    A single letter is text in italics. None if it cannot be read.
    """
    from latex2mathml.converter import convert

    letter = NAMES.get(formula, formula)
    if letter in LETTERS or (len(letter) == 1 and letter.isascii() and letter.isalpha()):
        return f'<i class="fw-letter">{letter}</i>'
    try:
        latex = to_latex(formula)
        math = convert(latex, display="inline")
    except Exception:  # whatever a text contains, it can be shown as it is
        return None
    text = html.escape(unicodedata.normalize("NFC", formula).replace("𝟏𝟏", "11"))
    math = math.replace("<mo>&#x0002F;</mo>", '<mo lspace="0" rspace="0">/</mo>')
    style = ' class="fw-tall" displaystyle="true"' if "\\dfrac" in latex else ""
    return math.replace("<math ", f'<math alttext="{text}"{style} ', 1)


def formulas(text: str) -> list[tuple[int, int]]:
    """Return where the formulas of a text begin and end. Accents must be separate characters."""
    found: list[tuple[int, int]] = []
    run: list[Token] = []
    pieces = tokens(text)
    for place, token in enumerate(pieces):
        if _is_math(pieces, place):
            run.append(token)
        else:
            found += _pieces(run, text)
            run = []
    return found + _pieces(run, text)


def _is_math(pieces: list[Token], place: int) -> bool:
    """Whether a token can be a part of a formula."""
    token = pieces[place]
    after = pieces[place + 1] if place + 1 < len(pieces) else None
    before = pieces[place - 1] if place else None
    if token.kind in ("script", "raised", "lowered", "prime", "accent"):
        return True
    if token.kind == "number":
        return not (after and after.kind == "sign" and after.text in "%")
    if token.kind != "name":
        known = (*SYMBOLS, *ATOMS, *BIG, *LETTERS, *OPENING, *CLOSING, "√", "/", "|", "‖", "..")
        hyphen = token.text == "-" and bool(
            before and after and {before.kind, after.kind} <= {"name"} and not token.spaced
            and not after.spaced and max(len(before.text), len(after.text)) > 1)  # fmt: skip
        return token.text in known and not hyphen
    joined = bool(after and not after.spaced)
    marked = joined and after.kind in ("script", "raised", "lowered", "prime", "accent")
    if len(token.text) == 1 and joined and after.kind == "number" and len(after.text) > 1:
        return False  # K12 is a claim
    if len(token.text) > 2:
        return token.text in GREEK or token.text in FUNCTIONS or token.text == "sqrt"
    if len(token.text) == 2 and not (token.text in GREEK or token.text in PAIRS):
        coefficient = before is not None and before.kind == "number" and not token.spaced
        return coefficient or (marked and token.text.isupper()) or (token.text == "tr" and joined)
    attached = before is not None and not token.spaced and before.kind != "name"
    if token.text in WORDS and not (marked or attached or (joined and after.text in "(/")):
        signs = {"=", "+", "-", "−", "<", ">", "·", "→", "/"}
        return bool((after and after.text in signs) or (before and before.text in signs))
    if before is not None and before.text in "'’" and not token.spaced:
        return False
    named = before is not None and before.kind == "name" and before.text.lower() in NAMING
    return not named and not (joined and _is_word(pieces[place + 1 : place + 3]))


def _is_word(after: list[Token]) -> bool:
    """Whether a letter with these tokens behind it, without a space, is a word: ``x-axis``."""
    if after[0].text in "'’&":
        return True
    if after[0].text not in (".", "-") or len(after) < 2 or after[1].spaced:
        return False
    kind, text = after[1].kind, after[1].text
    word = kind == "name" and len(text) > 1
    return word or (after[0].text == "." and kind in ("name", "number"))


def _pieces(run: list[Token], text: str) -> list[tuple[int, int]]:
    """Cut a run of tokens at commas outside brackets, and at brackets without a partner."""
    open_brackets: list[tuple[int, str]] = []
    cuts: set[int] = set()
    for place, token in enumerate(run):
        if token.kind == "sign" and token.text in OPENING:
            open_brackets.append((place, token.text))
        elif token.kind == "sign" and token.text in CLOSING:
            if open_brackets and open_brackets[-1][1] == CLOSING[token.text]:
                open_brackets.pop()
            else:
                cuts.add(place)
    cuts |= {place for place, _ in open_brackets}
    depth, pieces, piece = 0, [], []
    for place, token in enumerate(run):
        depth += (token.kind == "sign" and token.text in OPENING) - (token.text in CLOSING)
        if place in cuts:
            depth = 0
        if place in cuts or (token.text in ",;" and depth <= 0):
            pieces.append(piece)
            piece = []
        else:
            piece.append(token)
    return [place for each in (*pieces, piece) if (place := _trimmed(each))]


def _trimmed(piece: list[Token]) -> tuple[int, int] | None:
    """Leave out operators at the ends; None if what is left is no formula but words."""
    piece = list(piece)
    while piece and piece[-1].kind == "sign" and piece[-1].text in ENDS - {"|", "‖"}:
        piece.pop()
    while piece and piece[0].kind == "sign" and piece[0].text in ENDS - RELATIONS - {"|", "‖"}:
        if piece[0].text in "-−" and len(piece) > 1 and not piece[1].spaced:
            break
        piece.pop(0)
    bars = [token.text for token in piece].count("|")
    if bars % 2 and piece[-1].text == "|":
        piece.pop()
    elif bars % 2 and piece[0].text == "|":
        piece.pop(0)
    return (piece[0].start, piece[-1].end) if piece and _is_formula(piece) else None


def _is_formula(piece: list[Token]) -> bool:
    if any(token.kind in ("script", "raised", "lowered", "prime", "accent") for token in piece):
        return piece[0].kind not in ("script", "raised", "lowered", "prime", "accent")
    letters = [t for t in piece if t.kind == "name"]
    if any(t.text in STRONG_SIGNS or t.text in GREEK for t in piece):
        return True
    return bool(letters) and not all(t.text in FUNCTIONS for t in letters)
