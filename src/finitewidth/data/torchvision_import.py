"""Import torchvision where its compiled part does not fit the installed torch.

The usual torchvision wheel is built for CUDA; beside a CPU build of torch its library does not
load, and the import fails although the readers of datasets need nothing of it.
"""

import importlib
import sys
from types import ModuleType

_REASON = "operator torchvision::nms does not exist"
_SIGNATURE = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
_kept_alive: list[object] = []  # torch forgets the operators when the Library object dies


def import_torchvision(module: str = "torchvision.datasets") -> ModuleType:
    """Import ``module`` of torchvision; supply missing operators only where it fails for them.

    The operators are names without code: detection models stay unusable, all else works.

    Raises:
        ImportError, RuntimeError: whatever else torchvision raises, unchanged.
    """
    try:
        return importlib.import_module(module)
    except RuntimeError as error:
        if str(error) != _REASON:
            raise
    _forget_torchvision()
    _declare_operators()
    return importlib.import_module(module)


def _forget_torchvision() -> None:
    for name in list(sys.modules):
        if name == "torchvision" or name.startswith("torchvision."):
            del sys.modules[name]


def _declare_operators() -> None:
    # only after the failure: declaring an operator twice aborts the process, beyond any except
    import torch

    library = torch.library.Library("torchvision", "DEF")
    for operator in ("nms", "qnms"):
        library.define(operator + _SIGNATURE)
    _kept_alive.append(library)
