"""Bytes of all tensors that were made and are alive, as torch sees them."""

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


def storages(tree):
    found = [leaf.untyped_storage() for leaf in tree_leaves(tree) if isinstance(leaf, torch.Tensor)]
    return [(storage._cdata, storage) for storage in found]


class PeakMemory(TorchDispatchMode):
    """Count tensors that operations make inside a ``with`` block, and not views of others.

    Attributes:
        peak: largest number of bytes alive after an operation, since the last ``reset``.
        base: bytes alive at the last ``reset``.
    """

    def __init__(self):
        super().__init__()
        self.storages = {}
        self.given = set()
        self.peak = 0
        self.base = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.given |= {key for key, _ in storages((args, kwargs)) if key not in self.storages}
        answer = function(*args, **(kwargs or {}))
        for key, storage in storages(answer):
            if key not in self.given:
                self.storages[key] = (StorageWeakRef(storage), storage.nbytes())
        self.peak = max(self.peak, self.alive())
        return answer

    def alive(self):
        self.storages = {
            key: (reference, size)
            for key, (reference, size) in self.storages.items()
            if not reference.expired()
        }
        return sum(size for _, size in self.storages.values())

    def reset(self):
        self.base = self.peak = self.alive()

    @property
    def extra(self):
        return self.peak - self.base
