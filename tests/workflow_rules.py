"""The workflow's rules as text: what a rule reads, and what its footer says it shows."""

import ast
import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
SMK = {file.stem: file.read_text() for file in (ROOT / "workflow/rules").glob("*.smk")}
DATA = re.compile(r"plan\.(?:dataset|histories)\(|/training/")  # a rule's way to a dataset


def rules_of(text: str) -> dict[str, str]:
    """Name → text of every rule in a file, its first line included."""
    parts = re.split(r"^((?:rule|use rule \w+ as) (\w+))", text, flags=re.M)[1:]
    heads, names, bodies = parts[0::3], parts[1::3], parts[2::3]
    return {name: head + body for head, name, body in zip(heads, names, bodies, strict=True)}


RULES = {name: body for text in SMK.values() for name, body in rules_of(text).items()}


@dataclass(frozen=True)
class Footer:
    """What ``plan.footer`` is called with in a rule."""

    paper: str
    sections: tuple[str, ...]
    roles: tuple[str, ...]


def footer_of(artifact: str, rules: dict[str, str] = RULES) -> Footer:
    """The call of ``plan.footer`` in an artifact's rule, whose arguments must be written out."""
    found = re.search(r"footer=(plan\.footer\(.*?\)),?\s*$", rules[artifact], re.M | re.S)
    assert found, f"rule {artifact} has no footer=plan.footer(…)"
    call = ast.parse(found.group(1), mode="eval").body
    paper, sections, *roles = (ast.literal_eval(argument) for argument in call.args)
    return Footer(paper, tuple(sections), tuple(roles))


def uses_data(rule: str, rules: dict[str, str] = RULES) -> bool:
    """Whether a rule reads a dataset or a training, itself or through the rules it builds on."""
    body = rules[rule]
    earlier = re.findall(r"\brules\.(\w+)\.|^use rule (\w+) as", body)
    names = {name for pair in earlier for name in pair if name in rules}
    return bool(DATA.search(body)) or any(uses_data(name, rules) for name in names)
