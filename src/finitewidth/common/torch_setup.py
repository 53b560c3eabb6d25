"""What numbers depend on beside code: threads, determinism, precision. Set before computing."""

import ctypes
import os

import torch

from finitewidth.common.errors import ConfigError


def prepare_torch(threads: int, device: str = "cpu") -> str:
    """Fix what numbers depend on, before the first tensor; returns the device to compute on.

    Raises:
        ConfigError: a GPU is asked for and there is none.
    """
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(True)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    _keep_freed_memory()
    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cuda" and not torch.cuda.is_available():
        raise ConfigError("device: cuda is set but torch finds no GPU; use device: cpu or auto")
    return device


def device_facts(device: str) -> dict[str, str | None]:
    """What `prepare_torch` chose, by name: for the log and the provenance.

    A scheduler gives GPUs through ``CUDA_VISIBLE_DEVICES``; torch counts those only, and its
    ``cuda`` is the first of them.
    """
    name = torch.cuda.get_device_name() if device == "cuda" else None
    given = os.environ.get("CUDA_VISIBLE_DEVICES")
    return {"device": device, "gpu": name, "cuda_visible_devices": given}


def _keep_freed_memory() -> None:
    """Let glibc keep freed blocks of up to 32 MB instead of returning them to the system.

    A stacked step allocates a few megabytes per tensor; without this each is mapped afresh and its
    pages faulted in: up to a fifth of a step (benchmarks/stacked_training.py measures it).
    """
    mmap_threshold, trim_threshold = -3, -1  # malloc.h: M_MMAP_THRESHOLD, M_TRIM_THRESHOLD
    try:
        libc = ctypes.CDLL(None)
        libc.mallopt(mmap_threshold, 32 << 20)
        libc.mallopt(trim_threshold, 512 << 20)
    except (OSError, AttributeError):
        pass  # another C library: slower, nothing else
