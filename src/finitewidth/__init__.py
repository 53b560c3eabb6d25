"""Finite-width neural networks: a library, and a pipeline for the figures of five papers.

``import finitewidth as fw`` offers the names that ``__init__.pyi`` imports for type checkers:
kernels at initialisation (``fw.draw_ntk``) and of your own torch module (``fw.traced_kernel``),
kernel regression, gated networks, and exact moments and limits. A module is imported when one of
its names is used for the first time, so that the import of the package itself takes no time.
"""

from functools import cache
from importlib import import_module


@cache
def _modules():
    """Public name -> the module that defines it."""
    import ast
    from pathlib import Path

    stub = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: node.module for node in imports for alias in node.names}


def __getattr__(name):
    if name == "__version__":
        from importlib.metadata import version

        return version("finitewidth")
    if name not in _modules():
        import difflib

        near = difflib.get_close_matches(name, _modules(), n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise AttributeError(f"module 'finitewidth' has no attribute {name!r}{hint}")
    return getattr(import_module(_modules()[name]), name)


def __dir__():
    return [*_modules(), "__version__"]
