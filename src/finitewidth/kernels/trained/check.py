"""A comparison of gradients with those of autograd, while a kernel is computed.

For random numbers c_ik, one more backward sweep gives the signals of sum_ik c_ik f_k(x_i) at every
operation. At some channels and positions, the same sum of the signals of single outputs must agree,
input by input: every input and output has a number of its own, so that a signal that belongs to
another input is seen, too. For two of the inputs, autograd also goes on to the parameters, and its
gradients must agree with those that follow from the signals by our rules; for convolutions of many
weights, their products with random vectors must.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, compress
from math import prod

import numpy as np
import torch
from torch import Tensor, nn
from torch.linalg import vector_norm

from finitewidth.kernels.trained import dense
from finitewidth.kernels.trained.fully_connected import FullyConnected
from finitewidth.kernels.trained.graph import rows_of
from finitewidth.kernels.trained.operations import Elementwise, Operation, Product
from finitewidth.kernels.trained.ranges import SMALLEST, length_of
from finitewidth.kernels.trained.recording import Recording
from finitewidth.kernels.trained.units import ProductUnit, Unit, parameter_at

Size = Callable[[], Tensor | float]  # returns the root of the sum of squares of terms
# a sum of gradients by us, and by autograd (None for zero), and the size of its terms
Compared = tuple[Tensor | None, Tensor | None, Size]
CHANNELS, POSITIONS = 4, 3  # of each operation whose signals are added up, at most
LARGE = 2**15  # numbers from which on gradients by a weight are multiplied by vectors
PROJECTIONS = 2  # the number of these
SAFE = 1e-20, 1e30  # sums of squares whose errors of rounding are in the range of float32, too


class Check:
    """Sums of c_ik times the signals that a kernel is made of, less what autograd gives for them.

    They are formed at each edge of the graph for all inputs, but for some channels and positions:
    all come from one sweep and are wrong together. What is wrong within an operation is seen in the
    gradients of two inputs.
    """

    def __init__(self, recording: Recording) -> None:
        self.recording, self.reference = recording, recording.reference
        operations = [op for unit in recording.units for op in (*unit.operations, unit.bias) if op]
        # of two at an edge a product, since the signals of a bias can add up to zero
        operations.sort(key=lambda op: isinstance(op, Product))
        self.summed = {op.edge: op for op in operations if prod(op.kept)}
        self.cotangent = self.reference.cotangent if self.reference and self.summed else None
        self.sums: Tensor | float = 0.0  # (N, size), of all edges side by side
        self.signals_of_c: Tensor | None = None  # (N, size), what the sums must be
        self.widths: list[int] = []  # of the edges
        # signals by autograd of two inputs (2, ...), of elementwise operations their sum
        self.pairs: dict[Operation, Tensor] = {}
        self.sizes: dict[Operation, Tensor] = {}  # of the terms of elementwise signals
        self.rows: dict[str, Tensor] = {}  # of parameters without rules
        self.wrong: list[str] = []  # parameters whose gradients are not those of autograd

    def kept_bytes(self) -> tuple[int, int]:
        """Return the bytes of what is kept, and of what is made for each output."""
        if self.cotangent is None:
            return 0, 0
        N, sizes = len(self.cotangent), [prod(op.kept) for op in self.summed.values()]
        item = max(self.cotangent.element_size(), 4)
        some = item * N * sum(min(size, CHANNELS * POSITIONS) for size in sizes)
        return 3 * some + 4 * item * sum(sizes), some

    def cotangents(self) -> Tensor:
        """Return c as (1, N, K), or (0, N, K) if nothing is compared."""
        outputs = self.recording.outputs
        if self.cotangent is None:
            return outputs.new_empty(0, *outputs.shape)
        return self.cotangent[None]

    def expect(self, op: Operation, terms: Tensor) -> None:
        """Keep the length of the terms of elementwise signals for c."""
        if isinstance(op, Elementwise):
            self.sizes[op] = vector_norm(terms)

    def add_signals(self, part: slice, signals: Mapping[Operation, Tensor]) -> None:
        """Add c_ik times the signals of some of the K outputs.

        Signals are (N, k, ...). Those for c count as output K, and are subtracted.
        """
        c = self.cotangent  # (N, K)
        if c is None:
            return
        by_edge = [_some(signals[op]) for op in self.summed.values()]
        some = torch.cat([*chain.from_iterable(by_edge)], dim=-1)  # (N, k, size)
        factors = torch.cat([c, -torch.ones_like(c[:, :1])], dim=1)  # (N, K + 1)
        factors = factors[:, None, part].to(some.dtype)  # (N, 1, k)
        self.sums = self.sums + (factors @ some)[:, 0]
        if part.stop > c.shape[1]:
            self.signals_of_c = some[:, -1]
            self.widths = [sum(each.shape[-1] for each in edge) for edge in by_edge]
            # where all outputs are sent back at once, their signals are kept anyway
            self.pairs = self._pairs_of_c(signals, copied=part.start > 0)

    def _pairs_of_c(
        self, signals: Mapping[Operation, Tensor], copied: bool
    ) -> dict[Operation, Tensor]:
        """Return the signals for c, the last ones, of two inputs: (2, G c, P) of products.

        Of elementwise operations it is the sum over the two inputs, (size,). Signals are views
        unless they are ``copied``.
        """
        pairs = {}
        for op, each in signals.items():
            pair = each[self._two, -1]
            pairs[op] = pair.clone() if copied else pair
        elementwise = [op for op in pairs if isinstance(op, Elementwise)]
        if elementwise:
            # one sum for all, because a call takes longer than a copy
            both = torch.cat([pairs[op] for op in elementwise], dim=-1)  # (2, sum of sizes)
            sums = both.sum(0).split([op.size for op in elementwise])
            pairs.update(zip(elementwise, sums, strict=True))
        return pairs

    def compare(self) -> None:
        """Compare sums and gradients, after the signals of all outputs."""
        if self.cotangent is None:
            return
        sizes = [partial(self._length, op) for op in self.summed.values()]
        apart = _apart(self.sums, self.signals_of_c, self.widths, sizes, self._eps)
        edges = set(compress(self.summed, apart))
        compared: dict[str, Compared] = {}
        for unit in self.recording.units:
            if edges and edges.intersection(op.edge for op in (*unit.operations, unit.bias) if op):
                self.wrong += unit.parameters
            elif self._is_large(unit):
                compared |= self._projected(unit)
            else:
                compared |= self._formed(unit)
        self.wrong += differing(compared, self._eps)
        self.pairs.clear()

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
        wanted = self.reference.gradients if self.reference else {}

        def largest() -> Tensor | float:  # beside which a gradient that should be zero is small
            return max(map(vector_norm, wanted.values()), default=0.0)

        compared = {name: (total, wanted.get(name), largest) for name, total in self.rows.items()}
        return self.wrong + differing(compared, self._eps)

    @property
    def _eps(self) -> float:
        return torch.finfo(self.recording.dtype).eps

    @property
    def _two(self) -> slice:
        """The two inputs."""
        first, second = self.reference.chosen
        return slice(first, second + 1, second - first)

    def _formed(self, unit: Unit) -> dict[str, Compared]:
        """Return sums of gradients of two inputs by the parameters, to be compared."""
        totals: dict[str, Tensor | None] = dict.fromkeys(unit.parameters)
        arranged = isinstance(unit, ProductUnit) or unit.arranged
        for op, gradient in self._gradients(unit, arranged):
            by_parameter = unit.gradients(op, op.as_weight(gradient)[None])
            for name, part in zip(totals, by_parameter, strict=True):
                if part is None:
                    continue
                total = totals[name]
                totals[name] = part[0] if total is None else total + part[0]
            if arranged and parameter_at(op.weight) is None:
                # a kernel has the length of the gradient by the weight, whatever autograd
                # multiplies it by on the way to the parameter
                first = next(iter(totals))
                totals[first] = _scaled(totals[first], vector_norm(gradient) * abs(unit.factor))
        if unit.bias:
            *_, bias = totals
            totals[bias] = self.pairs[unit.bias]
        by_autograd = self.reference.gradients
        size = partial(self._size, unit)
        return {name: (total, by_autograd.get(name), size) for name, total in totals.items()}

    def _gradients(self, unit: Unit, arranged: bool) -> list[tuple[Operation, Tensor]]:
        """Return the operations of a unit, with their sums of gradients of two inputs.

        Gradients that are ``arranged`` as the weight in the unit itself are added before, under the
        first operation.
        """
        gradients = [(op, self._gradient(op)) for op in unit.operations]
        if arranged and len(gradients) > 1:
            return [(unit.operations[0], sum(gradient for _, gradient in gradients))]
        return gradients

    def _gradient(self, op: Operation) -> Tensor:
        """Return the sum of gradients of two inputs, (G, c, D) of products and (size,) else."""
        if isinstance(op, Elementwise):
            return self.pairs[op]
        G, c, _, P = op.shape
        return op.gradients(self._two, self.pairs[op].reshape(2, G, c, P)).sum(0)

    def _is_large(self, unit: Unit) -> bool:
        """Tell whether gradients are compared by their products with some vectors."""
        op, *more = unit.operations
        if more or unit.bias or not isinstance(op, Product) or prod(op.shape[:3]) <= LARGE:
            return False
        known = self.reference.gradients.keys() >= unit.parameters.keys()
        leaf = known and parameter_at(op.weight) is not None
        return leaf and op.layout == "convolution" and not op.convolved

    def _projected(self, unit: Unit) -> dict[str, Compared]:
        """Return the same as `_formed`, multiplied by random vectors: (G, c, n).

        Two matrices differ if their products with these do. Ours is not formed.
        """
        (op,), (name,) = unit.operations, unit.parameters
        G, c, D, P = op.shape
        signals, wanted = self.pairs[op], self.reference.gradients[name]
        vectors = _vectors(D).to(signals)
        seen = vectors @ op.patches(self._two)  # (2, G, n, P)
        ours = (signals.reshape(2, G, c, P) @ seen.mT).sum(0)
        theirs = wanted.to(ours).reshape(G, c, D) @ vectors.mT
        return {name: (ours, theirs, lambda: self._size(unit) * PROJECTIONS**0.5)}

    def _length(self, op: Operation) -> Tensor:
        """Return the length of the terms of elementwise signals, or of the signals of two inputs.

        Without it, rounding of signals that are zero would count as a difference.
        """
        return self.sizes[op] if isinstance(op, Elementwise) else vector_norm(self.pairs[op])

    def _size(self, unit: Unit) -> Tensor:
        """Return the root of the sum of squares of the terms of a sum of gradients."""
        return sum(map(self._square, unit.operations)) ** 0.5 * abs(unit.factor)

    def _square(self, op: Operation) -> Tensor:
        if isinstance(op, Elementwise):
            return self.sizes[op].square()
        G, c, _, P = op.shape
        g, a = self.pairs[op].reshape(2, G, c, P), op.patches(self._two)
        return (a.square().sum(2) * g.square().sum(2)).sum()


def closed_form_agrees(stack: FullyConnected, network: nn.Module, x: Tensor, flat: Tensor) -> bool:
    """Tell whether a closed form gives the gradients of a module, for its largest input.

    All inputs take the same steps in a closed form. The inputs of the module are ``x`` (N, ...),
    those of the closed form ``flat`` (N, n0).
    """
    at = int(vector_norm(flat, dim=1).argmax())
    parameters = [
        p for module in network.modules() for p in module._parameters.values() if p is not None
    ]
    with torch.inference_mode(False), torch.enable_grad():
        outputs = network(x[at : at + 1].clone())
    if outputs.grad_fn is None or outputs.shape != (1, stack.outputs):
        return False
    stream = torch.Generator().manual_seed(0)
    c = torch.randn(outputs.shape, generator=stream).to(outputs.device, outputs.dtype)
    gradients = torch.autograd.grad(outputs, parameters, c, materialize_grads=True)
    exact = outputs.dtype == torch.float64
    if exact and 0 < max(map(length_of, gradients)) < SMALLEST[torch.float64]:
        return False  # their products would vanish
    wanted = iter(gradients)
    compared: dict[str, Compared] = {}
    with torch.no_grad():
        network, inputs, _ = dense.stacked(stack, flat[at : at + 1])
        dtype = torch.promote_types(outputs.dtype, torch.float32)
        run = dense.forward(network, inputs, dtype=dtype)
        found = {
            layer: c.to(signal) @ signal[0, 0] for layer, signal in dense.signals(run, slice(None))
        }
        for layer, name in enumerate(stack.names):
            a, g = run.inputs[layer][0], found[layer]
            vectors = _vectors(a.shape[1]).to(a).mT
            ours, theirs = g.mT @ (a @ vectors), next(wanted).to(a) @ vectors
            compared[f"{name}.weight"] = ours, theirs, lambda: 0.0
            if run.with_biases:
                compared[f"{name}.bias"] = g[0], next(wanted), lambda: 0.0
        return not differing(compared, torch.finfo(outputs.dtype).eps)


def differing(compared: Mapping[str, Compared], eps: float) -> list[str]:
    """Return the names of parameters whose gradients are not those of autograd up to rounding.

    A gradient may be zero by a symmetry of the network, such as that by the bias of the keys of an
    attention. What is computed is then rounding, which must be small beside the terms of the sum,
    and not beside the sum.

    Args:
        compared: for each parameter the gradient by us, that by autograd (None for zero), and a
            function that returns the size of the terms that add up to it.
        eps: the rounding unit of the type of the computation.
    """
    wrong, small = [], []
    for name, (ours, wanted, size) in compared.items():
        if ours is None or not ours.numel():
            agree = wanted is None or not wanted.any()
        elif wanted is None:
            agree = length_of(ours) <= eps**0.5 * size()
        elif wanted.numel() <= LARGE:
            small.append(name)
            continue
        else:
            wanted = wanted.to(ours.dtype)
            error = ours.view_as(wanted) - wanted
            agree = _is_rounding(length_of(error), length_of(wanted), size, eps)
        if not agree:
            wrong.append(name)
    if small:
        ours, wanted, sizes = zip(*(compared[name] for name in small), strict=True)
        widths = [each.numel() for each in wanted]
        ours, wanted = (torch.cat([each.flatten() for each in both]) for both in (ours, wanted))
        wrong += compress(small, _apart(ours - wanted, wanted, widths, sizes, eps))
    return wrong


def _apart(
    errors: Tensor, wanted: Tensor, widths: Sequence[int], sizes: Sequence[Size], eps: float
) -> Iterator[bool]:
    """Tell of arrays that stand side by side, (..., size), whether errors are more than rounding.

    All are compared together, because a call takes longer than a copy.
    """
    both = torch.stack([errors, wanted.to(errors.dtype)])
    starts = np.cumsum(widths) - widths
    sums = _sums_of_squares(both.to(torch.promote_types(both.dtype, torch.float32)), starts)
    if both.dtype != torch.float64 and not SAFE[0] <= sums[1].min() <= sums[1].max() <= SAFE[1]:
        sums = _sums_of_squares(both.double(), starts)  # squares leave the range of float32
    for error, length, size in zip(*np.sqrt(sums).tolist(), sizes, strict=True):
        yield not _is_rounding(error, length, size, eps)


def _sums_of_squares(arrays: Tensor, starts: np.ndarray) -> np.ndarray:
    """Return the sums of squares of arrays (2, ..., size) that begin at ``starts``, (2, n)."""
    squares = arrays.square()
    squares = squares.flatten(1, -2).sum(1) if squares.dim() > 2 else squares
    return np.add.reduceat(squares.cpu().numpy(), starts, axis=1)


def _is_rounding(error: float, length: float, size: Size, eps: float) -> bool:
    """Tell whether an error of a sum is rounding.

    ``size`` returns the root of the sum of squares of the terms that add up to it. It is asked only
    where the sum itself does not tell, because terms cancel.
    """
    return error <= eps**0.5 * length or error <= eps**0.5 * (length + float(size()))


def _some(signals: Tensor) -> list[Tensor]:
    """Return signals (N, k, size) of a few channels and positions, from those of an operation.

    The first and the last position are among them, since a network may use one of these alone.
    """
    some = signals[:, :, :: max(1, -(-signals.shape[2] // CHANNELS))]
    if some.dim() == 3:
        return [some]
    P = some.shape[3]
    return [some[..., at] for at in sorted({0, P // 3, P - 1})]


def _scaled(gradient: Tensor, length: Tensor) -> Tensor:
    """Return a gradient with the given length; a gradient that is 0 stays so."""
    present = vector_norm(gradient)
    return gradient * (length / present if present else 1.0)


def _vectors(size: int) -> Tensor:
    """Return random vectors, (n, size)."""
    return torch.randn(PROJECTIONS, size, generator=torch.Generator().manual_seed(0))
