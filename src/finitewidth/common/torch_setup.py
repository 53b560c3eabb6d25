"""Settings of torch on which numbers depend: threads, determinism and precision."""

import ctypes
import os

import torch

from finitewidth.common.errors import ConfigError


def prepare_torch(threads: int, device: str = "cpu") -> str:
    """Set up torch, before the first tensor is made, and return the device to use.

    ``auto`` stands for a GPU if there is one.
    """
    torch.set_num_threads(threads)
    # what torch.use_deterministic_algorithms does, without its settings for torch.compile, whose
    # import takes as long as that of torch
    torch._C._set_deterministic_algorithms(True, warn_only=False)
    # filling new tensors with nan takes up to a tenth of a training; nothing reads them unwritten
    setattr(torch.utils.deterministic, "fill_uninitialized_memory", False)  # noqa: B010
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    keep_freed_memory()
    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cuda" and not torch.cuda.is_available():
        raise ConfigError("device: cuda is set but torch finds no GPU; use device: cpu or auto")
    return device


def device_facts(device: str) -> dict[str, str | None]:
    """Return a description of the device for the log and the provenance.

    Of the GPUs that a scheduler names in ``CUDA_VISIBLE_DEVICES``, torch takes the first.
    """
    name = torch.cuda.get_device_name() if device == "cuda" else None
    given = os.environ.get("CUDA_VISIBLE_DEVICES")
    return {"device": device, "gpu": name, "cuda_visible_devices": given}


def keep_freed_memory() -> None:
    """Let glibc keep freed blocks of up to 32 MB instead of returning them to the system.

    Otherwise each tensor is mapped again, which takes up to a fifth of the time of a training step.
    """
    mmap_threshold, trim_threshold = -3, -1  # malloc.h: M_MMAP_THRESHOLD, M_TRIM_THRESHOLD
    try:
        libc = ctypes.CDLL(None)
        libc.mallopt(mmap_threshold, 32 << 20)
        libc.mallopt(trim_threshold, 512 << 20)
    except (OSError, AttributeError):
        pass  # another C library: training is only slower
