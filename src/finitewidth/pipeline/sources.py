"""Where every setting of a paper comes from: the tags in the comments of ``config/papers``.

A source is given by tags at the start of a comment. Prose may follow them.

``[P]``
    The value in the file is the paper's.
``[C]``
    The value in the file is that of the authors' public code.
``[P or more]``, ``[C or more]``
    So is any larger number, for example more draws for the same estimate.
``[choice]``
    The value in the file is ours. Neither the paper nor the code gives it.
``[P=0]``, ``[C=[64, 128]]``
    A further value, written in YAML, which the paper or the code gives as well. It stands beside
    one of the tags above: ``eps: 0.1  # [C] [P=0]``.

A leaf is a scalar or a list, also one inside ``{beta: 4, eps: 0.1}``. Its tags are the first found
in:

1. the comments on the lines from its key to the end of its value;
2. the comment lines directly above its key that are indented as the key is;
3. the same two places of the enclosing key, then of the key around that. Of a mapping, only the
   comment on the line of the key counts. A mapping in braces that spans several lines has none:
   there each comment belongs to the leaves on its own line.

A leaf reached through an alias (``*name``) or a merge key (``<<: *name``) has the source of the
place where its value is written. Comments above the first key of a file are prose without meaning.

Refused, so that no tag is lost or read in two ways: a leaf without a tag, ``[choice]`` beside a
bare ``[P]`` or ``[C]``, a tag inside the prose, and a tag that belongs to no leaf.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from finitewidth.common.errors import ConfigError

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the former is ten times as fast
_BODY = re.compile(r"(?P<bare>[PC]( or more)?|choice)|[PC]=(?P<value>.+)", re.DOTALL)
_IN_PROSE = re.compile(r"\[(p|c|choice)\b[^\]]*\]", re.IGNORECASE)
_MERGE = "tag:yaml.org,2002:merge"
_NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")


@dataclass(frozen=True)
class Source:
    """Where a setting comes from.

    Attributes:
        kind: ``paper`` where the value in the file is that of the paper or its public code,
            ``choice`` where it is ours.
        tags: the tags as written, without brackets: ``("C", "P=0")``.
        accepted: further values that the paper or its code gives, beside the one in the file.
    """

    kind: str
    tags: tuple[str, ...]
    accepted: tuple[Any, ...] = ()

    @property
    def or_more(self) -> bool:
        """Whether a number larger than the one in the file is the paper's too."""
        return any(tag.endswith(" or more") for tag in self.tags)


def read_sources(folder: str | Path) -> dict[tuple[str, ...], Source]:
    """The source of every leaf of the papers' settings.

    Args:
        folder: the folder ``config/papers``, one YAML file per paper.

    Returns:
        Path of the leaf -> its source; a path is ``("npf", "regimes", "gate", "eps")``.

    Raises:
        ConfigError: a file cannot be parsed, a tag is malformed or belongs to no leaf, or a leaf
            has no tag. The message names the file and the line.
    """
    found: dict[tuple[str, ...], Source] = {}
    for path in sorted(Path(folder).glob("*.yaml")):
        found |= _File(path).sources()
    return found


def accepts(source: Source, own: Any, value: Any) -> bool:
    """Whether a value is one that the paper or its public code gives.

    Args:
        source: source of the setting.
        own: its value in ``config/papers``.
        value: the value in question.
    """
    if any(_same(value, other) for other in source.accepted):
        return True
    if source.kind != "paper":
        return False
    return _same(value, own) or (source.or_more and _number(value) and value >= own)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _same(one: Any, other: Any) -> bool:
    """Equality of YAML values: 4 is 4.0, but 1 is not true."""
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        pairs = zip(one, other, strict=False)
        return len(one) == len(other) and all(_same(a, b) for a, b in pairs)
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


@dataclass(frozen=True)
class _Comment:
    """A comment: its column, whether nothing else is on its line, and its tags, if any."""

    column: int
    alone: bool
    tags: tuple[str, ...]


@dataclass(frozen=True)
class _Found:
    """A source, and the lines of the comments that give it."""

    source: Source
    lines: tuple[int, ...]


