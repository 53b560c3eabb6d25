"""Products of float32 numbers in full precision, whatever the caller has set.

Trainers recommend settings such as ``torch.set_float32_matmul_precision("medium")``, and on GPUs
convolutions use TF32 by default. Both keep 8 to 11 bits of each factor.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

# settings of torch from 2.9 on, each after the one that it follows where it is "none"
SETTINGS = [("generic", "all")] + [
    (backend, operation)
    for backend in ("cuda", "mkldnn")
    for operation in ("all", "matmul", "conv", "rnn")
]
FULL, UNSET = "ieee", "none"


@contextmanager
def full_precision() -> Iterator[None]:
    """Compute with all digits of float32 in the block, on every device.

    What the caller has set comes back at the end. Settings belong to all threads of the process.
    """
    matmul, convolutions = _older_settings()
    newer = _newer_settings()
    try:
        if matmul is not None:
            torch.set_float32_matmul_precision("highest")
        if convolutions is not None:
            torch._C._set_cudnn_allow_tf32(False)
        for setting in newer:
            torch._C._set_fp32_precision_setter(*setting, FULL)
        yield
    finally:
        if matmul is not None:
            torch.set_float32_matmul_precision(matmul)
        if convolutions is not None:
            torch._C._set_cudnn_allow_tf32(convolutions)
        for setting, value in newer.items():
            torch._C._set_fp32_precision_setter(*setting, value)


def _older_settings() -> tuple[str | None, bool | None]:
    """Return those of products and of convolutions; None where torch forbids to read them.

    It does so after one of the newer settings was changed.
    """
    try:
        matmul = torch.get_float32_matmul_precision()
    except RuntimeError:
        matmul = None
    try:
        convolutions = torch._C._get_cudnn_allow_tf32()
    except RuntimeError:
        convolutions = None
    return matmul, convolutions


def _newer_settings() -> dict[tuple[str, str], str]:
    """Return the newer settings, and unset them; none for a torch without them.

    A setting that is not set reads as the one that it follows, so each is read after that one is
    unset.
    """
    if not hasattr(torch._C, "_get_fp32_precision_getter"):
        return {}
    found = {}
    for setting in SETTINGS:
        found[setting] = torch._C._get_fp32_precision_getter(*setting)
        torch._C._set_fp32_precision_setter(*setting, UNSET)
    return found
