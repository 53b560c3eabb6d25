"""Import torchvision even if its compiled extension does not match the installed torch.

The usual torchvision wheel is built for CUDA. With a CPU build of torch its extension does not load
and the import fails, although the dataset readers do not need it.
"""

import importlib
import sys
from types import ModuleType

_REASON = "operator torchvision::nms does not exist"
_SIGNATURE = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
_kept_alive: list[object] = []  # torch removes the operators when the Library object is deleted


def import_torchvision(module: str = "torchvision.datasets") -> ModuleType:
    """Import ``module`` of torchvision, declaring missing operators if the import fails for them.

    The operators are declared without an implementation. Detection models therefore do not work;
    everything else does.

    Raises:
        ImportError, RuntimeError: any other error of torchvision, unchanged.
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
    # only after the failure: declaring an operator twice aborts the process without an exception
    import torch

    library = torch.library.Library("torchvision", "DEF")
    for operator in ("nms", "qnms"):
        library.define(operator + _SIGNATURE)
    _kept_alive.append(library)
