"""Plain text as LaTeX: every character has a form that compiles and prints the same character.

The result is ASCII and needs no package, with pdfTeX as with LuaTeX.
"""

import unicodedata
from itertools import groupby

ASCII = {
    "\\": r"$\backslash$",
    "&": r"\&",
    "%": r"\%",
    "#": r"\#",
    "$": r"\$",
    "{": r"\{",
    "}": r"\}",
    "~": r"\~{}",
    "^": r"\^{}",
    "`": r"\`{}",
    '"': r'\char"22{}',
    # a glyph, where \_ is a rule that cannot be searched or copied
    "_": r"{\ttfamily\char95}",
    # other glyphs than these in text of the default encoding
    "<": "$<$",
    ">": "$>$",
    "|": "$|$",
    # otherwise read as arguments of the end of a row
    "[": "{[}",
    "*": "{*}",
    # otherwise joined with the next character to a dash or a quotation mark
    "-": "{-}",
    "'": "{'}",
}
SPACES = {"\t": " ", "\n": " ", "\u00a0": "~", "\u2009": r"\,", "\u202f": r"\,"}
PUNCTUATION = {
    "–": "{--}",
    "—": "{---}",
    "’": "{'}",
    "‘": "{`}",
    "“": "{``}",
    "”": "{''}",
    "…": r"\dots{}",
    "§": r"\S{}",
    "ß": r"\ss{}",
    "ı": r"\i{}",
}
MATHEMATICS = {
    "±": r"\pm",
    "∓": r"\mp",
    "×": r"\times",
    "·": r"\cdot",
    "÷": r"\div",
    "−": "-",
    "∞": r"\infty",
    "∈": r"\in",
    "∉": r"\notin",
    "≤": r"\leq",
    "≥": r"\geq",
    "≠": r"\neq",
    "≈": r"\approx",
    "∼": r"\sim",
    "≡": r"\equiv",
    "∝": r"\propto",
    "≪": r"\ll",
    "≫": r"\gg",
    "→": r"\rightarrow",
    "←": r"\leftarrow",
    "↔": r"\leftrightarrow",
    "⊙": r"\odot",
    "⊗": r"\otimes",
    "⊤": r"\top",
    "∥": r"\|",
    "∑": r"\Sigma",
    "∏": r"\Pi",
    "√": r"\surd",
    "∂": r"\partial",
    "∇": r"\nabla",
    "⟨": r"\langle",
    "⟩": r"\rangle",
    "ℓ": r"\ell",
    "†": r"\dagger",
    "‡": r"\ddagger",
    "°": r"{}^\circ",
    "∩": r"\cap",
    "∪": r"\cup",
    "⊂": r"\subset",
    "∅": r"\emptyset",
    "∀": r"\forall",
    "∃": r"\exists",
    "ϵ": r"\epsilon",
    "ϕ": r"\phi",
    "ϑ": r"\vartheta",
}
# raised in text, as marks of a note are
RAISED_MARKS = "†‡"
GREEK_NAMES = {
    "LAMDA": "lambda",
    "FINAL SIGMA": "varsigma",
    "PHI": "varphi",
    "EPSILON": "varepsilon",
}


def escaped(text: str) -> str:
    """Return LaTeX that prints ``text``.

    Raised and lowered characters, such as those of ``10⁻³`` and ``qᵍₓ``, become superscripts and
    subscripts. A character without a form in LaTeX's default fonts is printed as its code point,
    ``U+4E2D``, since a table that does not compile would stop the whole document.
    """
    return "".join(_run("".join(run), height) for height, run in groupby(text, position))


def position(character: str) -> str:
    """Return ``super`` or ``sub`` for a raised or lowered character, otherwise nothing."""
    kind = unicodedata.decomposition(character).partition(" ")[0]
    return {"<super>": "super", "<sub>": "sub"}.get(kind, "")


def _run(run: str, height: str) -> str:
    """Characters of one ``height`` in LaTeX: ``super``, ``sub`` or neither."""
    if not height:
        return "".join(map(_character, run))
    inner = "".join(map(_character, unicodedata.normalize("NFKC", run)))
    return rf"\text{height}script{{{inner}}}"


def _character(character: str) -> str:
    for forms in (ASCII, SPACES, PUNCTUATION):
        if character in forms:
            return forms[character]
    if character in RAISED_MARKS:
        return f"$^{MATHEMATICS[character]}$"
    if character in MATHEMATICS:
        return f"${MATHEMATICS[character]}$"
    if character.isascii() and character.isprintable():
        return character
    return _greek(character) or _other(character)


def _greek(character: str) -> str:
    """A Greek letter in LaTeX; empty for other characters."""
    name = unicodedata.name(character, "")
    for case in ("SMALL", "CAPITAL"):
        start = f"GREEK {case} LETTER "
        letter = name.removeprefix(start)
        if letter == name or (" " in letter and letter not in GREEK_NAMES):
            continue
        if case == "CAPITAL":
            return rf"$\{letter.replace('LAMDA', 'LAMBDA').capitalize()}$"
        return rf"$\{GREEK_NAMES.get(letter, letter.lower())}$"
    return ""


def _other(character: str) -> str:
    """A character as a plain one that means the same, or as its code point."""
    plain = unicodedata.normalize("NFKC", character)
    if plain != character:
        return escaped(plain)
    return rf"{{\ttfamily U+{ord(character):04X}}}"
