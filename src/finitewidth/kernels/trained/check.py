"""A comparison of gradients with those of autograd, while a kernel is computed.

For random numbers c_ik, one more backward sweep gives the signals of sum_ik c_ik f_k(x_i) at every
operation. The same sum of the signals of single outputs must agree, input by input: every input
and output has a number of its own, so that a signal that belongs to another input is seen, too.
For two of the inputs, autograd also goes on to the parameters, and its gradients must agree with
those that follow from the signals by our rules.
"""

from collections.abc import Callable
from functools import partial
from math import prod

import torch
from torch import Tensor, nn
from torch.linalg import vector_norm

from finitewidth.kernels.trained import dense
from finitewidth.kernels.trained.fully_connected import FullyConnected
from finitewidth.kernels.trained.graph import is_leaf, rows_of
from finitewidth.kernels.trained.operations import Elementwise, Operation, real_dtype
from finitewidth.kernels.trained.recording import Recording
from finitewidth.kernels.trained.units import ProductUnit, Unit


class Check:
    """Sums of c_ik times the signals that a kernel is made of."""

    def __init__(self, recording: Recording) -> None:
        self.recording, self.reference = recording, recording.reference
        self.sums: dict[Operation, Tensor] = {}  # of signals
        self.sizes: dict[Operation, Tensor] = {}  # of the terms of signals
        self.differing: set[Operation] = set()  # whose signals are not those of autograd
        self.rows: dict[str, Tensor] = {}  # of parameters without rules

    def kept_bytes(self, operations: list[Operation]) -> int:
        """Return the bytes of the sums."""
        if self.reference is None:
            return 0
        N = len(self.recording.outputs)
        return sum(real_dtype(op.edge.node).itemsize * N * prod(op.kept) for op in operations)

    def cotangents(self) -> Tensor:
        """Return c as (1, N, K), or (0, N, K) if nothing is compared."""
        outputs = self.recording.outputs
        if self.reference is None:
            return outputs.new_empty(0, *outputs.shape)
        return self.reference.cotangent[None]

    def add_signals(self, op: Operation, part: slice, signals: Tensor) -> None:
        """Add the signals (N, k, ...) of some outputs."""
        if self.reference is None:
            return
        c = self.reference.cotangent[:, None, part].to(signals.dtype)
        # positions come before channels in memory for dense layers
        turned = signals.stride(-1) > signals.stride(-2)
        stored = signals.mT if turned else signals
        total = (c @ stored.flatten(2)).view(len(c), *stored.shape[2:])
        total = total.mT if turned else total
        self.sums[op] = self.sums[op] + total if op in self.sums else total

    def compare_signals(self, op: Operation, wanted: Tensor, terms: Tensor) -> None:
        """Compare the sum of signals with that of autograd, (N, ...), which the terms add up to.

        Only the part that belongs to the two inputs is kept.
        """
        total = self.sums[op]
        self.sums[op] = total[self._two].clone()
        if isinstance(op, Elementwise):
            self.sizes[op] = vector_norm(terms)
        if not _agree(total, wanted, lambda: vector_norm(terms), self._eps):
            self.differing.add(op)

    def add_rows(self, name: str, part: slice, rows: Tensor) -> None:
        """Add gradients (N, k, size) by one parameter."""
        if self.reference is None:
            return
        chosen = self.reference.chosen
        c = rows_of(self.reference.cotangent[:, part], chosen).to(rows.dtype)
        total = torch.einsum("nk,nks->s", c, rows_of(rows, chosen))
        self.rows[name] = self.rows[name] + total if name in self.rows else total

    def disagreements(self) -> list[str]:
        """Return the names of parameters whose gradients are not those of autograd."""
        if self.reference is None:
            return []
        wanted, wrong = self.reference.gradients, []
        for unit in self.recording.units:
            if self.differing.intersection([*unit.operations, unit.bias]):
                wrong += unit.parameters
                continue
            totals, size = self._totals(unit)
            wrong += [
                name
                for name, total in totals.items()
                if not _agree(total, wanted.get(name), size, self._eps)
            ]
        for name, total in self.rows.items():
            like = self.recording.others[name]
            if not _agree(total.view_as(like), wanted.get(name), lambda: 0.0, self._eps):
                wrong.append(name)
        return wrong

    @property
    def _eps(self) -> float:
        return torch.finfo(self.recording.dtype).eps

    @property
    def _two(self) -> slice:
        """The two inputs."""
        first, second = self.reference.chosen
        return slice(first, second + 1, second - first)

    def _totals(self, unit: Unit) -> tuple[dict[str, Tensor | float], Callable[[], Tensor]]:
        """Return sums of gradients by the parameters, and a function that gives their size.

        Gradients are added before they are arranged as the weight where the unit does so, too. No
        two sums share memory, as gradients by parameters that are added do. The size is the root of
        the sum of squares of the terms.
        """
        totals: dict[str, Tensor | float] = dict.fromkeys(unit.parameters, 0.0)
        signals = {op: self.sums.pop(op) for op in unit.operations}
        parts = [(op, self._gradient(op, own)) for op, own in signals.items()]
        arranged = isinstance(unit, ProductUnit) or unit.arranged
        if arranged and len(parts) > 1:
            parts = [(unit.operations[0], sum(gradient for _, gradient in parts))]
        for op, gradient in parts:
            by_parameter = unit.gradients(op, op.as_weight(gradient)[None])
            for name, part in zip(totals, by_parameter, strict=True):
                if part is not None:
                    row = part[0] if isinstance(unit, ProductUnit) else part[0].clone()
                    totals[name] = totals[name] + row if len(parts) > 1 else row
            if arranged and not is_leaf(op.weight.node):
                # a kernel has this length, whatever autograd multiplies by
                name = next(iter(totals))
                length, wanted = vector_norm(totals[name]), vector_norm(gradient) * abs(unit.factor)
                totals[name] = totals[name] * (wanted / length if length else 1.0)
        if unit.bias:
            rows = self._gradient(unit.bias, self.sums.pop(unit.bias))
            totals[list(totals)[-1]] = unit.bias.as_weight(rows)

        def size() -> Tensor:
            squares = sum(self._square(op, own) for op, own in signals.items())
            return squares**0.5 * abs(unit.factor)

        return totals, size

    def _gradient(self, op: Operation, signals: Tensor) -> Tensor:
        """Return the sum of gradients of two inputs from their signals (2, ...)."""
        if isinstance(op, Elementwise):
            return signals.sum(0)
        G, c, _, P = op.shape
        g = signals.reshape(2, G, c, P)
        if op.convolved:
            pairs = zip(self.reference.chosen, g.unsqueeze(1), strict=True)
            return sum(op.gradients(slice(at, at + 1), one)[0] for at, one in pairs)
        a = op.patches(self._two)
        return g.permute(1, 2, 0, 3).flatten(2) @ a.permute(1, 0, 3, 2).flatten(1, 2)

    def _square(self, op: Operation, signals: Tensor) -> Tensor:
        """Return the sum of squares of the terms of a sum of gradients."""
        if isinstance(op, Elementwise):
            return self.sizes[op].square()
        G, c, _, P = op.shape
        g, a = signals.reshape(2, G, c, P), op.patches(self._two)
        return (a.square().sum(2) * g.square().sum(2)).sum()


