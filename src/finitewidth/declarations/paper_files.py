"""The folder of a paper, ``src/finitewidth/papers/<paper>``: its YAML files and its functions.

A text file such as ``claims.yaml`` names functions of the modules beside it: ``accuracy.n14`` in
``claims.yaml`` is ``n14`` of ``judges/training.py``, and ``h01`` is a function of ``judges.py``.
This module uses only the standard library and yaml.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from finitewidth.common.errors import ConfigError
from finitewidth.records.provenance import SOURCE_ROOT
from finitewidth.settings.yaml_files import read_yaml

PAPERS = "finitewidth.papers"
FOLDER = SOURCE_ROOT / "finitewidth/papers"
COPIES = "FINITEWIDTH_PAPERS"  # environment variable, the folder of a reader's texts


@dataclass(frozen=True, kw_only=True)
class Text:
    """One copy of one or several papers as plain text, described by the ``text.yaml`` of a paper.

    The texts are not part of this project. If the environment variable ``FINITEWIDTH_PAPERS`` names
    a folder with them, tests compare every quote with its line (``tests/helpers/text_copies.py``).
    """

    title: str
    papers: tuple[str, ...]  # that it contains, or of another version of which it is one
    # whether it was read from pictures of pages, so that a wrong sign, index, bar or power in it
    # may be a mistake of the transcription
    transcribed: bool
    sha256: str  # of its bytes


@cache
def known_texts() -> Mapping[str, Text]:
    """All texts: the paper whose folder has a file ``text.yaml`` -> what this file says."""
    texts = {}
    for file in sorted(FOLDER.glob("*/text.yaml")):
        paper = file.parent.name
        values = {"papers": (paper,), **read_yaml(file)}
        texts[paper] = Text(**{**values, "papers": tuple(values["papers"])})
    return texts


@dataclass(frozen=True, kw_only=True)
class Quote:
    """Words of a paper, and where they stand."""

    text: str  # key of `known_texts`
    line: int  # that the words begin on, from 1
    words: str  # as that copy has them, markup included; all white space counts as one blank

    def __post_init__(self) -> None:
        if self.text not in known_texts():
            raise ValueError(f"{self.text!r} is not one of the texts {', '.join(known_texts())}")
        if self.line < 1 or not self.words.strip():
            raise ValueError(f"a quote needs words and a line from 1: {self}")


@dataclass(frozen=True)
class Function:
    """A function by its name; its module is imported when it is called."""

    module: str
    name: str

    def __call__(self, *arguments: Any) -> Any:
        """Call the function."""
        return getattr(import_module(self.module), self.name)(*arguments)


def function_of(paper: str, part: str, name: str) -> Function:
    """The function that a text file names, of a part of a paper: ``judges`` or ``errata``.

    Its name is ``<module>.<function>``, or ``<function>`` where the part is one module.
    """
    module, _, function = f"{PAPERS}.{paper}.{part}.{name}".rpartition(".")
    return Function(module, function)


def modules_of(paper: str, part: str) -> list[str]:
    """All modules of a part of a paper, such as ``finitewidth.papers.npf.judges.training``."""
    single = FOLDER / paper / f"{part}.py"
    files = [single] if single.is_file() else sorted((FOLDER / paper / part).glob("*.py"))
    return [".".join(file.relative_to(SOURCE_ROOT).with_suffix("").parts) for file in files]


def text_file(paper: str, name: str) -> Path | None:
    """The file ``<name>.yaml`` of a paper; None if it has none."""
    file = FOLDER / paper / f"{name}.yaml"
    return file if file.is_file() else None


@cache
def read_texts(paper: str, name: str) -> Mapping[str, Any]:
    """The content of ``<name>.yaml`` of a paper; empty if it has no such file."""
    file = text_file(paper, name)
    return read_yaml(file) if file else {}


def refuse_unknown(where: str, values: Mapping[str, Any], known: Iterable[str]) -> None:
    """Refuse a key that nothing reads, with a `ConfigError`."""
    if unknown := set(values) - set(known):
        raise ConfigError(
            f"{where}: unknown key {', '.join(sorted(map(str, unknown)))}; "
            f"known keys are {', '.join(sorted(known))}"
        )


def build(kind: type, where: str, values: Mapping[str, Any], **given: Any) -> Any:
    """An object of a dataclass from a part of a text file; ``where`` is named in messages.

    A field of type ``str`` takes a text, or a list of texts, which are joined by a blank. The
    fields ``given`` are not taken from the file.
    """
    types = {field.name: field.type for field in fields(kind) if field.name not in given}
    refuse_unknown(where, values, types)
    made = dict(values)
    for name in values:
        if types[name] in (str, "str"):
            made[name] = _text(f"{where}: {name}", values[name])
    try:
        return kind(**made, **given)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{where}: {error}") from error


def _text(where: str, value: Any) -> str:
    parts = value if isinstance(value, list) else [value]
    if not all(isinstance(part, str) for part in parts):
        raise ConfigError(
            f"{where} is {value!r}; write a text, in quotes if YAML takes it for something else"
        )
    return " ".join(parts)


def quotes_of(where: str, entries: Iterable[Mapping[str, str]]) -> tuple[Quote, ...]:
    """Quotes, each written as ``<text> <line>: <words>``."""
    quotes = []
    for entry in entries:
        try:
            ((source, words),) = entry.items()
            text, line = source.split()
            quotes.append(Quote(text=text, line=int(line), words=words))
        except (AttributeError, TypeError, ValueError) as error:
            raise ConfigError(
                f"{where}: {entry!r} is no quote ({error}); write <text> <line>: <words>"
            ) from error
    return tuple(quotes)