class _File:
    """One file of ``config/papers``: its nodes, its comments, and which tags have been used."""

    def __init__(self, path: Path):
        self._path = path
        text = path.read_text(encoding="utf-8")
        try:
            self._root = yaml.compose(text, _Loader)
        except yaml.YAMLError as error:
            raise ConfigError(f"{path}: cannot be parsed as YAML: {error}") from error
        self._comments = self._read_comments(text)
        self._sources: dict[int, Source] = {}  # id of a leaf's node -> its source
        self._seen: set[int] = set()  # ids of nodes: an alias gives the same node again
        self._used: set[int] = set()  # lines of the comments that some leaf has its source from

    def sources(self) -> dict[tuple[str, ...], Source]:
        """Path of every leaf -> its source, aliases and merge keys followed."""
        if not isinstance(self._root, yaml.MappingNode):
            return {}
        self._mark(self._root, None, ())
        for line, comment in self._comments.items():
            if comment.tags and line not in self._used:
                tags = " ".join(f"[{tag}]" for tag in comment.tags)
                raise self._error(
                    line, f"{tags} belongs to no setting; put it on the line of one or above its "
                    "key, indented as the key is")  # fmt: skip
        return {path: self._sources[id(leaf)] for path, leaf in _leaves(self._root)}

    def _error(self, line: int, message: str) -> ConfigError:
        return ConfigError(f"{self._path}, line {line + 1}: {message}")

    def _read_comments(self, text: str) -> dict[int, _Comment]:
        """Line -> the comment on it, for the lines from the first key on."""
        if not isinstance(self._root, yaml.MappingNode) or not self._root.value:
            return {}
        quoted, found = list(_quoted(self._root)), {}
        first = self._root.value[0][0].start_mark.line
        for number, line in enumerate(text.splitlines()):
            if number < first or "#" not in line:
                continue
            for match in re.finditer(r"(?:^|(?<=\s))#", line):
                column = match.start()
                if any(start <= (number, column) < end for start, end in quoted):
                    continue
                tags = self._read_tags(number, line[column + 1 :].strip())
                found[number] = _Comment(column, not line[:column].strip(), tags)
                break
        return found

    def _read_tags(self, line: int, comment: str) -> tuple[str, ...]:
        """The tags at the start of a comment."""
        tags, rest = [], comment
        while rest.startswith("["):
            end = _closing(rest)
            body = rest[1:end] if end else rest
            match = _BODY.fullmatch(body)
            if not end or not match:
                raise self._error(
                    line, f"[{body.lstrip('[')}{']' if end else ''} is no tag; write [P], [C], "
                    "[choice], [P or more] or, for a further value, [P=0]")  # fmt: skip
            if match["value"]:
                self._value(line, match["value"])
            tags.append(body)
            rest = rest[end + 1 :].lstrip()
        stray = _IN_PROSE.search(rest)
        if stray:
            raise self._error(line, f"{stray[0]} stands inside a comment; tags come first in it")
        return tuple(tags)

    def _value(self, line: int, text: str) -> Any:
        """The value of a tag such as ``[P=0]``."""
        try:
            value = yaml.load(text, _Loader)
        except yaml.YAMLError as error:
            raise self._error(line, f"{text!r} in a tag is no YAML value") from error
        if isinstance(value, str) and re.fullmatch(r"[-+.\d]+e[-+]?\d+", value, re.IGNORECASE):
            raise self._error(line, f"{text} in a tag is text to YAML; write 0.001, not 1e-3")
        return value

    def _mark(self, node: yaml.MappingNode, around: _Found | None, path: tuple[str, ...]) -> None:
        """Give the leaves written in a mapping their sources.

        Args:
            node: the mapping.
            around: what the enclosing keys say.
            path: keys down to it.
        """
        for key, value in node.value:
            if id(value) in self._seen:
                continue
            self._seen.add(id(value))
            here = (*path, key.value)
            if key.tag == _MERGE:
                parts = [value] if isinstance(value, yaml.MappingNode) else value.value
                for part in parts:
                    if id(part) not in self._seen or part is value:
                        self._mark(part, around, path)
                continue
            found = self._said_of(key, value) or around
            if isinstance(value, yaml.MappingNode):
                self._mark(value, found, here)
            else:
                self._sources[id(value)] = self._adopted(found, key, value, here)

    def _adopted(self, found: _Found | None, key: Any, value: Any, path: tuple[str, ...]) -> Source:
        """The source of a leaf, its comments counted as used."""
        line, name = key.start_mark.line, ".".join(path)
        if found is None:
            raise self._error(line, f"{name} has no source; write [P], [C] or [choice]")
        if found.source.or_more and value.tag not in _NUMBERS:
            raise self._error(line, f"{name} is no number, so its tag cannot say 'or more'")
        self._used.update(found.lines)
        return found.source

    def _said_of(self, key: yaml.Node, value: yaml.Node) -> _Found | None:
        """What the comments beside a key or above it say."""
        line, last = key.start_mark.line, _last_line(value)
        if isinstance(value, yaml.MappingNode):
            several = value.flow_style and last > line
            beside = range(0) if several else range(line, line + 1)
        else:
            beside = range(line, last + 1)
        return self._tagged(beside) or self._tagged(self._above(line, key.start_mark.column))

    def _above(self, line: int, column: int) -> list[int]:
        """The comment lines directly above a key that are indented as it is."""
        found = []
        comment = self._comments.get(line - 1)
        while comment and comment.alone and comment.column == column:
            line -= 1
            found.append(line)
            comment = self._comments.get(line - 1)
        return found[::-1]

    def _tagged(self, lines: Iterable[int]) -> _Found | None:
        """The source that the tags on some lines give together."""
        comments = {line: self._comments[line] for line in lines if line in self._comments}
        tagged = {line: comment.tags for line, comment in comments.items() if comment.tags}
        if not tagged:
            return None
        first, tags = min(tagged), tuple(dict.fromkeys(sum(tagged.values(), ())))
        bare = [tag for tag in tags if "=" not in tag]
        shown = " ".join(f"[{tag}]" for tag in tags)
        if not bare:
            raise self._error(
                first, f"{shown} gives a further value only; say whose the value in the file is: "
                "[P], [C] or [choice]")  # fmt: skip
        if "choice" in bare and len(bare) > 1:
            raise self._error(first, f"{shown} says both that a value is ours and that it is not")
        values = tuple(self._value(first, tag[2:]) for tag in tags if "=" in tag)
        kind = "choice" if "choice" in bare else "paper"
        return _Found(Source(kind, tags, values), tuple(tagged))


