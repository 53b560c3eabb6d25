"""Optimisers for stacked weights, with a step size for each replica, and schedules of rates."""

from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise
from math import ceil

import torch
from torch import Tensor

# the defaults of Keras, which the authors used
KERAS_EPSILON = 1e-7
KERAS_RHO = 0.9
Tensors = list[Tensor] | tuple[Tensor, ...]  # what torch takes and returns
FLOATS_IN_CACHE_LINE = 16  # unit in which torch divides a fused step among threads


class StackedOptimiser:
    """A torch optimiser for weights whose first axis counts replicas.

    Torch has one step size per parameter group. Consecutive replicas with equal step sizes
    therefore form a group. Its parameters are views into the stacked tensors, so a step updates the
    stacked tensors in place.
    """

    def __init__(self, kind: str, weights: Sequence[Tensor], step_sizes: Sequence[float]):
        """Create ``sgd``, ``adam`` or ``rmsprop`` for tensors (R, …), with R step sizes."""
        detached = [weight.detach() for weight in weights]
        self._parts: list[slice] = []  # the replicas of each group
        groups = []
        start = 0
        for step_size, equal in groupby(step_sizes):
            part = slice(start, start + len(list(equal)))
            groups.append({"params": _pieces(detached, part), "lr": step_size})
            self._parts.append(part)
            start = part.stop
        if kind == "sgd":
            self._torch: torch.optim.Optimizer = torch.optim.SGD(groups, lr=0.0, fused=True)
        elif kind == "adam":
            self._torch = torch.optim.Adam(groups, eps=KERAS_EPSILON, fused=True)
        else:
            self._torch = torch.optim.RMSprop(
                groups, alpha=KERAS_RHO, eps=KERAS_EPSILON, foreach=True
            )
        self.state_dict = self._torch.state_dict  # for checkpoints
        self.load_state_dict = self._torch.load_state_dict

    def step(self, gradients: Sequence[Tensor]) -> None:
        """Update the weights in place; ``gradients`` have the shapes of the weights."""
        # torch's fused steps on a CPU read the memory of a gradient in the order of the weights'
        # memory, whatever its strides are; those of convolutions with the channels last differ
        gradients = [gradient.contiguous() for gradient in gradients]
        for part, group in zip(self._parts, self._torch.param_groups, strict=True):
            for view, gradient in zip(group["params"], _pieces(gradients, part), strict=True):
                view.grad = gradient
        self._torch.step()


def _pieces(tensors: Sequence[Tensor], part: slice) -> list[Tensor]:
    """Return views of the replicas ``part`` of all tensors.

    A tensor gives a single view where this does not change any result. On a CPU the fused steps
    round the last few numbers of a tensor, which do not fill a vector register, differently from
    the rest. Weights whose size is not a multiple of that are passed one replica at a time, so
    that results do not depend on the other replicas. A GPU gets the same pieces, so that a
    training can go on from a checkpoint of the other device.
    """
    pieces: list[Tensor] = []
    for tensor in tensors:
        if tensor[0].numel() % FLOATS_IN_CACHE_LINE == 0:
            pieces.append(tensor[part])
        else:
            pieces += tensor[part].unbind()
    return pieces


class NesterovSGD:
    """The steps of ``torch.optim.SGD(nesterov=True)`` for weights whose first axis counts replicas.

    With the rate r, the momentum m and the gradient g of the loss, a step is

        d = g + decay w,  v = m v + d,  w = w - r (d + m v).

    The decay acts only on tensors with more than one axis besides that of the replicas: weights of
    dense and convolutional layers, not biases, and not scales and shifts of BatchNorm.
    """

    def __init__(
        self, parameters: Mapping[str, Tensor], momentum: float, decay: float | Sequence[float]
    ):
        """Start with velocities 0; the decay is that of all replicas or of each, (R,)."""
        self._weights = [tensor.detach() for tensor in parameters.values()]
        self._velocities: Tensors = [torch.zeros_like(tensor) for tensor in self._weights]
        self._momentum = momentum
        self._decayed = []  # numbers of the tensors on which the decay acts
        if decay:
            axes = [weight.dim() for weight in self._weights]
            self._decayed = [number for number, count in enumerate(axes) if count > 2]
        self._decay = 0.0  # of all replicas
        self._decays: list[Tensor] | None = None  # for each of them, if replicas differ
        if isinstance(decay, float | int):
            self._decay = decay
        else:
            decays = torch.tensor(decay, dtype=torch.float64).to(self._weights[0])
            self._decays = [_by_replica(decays, self._weights[n]) for n in self._decayed]

    def step(self, gradients: Sequence[Tensor], rates: Tensor) -> None:
        """Update the parameters in place; the rates (R,) have their type.

        The gradients are in the order of the parameters, with their shapes, and are not changed.
        """
        change = list(gradients)
        if self._decayed:
            old = [change[number] for number in self._decayed]
            weights = [self._weights[number] for number in self._decayed]
            if self._decays is None:
                decayed = torch._foreach_add(old, weights, alpha=self._decay)
            else:
                decayed = torch._foreach_addcmul(old, weights, self._decays)
            for number, tensor in zip(self._decayed, decayed, strict=True):
                change[number] = tensor
        # out of place: half as many calls as in place, and small tensors cost a call each
        self._velocities = torch._foreach_add(change, self._velocities, alpha=self._momentum)
        steps = torch._foreach_add(change, self._velocities, alpha=self._momentum)
        rates_of_tensors = [_by_replica(rates, step) for step in steps]
        torch._foreach_addcmul_(self._weights, steps, rates_of_tensors, value=-1)

    def state_dict(self) -> dict[str, Tensors]:
        """Return the velocities, for a checkpoint."""
        return {"velocities": self._velocities}

    def load_state_dict(self, state: dict[str, Tensors]) -> None:
        """Restore what `state_dict` returned, on the device of the weights."""
        # not copied into the old ones: another order in memory could change the last bits of steps
        self._velocities = state["velocities"]


def _by_replica(numbers: Tensor, like: Tensor) -> Tensor:
    """Return numbers (R,) with as many axes as a tensor (R, ...)."""
    return numbers.view(-1, *[1] * (like.dim() - 1))


class Schedule:
    """Rates that are divided by ten after given fractions of all steps.

    With the fractions (.3, .6, .9) and 400 epochs this happens after 120, 240 and 360 epochs.
    """

    def __init__(self, fractions: Sequence[float], steps: int):
        """Compute the steps at which rates change, from ascending fractions of all ``steps``."""
        # a product such as .7 * 10 = 7.000000000000001 must not delay the change by one step
        self._starts = [ceil(fraction * steps - 1e-6) for fraction in fractions]

    def factor(self, done: int) -> float:
        """The factor of the rates in the step that follows ``done`` steps."""
        return 10.0 ** -sum(start <= done for start in self._starts)

    def total(self, done: int) -> float:
        """The sum of the factors of the first ``done`` steps."""
        edges = [0, *(min(start, done) for start in self._starts), done]
        total = 0.0
        for exponent, (start, end) in enumerate(pairwise(edges)):
            total += (end - start) * 10.0**-exponent
        return total
