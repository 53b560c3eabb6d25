"""A comparison of gradients with those of autograd, while a kernel is computed.

For random numbers c_ik, one more backward sweep gives the signals of sum_ik c_ik f_k(x_i) at every
operation. At some channels and positions, the same sum of the signals of single outputs must agree,
input by input. Every input and output has its own number c_ik, so that a signal that belongs to
another input is seen, too. For two of the inputs, autograd also goes on to the parameters, and its
gradients must agree with those that follow from the signals by our rules; for convolutions of many
weights, their products with random vectors must.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, compress
from math import ceil, prod

import numpy as np
import torch
from torch import Tensor, nn
from torch.linalg import vector_norm

from finitewidth.common.shapes import Float, Int
from finitewidth.kernels.trained import dense
from finitewidth.kernels.trained.fully_connected import FullyConnected
from finitewidth.kernels.trained.graph import rows_of
from finitewidth.kernels.trained.operations import Elementwise, Operation, Product
from finitewidth.kernels.trained.ranges import SMALLEST, length_of
from finitewidth.kernels.trained.recording import Recording, Reference
from finitewidth.kernels.trained.units import ProductUnit, Unit, parameter_at

Size = Callable[[], Tensor | float]  # returns the root of the sum of squares of terms
# a sum of gradients by us, and by autograd (None for zero), and the size of its terms
Compared = tuple[Tensor | None, Tensor | None, Size]
CHANNELS, POSITIONS = 4, 3  # of each operation whose signals are added up, at most
LARGE = 2**15  # numbers from which on gradients by a weight are multiplied by vectors
PROJECTIONS = 2  # the number of these
SAFE = 1e-20, 1e30  # sums of squares whose errors of rounding are in the range of float32, too


class Check:
    """Sums over outputs k of c_ik times the signals, compared with what autograd gives for them.

    c is random, (N, K). The signals of the outputs, times c and added up, must be those of one
    sweep with the cotangent c. They are compared at each edge of the graph, for all inputs, but for
    some channels and positions only: all channels come from one sweep and are wrong together. An
    error within an operation is seen in the gradients of two inputs.
    """

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.reference = recording.reference
        operations = [op for unit in recording.units for op in (*unit.operations, unit.bias) if op]
        # If an edge has a product and a bias, the product is compared: the signals of a bias can
        # add up to zero. The last operation of an edge stays in the dictionary.
        operations.sort(key=lambda op: isinstance(op, Product))
        self.summed = {op.edge: op for op in operations if prod(op.kept)}
        self.cotangent = self.reference.cotangent if self.reference and self.summed else None
        self.sums = torch.zeros(())  # (N, size), of all edges side by side
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
        N = len(self.cotangent)
        item = max(self.cotangent.element_size(), 4)
        sizes = [prod(op.kept) for op in self.summed.values()]
        selected = item * N * sum(min(size, CHANNELS * POSITIONS) for size in sizes)
        pairs = 4 * item * sum(sizes)
        return 3 * selected + pairs, selected

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

    def add_signals(
        self, part: slice, signals: Mapping[Operation, Float[Tensor, "N k ..."]]
    ) -> None:
        """Add c_ik times the signals of some of the K outputs.

        Signals are (N, k, ...). Those for c count as output K, and are subtracted.
        """
        c = self.cotangent  # (N, K)
        if c is None:
            return
        by_edge = [_selected(signals[op]) for op in self.summed.values()]
        selected = torch.cat([*chain.from_iterable(by_edge)], dim=-1)  # (N, k, size)
        minus_one = -torch.ones_like(c[:, :1])
        factors = torch.cat([c, minus_one], dim=1)  # (N, K + 1)
        factors = factors[:, None, part].to(selected.dtype)  # (N, 1, k)
        self.sums = self.sums + (factors @ selected)[:, 0]
        if part.stop > c.shape[1]:
            self.signals_of_c = selected[:, -1]
            self.widths = [sum(array.shape[-1] for array in arrays) for arrays in by_edge]
            # Where all outputs are sent back at once, all signals stay in memory in any case, and
            # a view of them is enough.
            self.pairs = self._pairs_of_c(signals, copied=part.start > 0)

    def _pairs_of_c(
        self, signals: Mapping[Operation, Tensor], copied: bool
    ) -> dict[Operation, Tensor]:
        """Return the signals for c, the last ones, of two inputs: (2, G c, P) of products.

        Of elementwise operations it is the sum over the two inputs, (size,). Signals are views
        unless they are ``copied``.
        """
        pairs = {}
        for op, of_outputs in signals.items():
            pair = of_outputs[self._two, -1]
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
        assert self.signals_of_c is not None  # they come with the last outputs
        apart = _apart(self.sums, self.signals_of_c, self.widths, sizes, self._eps)
        edges = set(compress(self.summed, apart))
        compared: dict[str, Compared] = {}
        for unit in self.recording.units:
            operations = (*unit.operations, unit.bias)
            if edges and edges.intersection(op.edge for op in operations if op):
                self.wrong += unit.parameters
            elif (large := self._large(unit)) is not None:
                compared |= self._projected(unit, large)
            else:
                compared |= self._gradients_of_two(unit)
        self.wrong += differing(compared, self._eps)
        self.pairs.clear()

    def add_rows(self, name: str, part: slice, rows: Float[Tensor, "N k size"]) -> None:
        """Add gradients (N, k, size) by one parameter."""
        if self.reference is None:
            return
        chosen = self.reference.chosen
        c = rows_of(self.reference.cotangent[:, part], chosen).to(rows.dtype)
        total = torch.einsum("nk,nks->s", c, rows_of(rows, chosen))
        self.rows[name] = self.rows[name] + total if name in self.rows else total

    def disagreements(self) -> list[str]:
        """Return the names of parameters whose gradients are not those of autograd."""
        by_autograd = self.reference.gradients if self.reference else {}

        def largest() -> Tensor | float:  # beside which a gradient that should be zero is small
            return max(map(vector_norm, by_autograd.values()), default=0.0)

        compared = {}
        for name, total in self.rows.items():
            compared[name] = (total, by_autograd.get(name), largest)
        return self.wrong + differing(compared, self._eps)

    @property
    def _eps(self) -> float:
        return torch.finfo(self.recording.dtype).eps

    @property
    def _by_autograd(self) -> Reference:
        """What autograd gives, where something is compared."""
        assert self.reference is not None
        return self.reference

    @property
    def _two(self) -> slice:
        """The two inputs."""
        first, second = self._by_autograd.chosen
        return slice(first, second + 1, second - first)

    def _gradients_of_two(self, unit: Unit) -> dict[str, Compared]:
        """Return sums of gradients of two inputs by the parameters, to be compared."""
        totals: dict[str, Tensor | None] = dict.fromkeys(unit.parameters)
        arranged = isinstance(unit, ProductUnit) or unit.arranged
        for op, gradient in self._gradients(unit, arranged):
            self._add_by_parameter(totals, unit, op, gradient)
            if arranged and parameter_at(op.weight) is None:
                # a kernel has the length of the gradient by the weight, whatever autograd
                # multiplies it by on the way to the parameter
                first, total = next(iter(totals.items()))
                if total is not None:
                    totals[first] = _scaled(total, vector_norm(gradient) * abs(unit.factor))
        if unit.bias:
            *_, bias = totals
            totals[bias] = self.pairs[unit.bias]
        by_autograd = self._by_autograd.gradients
        size = partial(self._size, unit)
        return {name: (total, by_autograd.get(name), size) for name, total in totals.items()}

    def _add_by_parameter(
        self, totals: dict[str, Tensor | None], unit: Unit, op: Operation, gradient: Tensor
    ) -> None:
        """Add the gradients by the parameters that follow from one by the weight."""
        by_parameter = unit.gradients(op, op.as_weight(gradient)[None])
        for name, part in zip(totals, by_parameter, strict=True):
            if part is not None:
                total = totals[name]
                totals[name] = part[0] if total is None else total + part[0]

    def _gradients(self, unit: Unit, arranged: bool) -> list[tuple[Operation, Tensor]]:
        """Return the operations of a unit, with their sums of gradients of two inputs.

        Gradients that are ``arranged`` as the weight in the unit itself are added before, under the
        first operation.
        """
        gradients = [(op, self._gradient(op)) for op in unit.operations]
        if arranged and len(gradients) > 1:
            total = sum((gradient for _, gradient in gradients), start=torch.zeros(()))
            return [(unit.operations[0], total)]
        return gradients

    def _gradient(self, op: Operation) -> Tensor:
        """Return the sum of gradients of two inputs, (G, c, D) of products and (size,) else."""
        if isinstance(op, Elementwise):
            return self.pairs[op]
        G, c, _, P = op.shape
        return op.gradients(self._two, self.pairs[op].reshape(2, G, c, P)).sum(0)

    def _large(self, unit: Unit) -> Product | None:
        """Return the one product of a unit whose gradients are compared by products with vectors.

        None if they are compared themselves.
        """
        op, *more = unit.operations
        if more or unit.bias or not isinstance(op, Product) or prod(op.shape[:3]) <= LARGE:
            return None
        known = self._by_autograd.gradients.keys() >= unit.parameters.keys()
        leaf = known and parameter_at(op.weight) is not None
        return op if leaf and op.layout == "convolution" and not op.convolved else None

    def _projected(self, unit: Unit, op: Product) -> dict[str, Compared]:
        """Return the same as `_gradients_of_two`, multiplied by n random vectors: (G, c, n).

        Two matrices differ if their products with these do. Ours is not formed.
        """
        (name,) = unit.parameters
        G, c, D, P = op.shape
        signals = self.pairs[op].reshape(2, G, c, P)
        gradient = self._by_autograd.gradients[name]
        vectors = _vectors(D).to(signals)  # (n, D)
        seen = vectors @ op.patches(self._two)  # (2, G, n, P)
        ours = (signals @ seen.mT).sum(0)
        theirs = gradient.to(ours).reshape(G, c, D) @ vectors.mT
        return {name: (ours, theirs, lambda: self._size(unit) * PROJECTIONS**0.5)}

    def _length(self, op: Operation) -> Tensor:
        """Return the length of the terms of elementwise signals, or of the signals of two inputs.

        Without it, rounding of signals that are zero would count as a difference.
        """
        return self.sizes[op] if isinstance(op, Elementwise) else vector_norm(self.pairs[op])

    def _size(self, unit: Unit) -> Tensor:
        """Return the root of the sum of squares of the terms of a sum of gradients."""
        squares = sum(map(self._square, unit.operations))
        return squares**0.5 * abs(unit.factor)

    def _square(self, op: Operation) -> Tensor:
        if isinstance(op, Elementwise):
            return self.sizes[op].square()
        G, c, _, P = op.shape
        g = self.pairs[op].reshape(2, G, c, P)
        a = op.patches(self._two)  # (2, G, D, P)
        return (a.square().sum(2) * g.square().sum(2)).sum()


def closed_form_agrees(
    stack: FullyConnected,
    network: nn.Module,
    x: Float[Tensor, "N ..."],
    flat: Float[Tensor, "N n0"],
) -> bool:
    """Tell whether a closed form gives the gradients of a module, for its largest input.

    All inputs take the same steps in a closed form. The inputs of the module are ``x`` (N, ...),
    those of the closed form ``flat`` (N, n0).
    """
    largest = int(vector_norm(flat, dim=1).argmax())
    with torch.inference_mode(False), torch.enable_grad():
        outputs = network(x[largest : largest + 1].clone())
    if outputs.grad_fn is None or outputs.shape != (1, stack.outputs):
        return False
    stream = torch.Generator().manual_seed(0)
    c = torch.randn(outputs.shape, generator=stream).to(outputs.device, outputs.dtype)
    gradients = torch.autograd.grad(outputs, _parameters(network), c, materialize_grads=True)
    exact = outputs.dtype == torch.float64
    if exact and 0 < max(map(length_of, gradients)) < SMALLEST[torch.float64]:
        return False  # their products would vanish
    with torch.no_grad():
        compared = _compared_layers(stack, flat[largest : largest + 1], c, gradients)
        return not differing(compared, torch.finfo(outputs.dtype).eps)


def _parameters(network: nn.Module) -> list[nn.Parameter]:
    """Return the parameters of the modules in their order, one that is used twice also twice."""
    parameters = []
    for module in network.modules():
        parameters += [p for p in module._parameters.values() if p is not None]
    return parameters


def _compared_layers(
    stack: FullyConnected,
    x: Float[Tensor, "1 n0"],
    c: Float[Tensor, "1 K"],
    gradients: Sequence[Tensor],
) -> dict[str, Compared]:
    """Return gradients of sum_k c_k f_k(x) by the closed form, beside those by autograd.

    Those by weights are multiplied by random vectors. The input is (1, n0), and c is (1, K).
    """
    network, inputs, _ = dense.stacked(stack, x)
    dtype = torch.promote_types(c.dtype, torch.float32)
    run = dense.forward(network, inputs, dtype=dtype)
    signals = {}
    for layer, signal in dense.signals(run, slice(None)):
        signals[layer] = c.to(signal) @ signal[0, 0]
    by_autograd = iter(gradients)
    compared: dict[str, Compared] = {}
    for layer, name in enumerate(stack.names):
        a = run.inputs[layer][0]  # (1, n)
        g = signals[layer]  # (1, m)
        vectors = _vectors(a.shape[1]).to(a).mT  # (n, 2)
        ours = g.mT @ (a @ vectors)
        theirs = next(by_autograd).to(a) @ vectors
        compared[f"{name}.weight"] = ours, theirs, _zero
        if run.with_biases:
            compared[f"{name}.bias"] = g[0], next(by_autograd), _zero
    return compared


def _zero() -> float:
    return 0.0


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
    wrong = []
    small: dict[str, tuple[Tensor, Tensor, Size]] = {}
    for name, (ours, theirs, size) in compared.items():
        if ours is None or not ours.numel():
            agree = theirs is None or not theirs.any()
        elif theirs is None:
            agree = length_of(ours) <= eps**0.5 * size()
        elif theirs.numel() <= LARGE:
            small[name] = (ours, theirs, size)
            continue
        else:
            theirs = theirs.to(ours.dtype)
            error = ours.view_as(theirs) - theirs
            agree = _is_rounding(length_of(error), length_of(theirs), size, eps)
        if not agree:
            wrong.append(name)
    if small:
        wrong += compress(small, _small_apart(list(small.values()), eps))
    return wrong


def _small_apart(compared: Sequence[tuple[Tensor, Tensor, Size]], eps: float) -> Iterator[bool]:
    """Tell of small gradients whether they differ by more than rounding, all side by side."""
    ours = torch.cat([by_us.flatten() for by_us, _, _ in compared])
    theirs = torch.cat([by_autograd.flatten() for _, by_autograd, _ in compared])
    widths = [by_autograd.numel() for _, by_autograd, _ in compared]
    sizes = [size for _, _, size in compared]
    return _apart(ours - theirs, theirs, widths, sizes, eps)


def _apart(
    errors: Float[Tensor, "*axes size"],
    sums: Float[Tensor, "*axes size"],
    widths: Sequence[int],
    sizes: Sequence[Size],
    eps: float,
) -> Iterator[bool]:
    """Tell of arrays that stand side by side, (..., size), whether errors are more than rounding.

    All are compared together, because a call takes longer than a copy.
    """
    both = torch.stack([errors, sums.to(errors.dtype)])  # (2, ..., size)
    starts = np.cumsum(widths) - widths
    squares = _sums_of_squares(both.to(torch.promote_types(both.dtype, torch.float32)), starts)
    smallest = squares[1].min()
    largest = squares[1].max()
    in_range = SAFE[0] <= smallest and largest <= SAFE[1]
    if both.dtype != torch.float64 and not in_range:
        squares = _sums_of_squares(both.double(), starts)
    lengths_of_errors, lengths = np.sqrt(squares).tolist()
    for error, length, size in zip(lengths_of_errors, lengths, sizes, strict=True):
        yield not _is_rounding(error, length, size, eps)


def _sums_of_squares(
    arrays: Float[Tensor, "2 ... size"], starts: Int[np.ndarray, "n"]
) -> Float[np.ndarray, "2 n"]:
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


def _selected(signals: Float[Tensor, "N k C ..."]) -> list[Float[Tensor, "N k _"]]:
    """Return signals (N, k, size) of a few channels and positions, from those of an operation.

    The first and the last position are among them, since a network may use one of these alone.
    """
    step = max(1, ceil(signals.shape[2] / CHANNELS))
    channels = signals[:, :, ::step]
    if channels.dim() == 3:
        return [channels]
    P = channels.shape[3]
    return [channels[..., at] for at in sorted({0, P // 3, P - 1})]


def _scaled(gradient: Tensor, length: Tensor) -> Tensor:
    """Return a gradient with the given length; a gradient that is 0 stays so."""
    present = vector_norm(gradient)
    return gradient * (length / present if present else 1.0)


def _vectors(size: int) -> Float[Tensor, "n size"]:
    """Return random vectors, (n, size)."""
    return torch.randn(PROJECTIONS, size, generator=torch.Generator().manual_seed(0))
