"""Standard normal tensors for blocks of draws on any device, and draws of kernels from them."""

from collections.abc import Callable

import numpy as np
import torch

from finitewidth.common.shapes import Float
from finitewidth.kernels.ntk_init.draws import NtkDraws, checked_finite, concatenated
from finitewidth.kernels.ntk_init.initialisation import refuse
from finitewidth.kernels.ntk_init.streams import Blocks, generator


class Normals:
    """Standard normal numbers for a group of blocks. Every block has its own random stream.

    On a CPU the numbers are drawn by numpy, which is faster there, and on other devices by torch.
    The laws are the same, but the numbers differ.
    """

    def __init__(self, seed: int, blocks: range, block: int, device: torch.device):
        self._block = block
        self._device = device
        self.draws = len(blocks) * block
        self._numpy_streams: list[np.random.Generator] = []
        self._torch_streams: list[torch.Generator] = []
        if device.type == "cpu":
            self._numpy_streams += [generator(seed, number) for number in blocks]
        else:
            for number in blocks:
                sequence = np.random.SeedSequence(seed, spawn_key=(number,))
                state = int(sequence.generate_state(1, np.uint64)[0] >> 1)
                self._torch_streams.append(torch.Generator(device).manual_seed(state))

    def __call__(self, *shape: int) -> Float[torch.Tensor, "draws *shape"]:
        """Draw independent standard normal numbers, float64 (draws, ``*shape``)."""
        out = torch.empty((self.draws, *shape), dtype=torch.float64, device=self._device)
        parts = out.split(self._block)
        if self._device.type == "cpu":
            for part, numpy_stream in zip(parts, self._numpy_streams, strict=True):
                numpy_stream.standard_normal(out=part.numpy())
        else:
            for part, torch_stream in zip(parts, self._torch_streams, strict=True):
                part.normal_(generator=torch_stream)
        return out


def checked_device(device: str | torch.device) -> torch.device:
    """Return the torch device of this name; refuse one that this machine does not have."""
    try:
        torch_device = torch.device(device)
        torch.empty(1, dtype=torch.float64, device=torch_device)
    except (RuntimeError, AssertionError, TypeError, NotImplementedError) as error:
        raise refuse("device", str(device), "a torch device of this machine", str(error)) from error
    return torch_device


def draw_blocks(
    plan: Blocks, seed: int, device: torch.device, draw: Callable[[Normals], NtkDraws]
) -> NtkDraws:
    """Draw all blocks of a plan; refuse kernels that overflow."""
    parts = []
    for blocks in plan.groups():
        normals = Normals(seed, blocks, plan.block, device)
        parts.append(draw(normals).first(plan.draws_of(blocks)))
    return checked_finite(concatenated(parts))
