"""Which numbers a template of a caption has typed in: none but those of the lists below.

A number of a caption is computed (``{{ fact.… }}``), or it is a constant of a paper with its place
(``{{ paper(…, …) }}``). What may stand in the text all the same is structure: where something
stands in a paper, a name, a power in a formula.
"""

import re
from dataclasses import dataclass, field

from jinja2 import nodes

from finitewidth.captions.render import environment

# "Figure 3", "sections 1 and 3", "equation (2)", "Theorem B.2", "claim D25", "item 5"
PLACES = re.compile(
    r"\b(?:(?:Figure|Table|Theorem|Lemma|Section|section|Equation|equation|experiment|item|claim)s?"
    r"|Corollary|appendix)\s+\(?[A-Z]?\.?\d+(?:\.\d+)*\)?(?:\s+(?:and|to)\s+\d+(?:\.\d+)*)?"
)
# names and formulas, as they are written
EXACT = (
    "CIFAR-10",
    "Corollary C.1",
    "E[K_0]",
    "K_0",
    "Theta(x,x)^2",
    "E[Theta(x,x)]^2",
    "kappa_1",
    "kappa_2",
    "n_0",
    "alpha_0",
    "d^3",
    "d^2",
    "mu^2",
    "sigma^(2(d-1))",
    "^(d-1)",
    "layer d-1",
    "1 - mu",
    "1 + (n-1)",
    "1 + epsilon",
    "1 + exp(",
    "1 - momentum",
    "NC1",
    "NC2",
    "NC3",
    "H_1",
    "H_2",
    "Third panel",
    "second moment",
    "fourth moment",
    "a second",
    "Double descent",
    "r^2",
)
WORDS = re.compile(
    r"\b(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty|"
    r"thirty|forty|fifty|sixty|hundred|thousand|million|billion|dozen|half|halves|halved|third|"
    r"quarter|fourth|fifth|sixth|seventh|eighth|ninth|tenth|hundredth|thousandth|once|twice|thrice|"
    r"double|doubled|doubling|triple|second|several|per cent|percent)s?\b",
    re.IGNORECASE,
)
DIGITS = re.compile(r"\d[\d.,/]*|%")
FORMATS = ("number", "significant", "percent")  # their arguments are numbers of digits


@dataclass
class Found:
    """What a template has typed in, and what it says of papers and claims."""

    literals: list[str] = field(default_factory=list)
    constants: list[tuple[str, str]] = field(default_factory=list)
    claims: set[str] = field(default_factory=set)
    facts: set[str] = field(default_factory=set)


def typed_in(text):
    """Numbers and number words of a text that are not structure."""
    text = PLACES.sub(" ", " ".join(text.split()))
    for name in sorted(EXACT, key=len, reverse=True):
        text = text.replace(name, " ")
    return DIGITS.findall(text) + WORDS.findall(text)


def inspect(template):
    """Everything of a template that a reader could take for a number."""
    found = Found()
    tree = environment().parse(template)
    for part in tree.find_all(nodes.TemplateData):
        found.literals += typed_in(part.data)
    for node in tree.body:
        _visit(node, found)
    return found


def _visit(node, found):
    if isinstance(node, nodes.Call) and isinstance(node.node, nodes.Name):
        if node.node.name == "paper":
            value, place = (argument.as_const() for argument in node.args)
            found.constants.append((value, place))
            return
        if node.node.name in ("verdict", "judged"):
            found.claims.add(node.args[0].as_const())
            return
    if isinstance(node, nodes.Getattr) and getattr(node.node, "name", "") == "fact":
        found.facts.add(node.attr)
        return
    if isinstance(node, nodes.Filter) and node.name in FORMATS:
        _visit(node.node, found)
        return
    if isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Const):
        _visit(node.node, found)  # an end of a range
        return
    if isinstance(node, nodes.Const):
        found.literals += typed_in(str(node.value))
    for child in node.iter_child_nodes():
        if not isinstance(child, nodes.TemplateData):
            _visit(child, found)
