"""Small stacks of fully connected networks, their data, and descents, for tests and benchmarks."""

import torch

from finitewidth.training.descent import DescentPlan, descend
from finitewidth.training.fully_connected import Draw, initial_stack

OUTPUTS = 10


def images(samples=32, inputs=16, outputs=OUTPUTS, dtype=torch.float32):
    """Inputs in [0, 1] around one centre per class, and targets of ones and zeros."""
    stream = torch.Generator().manual_seed(5)
    classes = torch.arange(samples) % outputs
    centres = torch.rand(outputs, inputs, generator=stream)
    x = (centres[classes] + 0.2 * torch.randn(samples, inputs, generator=stream)).clamp(0, 1)
    return x.to(dtype), torch.nn.functional.one_hot(classes, outputs).to(dtype)


def stack_of(activation, sigma_w2, depth=5, width=32, inputs=16, seeds=(0,), **more):
    """Networks of all variances and seeds, with sigma_b2 = 1."""
    more = {"dtype": torch.float32, "outputs": OUTPUTS, **more}
    draws = []
    for seed in seeds:
        for value in sigma_w2:
            draws.append(Draw(value, 1.0, seed))
    widths = [inputs, *[width] * (depth - 1), more["outputs"]]
    return initial_stack(("descent test",), draws, widths, activation).copy(more["dtype"])


def descended(stack, data, *, rate=1e-3, store=None, **plan):
    """A descent with a common rate."""
    x, y = data
    plan = DescentPlan(rates=(rate,) * stack.count, **plan)
    return descend(stack, x, y, plan, store)
