"""The file of a network of the user: what its name means, early checks, and its digest.

The setting ``own.network`` names a YAML file (`finitewidth.networks.own_yaml`), or a function in a
Python file, ``file.py:function``. This module does not import torch, because the workflow imports
it at every start.
"""

import ast
import difflib
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from finitewidth.common.errors import ConfigError

KEY = "own.network"
YAML = (".yaml", ".yml")
CONTRACT = "a function (input_shape, classes) that returns a torch.nn.Module"


@dataclass(frozen=True)
class OwnFile:
    """What ``own.network`` names.

    Attributes:
        file: a YAML file, or a Python file.
        function: name of the function in the Python file; empty for YAML.
    """

    file: Path
    function: str = ""

    @property
    def name(self) -> str:
        """``my_net.yaml`` or ``my_net.py:make``, without folders."""
        return f"{self.file.name}:{self.function}" if self.function else self.file.name

    @property
    def digest(self) -> str:
        """SHA-256 of the file's content; another content makes all results out of date."""
        return hashlib.sha256(self.file.read_bytes()).hexdigest()


def own_file(text: str) -> OwnFile:
    """Return what ``own.network`` names, after all checks that need no torch.

    Args:
        text: ``my_net.yaml`` or ``my_net.py:function``; paths are relative to the current folder.

    Raises:
        ConfigError: the name has another form, there is no such file, it cannot be read, or the
            Python file has no such function.
    """
    path, _, function = text.rpartition(":") if ".py:" in text else (text, "", "")
    found = OwnFile(Path(path), function)
    suffix = found.file.suffix
    if suffix == ".py" and not function:
        raise ConfigError(f"{KEY}: {text!r} names no function; write {text}:NAME, where NAME is "
                          f"{CONTRACT}")  # fmt: skip
    if suffix not in (".py", *YAML):
        raise ConfigError(f"{KEY}: {text!r} is neither a YAML file (my_net.yaml) nor a function in "
                          "a Python file (my_net.py:make)")  # fmt: skip
    try:
        source = found.file.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{KEY}: {found.file} cannot be opened ({error.strerror}); give the path "
                          "of your network's file")  from None  # fmt: skip
    except UnicodeDecodeError:
        raise ConfigError(f"{KEY}: {found.file} is not UTF-8 text") from None
    if function:
        _check_function(found, source)
    return found


def _check_function(own: OwnFile, source: str) -> None:
    try:
        names = list(_names(ast.parse(source)))
    except SyntaxError as error:
        raise ConfigError(f"{KEY}: {own.file}, line {error.lineno}: {error.msg}; correct the file "
                          "first") from None  # fmt: skip
    if own.function not in names and "*" not in names:
        near = difflib.get_close_matches(own.function, names, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(names) or 'none'}."
        raise ConfigError(f"{KEY}: {own.file} has no function {own.function!r}; {hint} It must be "
                          f"{CONTRACT}")  # fmt: skip


def _names(tree: ast.Module) -> Iterator[str]:
    """The names that a module defines, also within ``if`` and ``try``; ``*`` for a star import."""
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (t.id for target in targets for t in ast.walk(target)
                        if isinstance(t, ast.Name))  # fmt: skip
        elif isinstance(node, ast.ImportFrom):
            yield from (alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.If | ast.Try | ast.With):
            waiting += [
                child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt)
            ]
