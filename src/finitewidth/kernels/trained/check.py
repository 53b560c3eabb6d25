"""A comparison of gradients with those of autograd, while a kernel is computed.

For random numbers c_ik, one more backward sweep gives the signals of sum_ik c_ik f_k(x_i) at every
operation. The same sum of the signals of single outputs must agree, input by input: every input
and output has a number of its own, so that a signal that belongs to another input is seen, too.
For two of the inputs, autograd also goes on to the parameters, and its gradients must agree with
those that follow from the signals by our rules; for convolutions of many weights, their products
with random vectors must.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import accumulate
from math import prod

import numpy as np
import torch
from torch import Tensor, nn
from torch.linalg import vector_norm

from finitewidth.kernels.trained import dense
from finitewidth.kernels.trained.fully_connected import FullyConnected
from finitewidth.kernels.trained.graph import children, is_leaf, rows_of
from finitewidth.kernels.trained.operations import Elementwise, Operation, Product, real_dtype
from finitewidth.kernels.trained.recording import Recording
from finitewidth.kernels.trained.units import ProductUnit, Unit

Group = tuple[Operation, ...]
Size = Callable[[], Tensor | float]  # returns the root of the sum of squares of terms
JOINED = 2**15  # numbers up to which arrays are joined, because a call takes longer than a copy
PROJECTIONS = 2  # of gradients by large weights


class Check:
    """Sums of c_ik times the signals that a kernel is made of, and what autograd gives for them.

    Sums are kept for groups of operations: all elementwise ones of one type with few numbers, whose
    signals stand side by side, or a single one.
    """

    def __init__(self, recording: Recording) -> None:
        self.recording, self.reference = recording, recording.reference
        self.wanted: dict[Operation, Tensor] = {}  # sums by autograd, (N, ...)
        self.sizes: dict[Operation, Tensor] = {}  # of the terms of elementwise signals
        self.lengths: dict[Group, list[float]] = {}  # of the sums by autograd
        self.totals: dict[Group, Tensor] = {}  # sums of signals, less those by autograd
        self.pairs: dict[Operation, Tensor] = {}  # the part of the sums of the two inputs
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

    def expect(self, op: Operation, signals: Tensor, terms: Tensor) -> None:
        """Keep the signals (N, ...) that autograd gives for c, which the terms add up to.

        All operations come before the signals of outputs are added.
        """
        self.wanted[op] = signals
        if isinstance(op, Elementwise):
            self.sizes[op] = vector_norm(terms)

    def add_signals(self, part: slice, signals: Mapping[Operation, Tensor]) -> None:
        """Add the signals (N, k, ...) of some outputs, after those of the outputs before.

        The sums are compared after those of the last output.
        """
        if self.reference is None:
            return
        if part.start == 0:
            self._start()
        c = self.reference.cotangent[:, None, part]
        for group, total in self.totals.items():
            some = _side_by_side([signals[op] for op in group])
            # positions come before channels in memory for dense layers
            turned = some.dim() == 4 and some.stride(-1) > some.stride(-2)
            some, total = (some.mT, total.mT) if turned else (some, total)
            more = torch.baddbmm(
                total.flatten(1)[:, None], c.to(some.dtype), some.flatten(2),
                beta=1 if part.start else -1,
            ).view(total.shape)  # fmt: skip
            self.totals[group] = more.mT if turned else more
        if part.stop == self.reference.cotangent.shape[1]:
            self._compare()

    def _start(self) -> None:
        """Group operations, and keep the part of the two inputs."""
        joined: dict[torch.dtype, list[Operation]] = defaultdict(list)
        K = self.reference.cotangent.shape[1]
        for op, wanted in self.wanted.items():
            if isinstance(op, Elementwise) and 0 < K * wanted.numel() <= JOINED:
                joined[wanted.dtype].append(op)
            else:
                self.totals[op,] = wanted
        for ops in joined.values():
            self.totals[tuple(ops)] = _side_by_side([self.wanted[op] for op in ops])
        self.wanted.clear()
        for group, wanted in self.totals.items():
            self.lengths[group] = _lengths(wanted, _widths(group))
            pair = wanted[self._two]
            if isinstance(group[0], Elementwise):
                self.pairs.update(zip(group, pair.sum(0).split(_widths(group)), strict=True))
            else:
                self.pairs[group[0]] = pair.clone()

    def _compare(self) -> None:
        for group, errors in self.totals.items():
            lengths = zip(_lengths(errors, _widths(group)), self.lengths[group], strict=True)
            for op, (error, length) in zip(group, lengths, strict=True):
                if not _is_rounding(error, length, partial(self.sizes.get, op, 0.0), self._eps):
                    self.differing.add(op)
        self.totals.clear()

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
        wrong: list[str] = []
        small: dict[str, tuple[Tensor, Tensor, Size]] = {}
        for unit in self.recording.units:
            if self.differing.intersection([*unit.operations, unit.bias]):
                wrong += unit.parameters
                continue
            for name, (ours, wanted, size) in self._compared(unit).items():
                tensors = isinstance(ours, Tensor) and wanted is not None
                if tensors and 0 < ours.numel() <= JOINED:
                    small[name] = ours, wanted, size
                elif not _agree(ours, wanted, size, self._eps):
                    wrong.append(name)
        if small:
            ours, wanted, sizes = zip(*small.values(), strict=True)
            widths = [each.numel() for each in ours]
            ours, wanted = (torch.cat([each.flatten() for each in both]) for both in (ours, wanted))
            wanted = wanted.to(ours.dtype)
            lengths, errors = _lengths(wanted, widths), _lengths(ours - wanted, widths)
            wrong += [
                name
                for name, *compared in zip(small, errors, lengths, sizes, strict=True)
                if not _is_rounding(*compared, self._eps)
            ]
        for name, total in self.rows.items():
            like = self.recording.others[name]
            wanted = self.reference.gradients.get(name)
            if not _agree(total.view_as(like), wanted, lambda: 0.0, self._eps):
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

    def _compared(self, unit: Unit) -> dict[str, tuple[Tensor | float, Tensor | None, Size]]:
        """Return sums of gradients by the parameters, those of autograd, and how large terms are.

        Gradients are added before they are arranged as the weight where the unit does so, too. No
        two sums share memory, as gradients by parameters that are added do.
        """
        signals = {op: self.pairs.pop(op) for op in (*unit.operations, unit.bias) if op}
        names, wanted = list(unit.parameters), self.reference.gradients

        def size() -> Tensor:
            squares = sum(self._square(op, signals[op]) for op in unit.operations)
            return squares**0.5 * abs(unit.factor)

        op, *more = unit.operations
        leaf, transposed = op.weight.node, op.weight.node.name() == "TBackward0"
        if transposed:
            (leaf,) = children(leaf)
        first = wanted.get(names[0])
        if is_leaf(leaf) and not more and not unit.bias and first is not None:
            if self._is_large(op):
                ours, theirs = self._projected(op, signals[op], first)
                return {names[0]: (ours, theirs, lambda: size() * PROJECTIONS**0.5)}
            ours = op.as_weight(self._gradient(op, signals[op]))
            return {names[0]: (ours.mT if transposed else ours, first, size)}
        totals: dict[str, Tensor | float] = dict.fromkeys(names, 0.0)
        parts = [(op, self._gradient(op, signals[op])) for op in unit.operations]
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
                length, right = vector_norm(totals[names[0]]), vector_norm(gradient)
                right = right * abs(unit.factor)
                totals[names[0]] = totals[names[0]] * (right / length if length else 1.0)
        if unit.bias:
            rows = self._gradient(unit.bias, signals[unit.bias])
            totals[names[-1]] = unit.bias.as_weight(rows)
        return {name: (total, wanted.get(name), size) for name, total in totals.items()}

    def _gradient(self, op: Operation, signals: Tensor) -> Tensor:
        """Return the sum of gradients of two inputs from their signals (2, ...)."""
        if isinstance(op, Elementwise):
            return signals
        G, c, _, P = op.shape
        g = signals.reshape(2, G, c, P)
        if op.convolved:
            pairs = zip(self.reference.chosen, g.unsqueeze(1), strict=True)
            return sum(op.gradients(slice(at, at + 1), one)[0] for at, one in pairs)
        a = op.patches(self._two)
        return g.permute(1, 2, 0, 3).flatten(2) @ a.permute(1, 0, 3, 2).flatten(1, 2)

    @staticmethod
    def _is_large(op: Operation) -> bool:
        """Tell whether gradients are compared by their products with some vectors."""
        if not isinstance(op, Product) or op.convolved or op.layout != "convolution":
            return False
        return prod(op.shape[:3]) > JOINED

    def _projected(self, op: Product, signals: Tensor, wanted: Tensor) -> tuple[Tensor, Tensor]:
        """Return products of ours and of a gradient of autograd with random vectors, (G, c, n).

        Two matrices differ if their products with these do. Ours is not formed.
        """
        G, c, D, P = op.shape
        stream = torch.Generator().manual_seed(0)
        vectors = torch.randn(PROJECTIONS, D, generator=stream).to(signals)
        seen = vectors @ op.patches(self._two)  # (2, G, n, P)
        ours = (signals.reshape(2, G, c, P) @ seen.mT).sum(0)
        return ours, wanted.to(ours).reshape(G, c, D) @ vectors.mT

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
    return _is_rounding(error, length, size, eps)


def _is_rounding(error: float, length: float, size: Size, eps: float) -> bool:
    return error <= eps**0.5 * length or error <= eps**0.5 * (length + float(size()))


def _side_by_side(parts: Sequence[Tensor]) -> Tensor:
    return parts[0] if len(parts) == 1 else torch.cat(parts, dim=-1)


def _widths(group: Group) -> list[int]:
    return [prod(op.kept) for op in group]


def _lengths(numbers: Tensor, widths: Sequence[int]) -> list[float]:
    """Return the lengths of arrays of some widths, which stand side by side in (..., width)."""
    if len(widths) == 1:
        return [float(vector_norm(numbers))]
    squares = numbers.square().reshape(-1, numbers.shape[-1]).sum(0)
    starts = [0, *accumulate(widths[:-1])]
    return np.sqrt(np.add.reduceat(squares.cpu().numpy(), starts)).tolist()
