"""A comparison of gradients with those of autograd, while a kernel is computed.

For random numbers c_ik, autograd gives the gradient of sum_ik c_ik f_k(x_i) in one sweep. The same
sum of our gradients must agree. Every input and output has a number of its own, so that a gradient
that belongs to another input is seen, too.
"""

from math import prod

import torch
from torch import Tensor, nn

from finitewidth.kernels.trained import dense
from finitewidth.kernels.trained.budget import fitting, pieces
from finitewidth.kernels.trained.fully_connected import FullyConnected
from finitewidth.kernels.trained.operations import Elementwise, Operation, real_dtype
from finitewidth.kernels.trained.recording import Recording
from finitewidth.kernels.trained.units import ProductUnit, Unit


class Check:
    """Sums of c_ik times the gradients that a kernel is made of.

    Args:
        recording: the forward pass, and what autograd gives.
    """

    def __init__(self, recording: Recording) -> None:
        self.recording, self.reference = recording, recording.reference
        self.sums: dict[Operation, Tensor] = {}  # of signals
        self.squares: dict[Operation, Tensor] = {}  # of the terms of elementwise operations
        self.rows: dict[str, Tensor] = {}  # of parameters without rules

    def kept_bytes(self, operations: list[Operation]) -> int:
        """Return the bytes of the sums."""
        if self.reference is None:
            return 0
        N = len(self.recording.outputs)
        return sum(real_dtype(op.edge.node).itemsize * N * prod(op.kept) for op in operations)

    def add_signals(self, op: Operation, part: slice, signals: Tensor) -> None:
        """Add the signals (N, k, ...) of some outputs."""
        if self.reference is None:
            return
        c = self.reference.cotangent[:, None, part].to(signals.dtype)
        found = (c @ signals.flatten(2)).view(len(c), *op.kept)
        self.sums[op] = self.sums[op] + found if op in self.sums else found

    def add_terms(self, op: Operation, terms: Tensor) -> None:
        """Add the size of the terms of an elementwise operation, for one output."""
        if self.reference is not None:
            square = _norm(terms).square()
            self.squares[op] = self.squares[op] + square if op in self.squares else square

    def add_rows(self, name: str, part: slice, rows: Tensor) -> None:
        """Add gradients (N, k, size) by one parameter."""
        if self.reference is not None:
            found = torch.einsum(
                "nk,nks->s", self.reference.cotangent[:, part].to(rows.dtype), rows
            )
            self.rows[name] = self.rows[name] + found if name in self.rows else found

    def disagreements(self, work: int) -> list[str]:
        """Return the names of parameters whose gradients are not those of autograd.

        Args:
            work: bytes for temporary arrays.
        """
        if self.reference is None:
            return []
        wanted, wrong = self.reference.gradients, []
        eps = torch.finfo(self.recording.dtype).eps
        for unit in self.recording.units:
            totals, size = self._totals(unit, work)
            wrong += [
                name
                for name, total in totals.items()
                if not _agree(total, wanted.get(name), size * abs(unit.factor), eps)
            ]
        for name, total in self.rows.items():
            if not _agree(total.view_as(self.recording.others[name]), wanted.get(name), 0.0, eps):
                wrong.append(name)
        return wrong

    def _totals(self, unit: Unit, work: int) -> tuple[dict[str, Tensor | float], Tensor]:
        """Return sums of gradients by the parameters, and the root of the squares of their terms.

        Gradients are added before they are arranged as the weight where the unit does so, too.
        """
        totals: dict[str, Tensor | float] = dict.fromkeys(unit.parameters, 0.0)
        parts = [(op, *self._gradient(op, work)) for op in unit.operations]
        size = sum(square for _, _, square in parts) ** 0.5
        arranged = isinstance(unit, ProductUnit) or unit.arranged
        if arranged:
            parts = [(unit.operations[0], sum(gradient for _, gradient, _ in parts), size)]
        for op, gradient, _ in parts:
            by_parameter = unit.gradients(op, op.as_weight(gradient)[None])
            for name, part in zip(totals, by_parameter, strict=True):
                if part is not None:
                    totals[name] = totals[name] + part[0]
            if arranged:  # a kernel has this length, whatever autograd multiplies by
                name = next(iter(totals))
                length, wanted = _norm(totals[name]), _norm(gradient) * abs(unit.factor)
                totals[name] = totals[name] * (wanted / length if length else 1.0)
        if isinstance(unit, ProductUnit) and unit.bias:
            totals[list(totals)[-1]] = unit.bias.as_weight(self._gradient(unit.bias, work)[0])
        return totals, size

    def _gradient(self, op: Operation, work: int) -> tuple[Tensor, Tensor]:
        """Return the sum of gradients, and the sum of the squares of their terms."""
        signals = self.sums.pop(op)
        if isinstance(op, Elementwise):
            return signals.sum(0), self.squares[op]
        G, c, D, P = op.shape
        N, item = len(signals), signals.element_size()
        signals = signals.view(N, G, c, P)
        total = signals.new_zeros(G, c, D)
        apart = op.convolved is not None or c * D <= P * (c + D)  # the gradients of single inputs
        per_input = 2 * item * G * (D * c if apart else 0) + 3 * item * G * D * P
        for some in pieces(N, fitting(work, per_input, N, "patches of one input")):
            if apart:
                total += op.gradients(some, signals[some]).sum(0)
            else:
                a, g = op.patches(some).permute(1, 0, 3, 2), signals[some].permute(1, 2, 0, 3)
                total += g.flatten(2) @ a.flatten(1, 2)
        # the size of a sum of N P terms that have nothing to do with each other
        patch = op.patches(slice(0, 1))
        size = _norm(signals) * _norm(patch) / P**0.5
        return total, size.square()


CLOSED_FORM_INPUTS = 8  # all inputs take the same steps in a closed form


def closed_form_agrees(stack: FullyConnected, network: nn.Module, x: Tensor, flat: Tensor) -> bool:
    """Tell whether a closed form gives the outputs and gradients of a module, for some inputs.

    Args:
        stack: the closed form.
        network: the module.
        x: its inputs, (N, ...).
        flat: the inputs of the closed form, (N, n0).
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
        run = dense.forward(network, inputs)
        found = {layer: (c.to(signal)[..., None] * signal[0]).sum(1)
                 for layer, signal in dense.signals(run, slice(None))}  # fmt: skip
        for layer in range(len(stack.weights)):
            a, g = run.inputs[layer][0], found[layer]
            size = (a.square().sum(1) * g.square().sum(1)).sum().sqrt()
            if not _agree(g.mT @ a, next(wanted), size, eps):
                return False
            if run.with_biases and not _agree(g.sum(0), next(wanted), g.norm(), eps):
                return False
    return True


def _norm(tensor: Tensor) -> Tensor:
    return torch.linalg.vector_norm(tensor)


def _agree(ours: Tensor | float, wanted: Tensor | None, size: float | Tensor, eps: float) -> bool:
    """Tell whether two gradients are the same up to rounding.

    Args:
        ours: the sum of our gradients.
        wanted: that of autograd; None for zero.
        size: the root of the sum of squares of the terms that add up to it.
        eps: of the type of the network.
    """
    if not isinstance(ours, Tensor):
        return wanted is None or not bool(wanted.any())
    wanted = torch.zeros_like(ours) if wanted is None else wanted.to(ours.dtype).view_as(ours)
    error = _norm(ours - wanted)
    return bool(error <= eps**0.5 * (_norm(wanted) + size))