CLOSED_FORM_INPUTS = 3  # all inputs take the same steps in a closed form


def closed_form_agrees(stack: FullyConnected, network: nn.Module, x: Tensor, flat: Tensor) -> bool:
    """Tell whether a closed form gives the outputs and gradients of a module, for some inputs.

    The inputs of the module are ``x`` (N, ...), those of the closed form ``flat`` (N, n0).
    """
    at = torch.linspace(0, len(x) - 1, min(len(x), CLOSED_FORM_INPUTS)).long()
    parameters = [p for module in network.modules() for p in module._parameters.values()
                  if p is not None]  # fmt: skip
    with torch.inference_mode(False), torch.enable_grad():
        outputs = network(x[at].clone())
    if outputs.grad_fn is None or outputs.shape != (len(at), stack.outputs):
        return False
    stream = torch.Generator().manual_seed(0)
    c = torch.randn(outputs.shape, generator=stream).to(outputs.device, outputs.dtype)
    wanted = iter(torch.autograd.grad(outputs, parameters, c, allow_unused=True))
    eps = torch.finfo(outputs.dtype).eps
    with torch.no_grad():
        network, inputs, _ = dense.stacked(stack, flat[at])
        dtype = torch.promote_types(outputs.dtype, torch.float32)
        run = dense.forward(network, inputs, dtype=dtype)
        found = {layer: (c.to(signal)[..., None] * signal[0]).sum(1)
                 for layer, signal in dense.signals(run, slice(None))}  # fmt: skip
        for layer in range(len(stack.weights)):
            a, g = run.inputs[layer][0], found[layer]
            if not _agree(g.mT @ a, next(wanted), partial(_size, a, g), eps):
                return False
            if run.with_biases and not _agree(g.sum(0), next(wanted), g.norm, eps):
                return False
    return True


def _size(a: Tensor, g: Tensor) -> Tensor:
    return (a.square().sum(1) * g.square().sum(1)).sum().sqrt()


def _agree(
    ours: Tensor | float, wanted: Tensor | None, size: Callable[[], Tensor | float], eps: float
) -> bool:
    """Tell whether the sum of our gradients is that of autograd (None for zero) up to rounding.

    Ours is overwritten. ``size`` returns the root of the sum of squares of the terms that add up to
    it. It is asked only where the sums themselves do not tell, because terms cancel.
    """
    if not isinstance(ours, Tensor):
        return wanted is None or not bool(wanted.any())
    if wanted is None:
        return bool(vector_norm(ours) <= eps**0.5 * size())
    wanted = wanted.to(ours.dtype).view_as(ours)
    length, error = float(vector_norm(wanted)), float(vector_norm(ours.sub_(wanted)))
    return error <= eps**0.5 * length or error <= eps**0.5 * (length + float(size()))