def _closing(text: str) -> int:
    """Index of the bracket that closes the one at the start of a text; 0: there is none."""
    depth = 0
    for index, character in enumerate(text):
        depth += (character == "[") - (character == "]")
        if depth == 0:
            return index
    return 0


def _last_line(node: yaml.Node) -> int:
    """The last line of a value. A block's own end mark is that of the next token."""
    if isinstance(node, yaml.ScalarNode):
        return node.end_mark.line - (node.style in ("|", ">"))
    if node.flow_style or not node.value:
        return node.end_mark.line
    last = node.value[-1]
    return _last_line(last[1] if isinstance(last, tuple) else last)


def _quoted(node: yaml.Node) -> Iterable[tuple[tuple[int, int], tuple[int, int]]]:
    """Starts and ends, as line and column, of the scalars in which # begins no comment."""
    if isinstance(node, yaml.ScalarNode):
        if node.style in ("'", '"', "|", ">"):
            start, end = node.start_mark, node.end_mark
            yield (start.line, start.column), (end.line, end.column)
        return
    for child in node.value:
        for part in child if isinstance(child, tuple) else (child,):
            yield from _quoted(part)


def _leaves(
    node: yaml.Node, path: tuple[str, ...] = ()
) -> Iterable[tuple[tuple[str, ...], yaml.Node]]:
    """Path and node of every leaf, merge keys followed."""
    if not isinstance(node, yaml.MappingNode):
        yield path, node
        return
    for key, value in _merged(node).items():
        yield from _leaves(value, (*path, key))


def _merged(node: yaml.MappingNode) -> dict[str, yaml.Node]:
    """The entries of a mapping with those of its merge keys; its own and earlier ones win."""
    own = {key.value: value for key, value in node.value if key.tag != _MERGE}
    result: dict[str, yaml.Node] = {}
    for key, value in node.value:
        if key.tag == _MERGE:
            for part in [value] if isinstance(value, yaml.MappingNode) else value.value:
                result = {**_merged(part), **result}
    return {**result, **own}
