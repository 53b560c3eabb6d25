"""What a call finds, uses and leaves as it was: precision of products, and random numbers."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from finitewidth.common.torch_precision import full_precision


@contextmanager
def unchanged_surroundings() -> Iterator[None]:
    """Compute in full precision; afterwards random numbers of torch on the CPU go on as before.

    A network may draw random numbers, such as one that is refused for it.
    """
    state = torch.get_rng_state()
    try:
        with full_precision():
            yield
    finally:
        torch.set_rng_state(state)
