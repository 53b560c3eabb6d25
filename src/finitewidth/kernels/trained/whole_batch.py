"""The kernel of the outputs of a batch as one function of the parameters.

Networks may mix inputs on purpose: batch norms in train mode, contrastive heads, messages that are
passed within a batch. Then f_k(x_i) depends on all inputs of the batch, and so does

    Theta_ks(i, j) = <grad f_k(x_i; x_1 .. x_N), grad f_s(x_j; x_1 .. x_N)>,

which is not a kernel of two inputs. The gradients are those of autograd, one backward pass through
the whole batch for each of the N K outputs. neural-tangents computes this kernel with
``vmap_axes=None`` (Novak, Sohl-Dickstein and Schoenholz, "Fast Finite Width Neural Tangent Kernel",
ICML 2022).
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.linalg import vector_norm

from finitewidth.common.errors import ConfigError
from finitewidth.kernels.trained import outputs as returned
from finitewidth.kernels.trained import refusals
from finitewidth.kernels.trained.budget import BudgetError, pieces
from finitewidth.kernels.trained.check import differing
from finitewidth.kernels.trained.graph import (
    backward,
    children_first,
    coarsest,
    graph_size,
    is_leaf,
    root_of,
)
from finitewidth.kernels.trained.recording import Request, check_missing, gradients_on
from finitewidth.kernels.trained.units import module_of


class WrongRowsError(Exception):
    """Gradients that were computed at once are not those that were computed one by one."""


def whole_batch_terms(request: Request, what: str) -> dict[str, Tensor]:
    """Compute the parts of the kernel of a whole batch that belong to the modules, in float64.

    They are traced (N, N), full (K, N, K, N) or diagonal (K, N). Modules keep their modes. Buffers,
    such as running statistics, and the state of random numbers are put back.

    Raises:
        ConfigError: the network is random, or its outputs are not finite (N, K).
        BudgetError: the budget does not hold the gradients of two outputs by one parameter.
    """
    device = request.x.device
    devices = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices), restored_buffers(request.network), gradients_on():
        outputs, counted = _checked_outputs(request)
        sweeps = _Sweeps(request, outputs, counted)
        N, K = outputs.shape
        rows = N if what == "traced" else N * K  # that are multiplied with each other
        totals: dict[str, Tensor] = {}
        for names in sweeps.groups(rows):
            key = module_of(names[0]) if request.by_layer else ""
            part = _checked_part(sweeps, names, what)
            totals[key] = totals[key] + part if key in totals else part
    shape = {"traced": (N, N), "full": (K, N, K, N), "diagonal": (K, N)}[what]
    return {name: total.reshape(shape) for name, total in totals.items()}


@contextmanager
def restored_buffers(network: nn.Module) -> Iterator[None]:
    """Give buffers their values back at the end."""
    before = {name: buffer.clone() for name, buffer in network.named_buffers()}
    try:
        yield
    finally:
        with torch.no_grad():
            for name, buffer in network.named_buffers():
                if name in before and not torch.equal(buffer, before[name]):
                    buffer.copy_(before[name])


def _checked_outputs(request: Request) -> tuple[Tensor, dict[str, nn.Parameter]]:
    """Return outputs (N, K) with their graph, and the counted parameters that they depend on.

    Raises:
        ConfigError: the network is random, or no gradient arrives at some parameters.
    """
    name = "network" if request.of is request.network else "of"
    x = request.x
    refusals.check_modules(request.network, whole_batch=True)
    with restored_buffers(request.network):
        first = returned.outputs_of(request.outputs, name, x)
        returned.check_outputs(first, request.outputs, name, x, more=x[:1])
    outputs = returned.outputs_of(request.outputs, name, x)
    if not refusals.alike(outputs, first):
        raise ConfigError(
            f"{name}: its outputs for the same batch differ from call to call; it is random. "
            "Switch off what draws random numbers"
        )
    refusals.check_gradient(outputs)
    reached = {id(node.variable) for node in children_first(root_of(outputs)) if is_leaf(node)}
    missing = {name: p for name, p in request.counted.items() if id(p) not in reached}
    with restored_buffers(request.network):
        check_missing(request, missing, x, first)
    counted = {name: p for name, p in request.counted.items() if name not in missing}
    refusals.check_counted(counted, name)
    return outputs, counted


class _Sweeps:
    """The backward passes of a batch.

    Rows of the Jacobian are numbered k N + i, for output k of input i.
    """

    def __init__(self, request: Request, outputs: Tensor, counted: dict[str, nn.Parameter]) -> None:
        self.request = request
        self.outputs = outputs
        self.counted = counted
        nodes = children_first(root_of(outputs))
        self.eps = torch.finfo(coarsest(nodes)).eps
        self.graph_bytes = graph_size(nodes) * outputs.element_size()
        self.vectorise = True
        self.weights: Tensor | None = None  # (N K,), of a sum of all rows
        self.by_plain_sweep: dict[str, Tensor] = {}  # this sum by parameters
        if request.check:
            self.weights, self.by_plain_sweep = self._reference()

    def _reference(self) -> tuple[Tensor, dict[str, Tensor]]:
        """Return random numbers c for all rows, and the gradients of c f by one plain sweep."""
        stream = torch.Generator().manual_seed(0)
        c = torch.randn(self.outputs.mT.shape, generator=stream).to(self.outputs)
        parameters = list(self.counted.values())
        gradients = torch.autograd.grad(self.outputs, parameters, c.mT, retain_graph=True)
        dense = [gradient.to_dense() for gradient in gradients]
        return c.flatten(), dict(zip(self.counted, dense, strict=True))

    def groups(self, rows: int) -> Iterator[list[str]]:
        """Yield parameters, as many as have gradients of all rows within half of the budget.

        Those of different modules are apart where the kernel is divided by modules. A single
        parameter may be larger.
        """
        group: list[str] = []
        for name in self.counted:
            if group:
                other_module = module_of(name) != module_of(group[0])
                apart = self.request.by_layer and other_module
                needed = rows * self._bytes([*group, name])
                if apart or needed > self.request.budget // 2:
                    yield group
                    group = []
            group.append(name)
        yield group

    def blocks(self, names: Sequence[str], rows: int) -> list[slice]:
        """Return blocks of rows: all, or so many that two blocks fit into half of the budget.

        Raises:
            BudgetError: two rows do not fit.
        """
        one = self._bytes(names)
        budget = self.request.budget
        size = rows if rows * one <= budget // 2 else budget // 4 // one
        if size < 1:
            needed = 4 * max(self._bytes([name]) for name in self.counted)
            raise BudgetError(f"the gradient by {', '.join(names)}", budget, needed)
        return list(pieces(rows, size))

    def _bytes(self, names: Sequence[str]) -> int:
        item = max(self.outputs.element_size(), 4)
        return item * sum(self.counted[name].numel() for name in names)

    def jacobian(self, names: Sequence[str], rows: Sequence[int]) -> Tensor:
        """Return the rows of the Jacobian by some parameters, (n, size)."""
        N, K = self.outputs.shape
        parameters = [self.counted[name] for name in names]
        dtype = torch.promote_types(self.outputs.dtype, torch.float32)
        size = sum(p.numel() for p in parameters)
        jacobian = self.outputs.new_empty(len(rows), size, dtype=dtype)
        for part in pieces(len(rows), self._rows_at_once(names, len(rows))):
            numbers = torch.tensor(rows[part], device=self.outputs.device)  # k N + i
            n = len(numbers)
            cotangents = torch.zeros_like(self.outputs).expand(n, N, K).clone()
            cotangents[torch.arange(n), numbers % N, numbers // N] = 1
            gradients = backward(self.outputs, parameters, cotangents)  # (n, ...) each
            start = 0
            for p, gradient in zip(parameters, gradients, strict=True):
                columns = slice(start, start + p.numel())
                if gradient is None:
                    jacobian[part, columns] = 0
                else:
                    jacobian[part, columns] = gradient.to_dense().flatten(1).to(dtype)
                start = columns.stop
        return jacobian

    def _rows_at_once(self, names: Sequence[str], rows: int) -> int:
        """Return how many rows are computed by one sweep, in a quarter of the budget."""
        if not self.vectorise:
            return 1
        quarter = self.request.budget // 4
        fits = quarter // max(self.graph_bytes, self._bytes(names))
        return max(1, min(fits, rows))

    def check(self, names: Sequence[str], sums: Tensor) -> None:
        """Check the sum of c-weighted rows (size,) against one plain sweep.

        Raises:
            WrongRowsError: they differ, as `torch.func.vmap` of an operation is wrong.
        """
        largest = max(float(vector_norm(part)) for part in self.by_plain_sweep.values())
        parts = sums.split([self.counted[name].numel() for name in names])
        compared = {}
        for name, part in zip(names, parts, strict=True):
            right = self.by_plain_sweep[name]
            compared[name] = (part.view_as(right), right, lambda: largest)
        if differing(compared, self.eps):
            raise WrongRowsError


def _checked_part(sweeps: _Sweeps, names: Sequence[str], what: str) -> Tensor:
    """Return the part of the kernel by some parameters, in which each sweep is right."""
    try:
        return _part(sweeps, names, what)
    except WrongRowsError:
        sweeps.vectorise = False
        return _part(sweeps, names, what)


def _part(sweeps: _Sweeps, names: Sequence[str], what: str) -> Tensor:
    N, K = sweeps.outputs.shape
    rows = list(range(N * K))
    if what == "traced":
        outputs = [rows[k * N : (k + 1) * N] for k in range(K)]
        total = sweeps.outputs.new_zeros(N, N, dtype=torch.float64)
    else:
        outputs = [rows]
        shape = (N * K,) if what == "diagonal" else (N * K, N * K)
        total = sweeps.outputs.new_zeros(shape, dtype=torch.float64)
    sums = torch.zeros(())
    for numbers in outputs:
        blocks = sweeps.blocks(names, len(numbers))
        for at, block in enumerate(blocks):
            jacobian = sweeps.jacobian(names, numbers[block])
            if sweeps.weights is not None:
                c = sweeps.weights[numbers[block]].to(jacobian)
                sums = sums + c @ jacobian
            if what == "diagonal":
                total[block] += jacobian.square().sum(1)
                continue
            total[block, block] += jacobian @ jacobian.mT
            for later in blocks[at + 1 :]:
                product = jacobian @ sweeps.jacobian(names, numbers[later]).mT
                total[block, later] += product
                total[later, block] += product.mT
    if sweeps.weights is not None:
        sweeps.check(names, sums)
    return total
