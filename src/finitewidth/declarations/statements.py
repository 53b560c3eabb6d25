"""Numbered statements of the papers, and how each is checked: ``papers/<paper>/statements.yaml``.

A check is a claim, an erratum, a test, or the reason why there is none.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from finitewidth.common.errors import ConfigError
from finitewidth.declarations import paper_files

KINDS = (
    "theorem",
    "lemma",
    "proposition",
    "corollary",
    "definition",
    "assumption",
    "equation",
    "remark",
)
# kinds of checks
CLAIM = "claim"
ERRATUM = "erratum"
TEST = "test"
MISSING = "missing"
CHECKS = (CLAIM, ERRATUM, TEST, MISSING)


@dataclass(frozen=True)
class Check:
    """One way in which a statement is checked, or why it is not."""

    kind: str  # one of `CHECKS`
    # id of a claim or an erratum, file and name of a test (`tests/laws/test_x.py::test_name`), or a
    # reason
    value: str

    def __post_init__(self) -> None:
        if self.kind not in CHECKS:
            raise ValueError(f"{self.kind!r} is not one of {', '.join(CHECKS)}")
        if not self.value.strip():
            raise ValueError(f"{self.kind} is empty")
        if self.kind == TEST:
            file, _, name = self.value.partition("::")
            if not (file.startswith("tests/") and name.startswith("test_")):
                raise ValueError(f"{self.value!r} is no test; write tests/<file>.py::test_<name>")

    @property
    def words(self) -> str:
        """What it is: an id, a reason or, of a test, the sentence that its name is."""
        if self.kind != TEST:
            return self.value
        name = self.value.partition("::test_")[2]
        return name.replace("_", " ")


@dataclass(frozen=True, kw_only=True)
class Statement:
    """A theorem, lemma, definition or equation of a paper that states something."""

    paper: str
    place: str  # its number in the paper, such as "Theorem 3.1"
    kind: str  # one of `KINDS`
    printed_in: str  # section that prints it
    statement: str  # in our words, formulas between dollar signs
    checks: tuple[Check, ...]

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"{self.kind!r} is not one of {', '.join(KINDS)}")
        for name in ("place", "printed_in", "statement"):
            if not getattr(self, name).strip():
                raise ValueError(f"{name} is empty")
        if not self.checks:
            raise ValueError("there are no checks; write missing: <reason>")

    @property
    def is_checked(self) -> bool:
        """Whether it is checked, if only in part."""
        return any(check.kind != MISSING for check in self.checks)

    @property
    def lacks_a_part(self) -> bool:
        """Whether it is checked, but a part of it is not."""
        return self.is_checked and any(check.kind == MISSING for check in self.checks)

    def checks_of(self, kind: str) -> list[str]:
        """The values of its checks of a kind, such as the ids of its errata."""
        return [check.value for check in self.checks if check.kind == kind]


@cache
def statements_of(paper: str) -> tuple[Statement, ...]:
    """All statements of a paper, in their order; none if it has no ``statements.yaml``.

    Raises:
        ConfigError: a key is unknown or missing, a value is empty, a check has another form, or two
            statements have the same place.
    """
    content = paper_files.read_texts(paper, "statements")
    file = paper_files.text_file(paper, "statements")
    paper_files.refuse_unknown(str(file), content, ("statements",))
    statements: dict[str, Statement] = {}
    for number, entry in enumerate(content.get("statements", ()), start=1):
        where = f"{file}: {entry.get('place', f'statement {number}')}"
        values = dict(entry)
        values["checks"] = _checks_of(f"{where}: checks", values.get("checks", ()))
        statement = paper_files.build(Statement, where, values, paper=paper)
        if statement.place in statements:
            raise ConfigError(f"{where}: two statements have this place")
        statements[statement.place] = statement
    return tuple(statements.values())


def _checks_of(where: str, entries: Iterable[Mapping[str, Any]]) -> tuple[Check, ...]:
    """Checks, each written as ``<kind>: <value>``."""
    checks = []
    for entry in entries:
        try:
            ((kind, value),) = entry.items()
            checks.append(Check(kind, str(value)))
        except (AttributeError, ValueError) as error:
            raise ConfigError(
                f"{where}: {entry!r} is no check ({error}); write claim, erratum, test or missing, "
                "a colon and its value"
            ) from error
    return tuple(checks)
