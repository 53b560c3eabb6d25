"""Finite-width neural networks: a library, and a pipeline for the figures of five papers.

``import finitewidth as fw`` offers the names of `finitewidth.library.names`: kernels at
initialisation (``fw.draw_ntk``) and of your own torch module (``fw.traced_kernel``), kernel
regression, gated networks, and exact moments and limits.
"""

from importlib import import_module

_NAMES = "finitewidth.library.names"  # a string: an import here would be one of every module


def __getattr__(name):
    if name.startswith("_") and name != "__version__":
        raise AttributeError(f"module 'finitewidth' has no attribute {name!r}")
    return import_module(_NAMES).lookup(name)


def __dir__():
    return [*import_module(_NAMES).HOME, "__version__"]
