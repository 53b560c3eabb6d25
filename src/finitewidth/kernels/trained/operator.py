"""The full tangent kernel and the Jacobian of a network as matrices that are not formed."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np
import torch
from scipy.sparse.linalg import LinearOperator
from torch import Tensor, nn

from finitewidth.common.errors import ConfigError
from finitewidth.common.shapes import Float
from finitewidth.kernels.ntk_init.activations import activation_of
from finitewidth.kernels.trained import interface, refusals
from finitewidth.kernels.trained.batches import Batch, Inputs, Network, as_batch, as_inputs
from finitewidth.kernels.trained.budget import BudgetError, pieces
from finitewidth.kernels.trained.eigenvalue import check_together
from finitewidth.kernels.trained.fully_connected import FullyConnected
from finitewidth.kernels.trained.graph import FEWEST, children_first, graph_size, root_of
from finitewidth.kernels.trained.interface import Options
from finitewidth.kernels.trained.products import SMALL, Products, overflow, products_of
from finitewidth.kernels.trained.recording import Pass, Request, checked_pass
from finitewidth.kernels.trained.surroundings import unchanged_surroundings

AT_ONCE = 16  # vectors at most; more save little
ENOUGH = 16  # inputs of a batch that are worth fewer vectors at once
Rows = Callable[[Tensor], Tensor]  # vectors (m, size) to their products, in float64


@dataclass(frozen=True, eq=False)
class LinearMap:
    """A matrix that is not formed, but given by its products.

    ``matrix @ v`` takes a vector (columns,) or a block of vectors (columns, m), and ``v @ matrix``
    (rows,) or (m, rows). The product of a tensor is a tensor, that of an array is an array, and
    both are float64.

    Attributes:
        shape: the numbers of rows and columns.
        T: the transposed matrix.
    """

    shape: tuple[int, int]
    _times: Rows
    _transposed: Rows
    __array_ufunc__ = None  # so that an array leaves v @ matrix to us

    @property
    def T(self) -> "LinearMap":  # noqa: N802
        """Return the transposed matrix."""
        return LinearMap(self.shape[::-1], self._transposed, self._times)

    def __matmul__(self, vectors: Any) -> Any:
        if not isinstance(vectors, Tensor | np.ndarray):
            return NotImplemented
        given = torch.as_tensor(vectors)
        columns = self.shape[1]
        if given.dim() not in (1, 2) or len(given) != columns:
            raise ConfigError(
                f"vectors: shape {tuple(given.shape)} must be ({columns},) or ({columns}, m), "
                f"as the matrix has the shape {self.shape}"
            )
        if given.is_complex() or not bool(given.isfinite().all()):
            raise ConfigError("vectors: they must be finite real numbers")
        rows = given.detach().double().reshape(len(given), -1).mT  # (m, columns)
        products = self._times(rows)  # (m, rows)
        product = products.mT.reshape(-1, *given.shape[1:])
        return product if isinstance(vectors, Tensor) else product.cpu().numpy()

    def __rmatmul__(self, vectors: Any) -> Any:
        if not isinstance(vectors, Tensor | np.ndarray):
            return NotImplemented
        if vectors.ndim < 2:
            return self.T @ vectors
        return (self.T @ vectors.T).T

    def to_scipy(self) -> LinearOperator:
        """Return the matrix for the functions of `scipy.sparse.linalg`, such as ``eigsh``."""
        return LinearOperator(
            shape=self.shape,
            dtype=np.dtype(np.float64),
            matvec=lambda v: self @ v.reshape(-1),
            matmat=lambda block: self @ block,
            rmatvec=lambda v: self.T @ v.reshape(-1),
            rmatmat=lambda block: self.T @ block,
        )


@dataclass(frozen=True, eq=False)
class TangentOperator(LinearMap):
    """The full tangent kernel Theta = J J^T of N inputs and K outputs, (K N, K N), not formed.

    Row k N + i belongs to output k of input i: ``full_kernel(network, x).reshape(K * N, K * N)`` is
    the same matrix, and ``outputs.mT.flatten()`` a vector of it. See `LinearMap` for its products.

    Attributes:
        jacobian: J, (K N, P). Its columns belong to the counted parameters, each flattened, in the
            order of ``network.named_parameters()``.
    """

    jacobian: LinearMap
    _diagonal: Callable[[], Tensor]

    @property
    def T(self) -> "TangentOperator":  # noqa: N802
        """Return the transposed matrix, which is the same."""
        return self

    def diagonal(self) -> Tensor:
        """Compute |grad f_k(x_i)|^2, float64 (K N,), see `kernel_diagonal`; their sum is the trace.

        Raises:
            ConfigError: see `kernel_diagonal`.
        """
        return self._diagonal()


@unchanged_surroundings()
def tangent_operator(
    network: Network, x: Inputs, *, batch: int | None = None, **options: Unpack[Options]
) -> TangentOperator:
    """Return the full kernel and the Jacobian of a network as matrices that are not formed.

    J^T v is a backward pass, J w a tangent pass in forward mode, or by a second backward pass where
    an operation has no forward mode. Both run through some inputs after another, so that 10,000
    inputs take the memory of a batch. Products are added up in float64; the passes are done in the
    type of the network, so that those in float32 have errors of about 1e-6.

    The network is read again for each product. It must not change meanwhile.

    Args:
        network: see `traced_kernel`; a stack of one network.
        x: see `traced_kernel`.
        batch: the number of inputs of a pass; by default as many as fit into the budget.
        **options: ``of``, ``parameters``, ``check`` and ``budget`` of `traced_kernel`. Here the
            budget bounds the graph of the forward pass of a batch as well. The check compares
            gradients of inputs of the first batch with those of the same inputs alone; that
            <v, J w> = <J^T v, w> is seen to in any case.

    Returns:
        The operator. Its products raise ConfigError where the network has changed, or where some
        outputs or products are not finite.

    Raises:
        ConfigError: see `traced_kernel`; or gradients can be differentiated neither in forward mode
            nor twice.

    Examples:
        >>> import torch
        >>> import finitewidth as fw
        >>> theta = fw.tangent_operator(torch.nn.Linear(2, 1), torch.eye(2))
        >>> theta @ torch.ones(2)
        tensor([3., 3.], dtype=torch.float64)
        >>> theta.jacobian.shape
        (2, 3)
    """
    if batch is not None and (isinstance(batch, bool) or not isinstance(batch, int) or batch < 1):
        raise ConfigError(f"batch: {batch!r} must be a whole number of inputs, at least 1")
    if isinstance(network, FullyConnected):
        network, x, options = _module_of(network, x, options)
    interface.check_options(network, options)
    request = interface.request_of(network, as_batch(network, x), False, options)
    passes = interface.within_memory(lambda request: _passes(request, batch), request, options)
    rows = passes.outputs * len(request.x)
    jacobian = LinearMap((rows, passes.parameters), passes.times, passes.transposed)

    def diagonal() -> Tensor:
        passes.check_unchanged()
        diagonals = []  # (K, n) each
        for part in passes.parts():
            diagonals.append(interface.kernel_diagonal(network, request.x[part].given(), **options))
        return torch.cat(diagonals, dim=1).flatten()

    return TangentOperator((rows, rows), passes.kernel, passes.kernel, jacobian, diagonal)


class _Stack(nn.Module):
    """One network of a stack as a torch module."""

    def __init__(self, stack: FullyConnected, dtype: torch.dtype) -> None:
        super().__init__()
        self.stack = stack
        self.weights = nn.ParameterList(weight.detach().to(dtype) for weight in stack.weights)
        biases = stack.biases or ()
        self.biases = nn.ParameterList(bias.detach().to(dtype) for bias in biases)

    def forward(self, x: Tensor) -> Tensor:
        last = len(self.weights) - 1
        for layer, weight in enumerate(self.weights):
            x = x @ weight
            if self.stack.biases is not None:
                x = x + self.biases[layer]
            if layer < last or self.stack.activated_output:
                x = activation_of(self.stack.activation).value(x)
        return x


def _module_of(
    stack: FullyConnected, x: Inputs, options: Options
) -> tuple[nn.Module, Tensor, Options]:
    """Return a stack of one network as a module, with its inputs and options."""
    if tuple(stack.replicas):
        raise ConfigError(
            f"network: a stack of {tuple(stack.replicas)} networks; an operator belongs to one"
        )
    dtype = options.get("dtype", torch.float64)
    others: Any = {name: value for name, value in options.items() if name != "dtype"}
    return _Stack(stack, dtype), as_inputs(stack, x).to(dtype), others


@dataclass(frozen=True, eq=False)
class _Passes:
    """The passes through all inputs.

    Attributes:
        products: those of some inputs.
        x: all inputs.
        outputs: K.
        sizes: the number of inputs of a pass.
        at_once: the largest number of vectors of a pass.
        before: parameters and buffers by name, as they were.
    """

    products: Products
    x: Batch
    outputs: int
    sizes: "_Sizes"
    at_once: int
    before: dict[str, Tensor]

    @property
    def parameters(self) -> int:
        return sum(self._sizes)

    @property
    def _sizes(self) -> list[int]:
        return [p.numel() for p in self.products.request.counted.values()]

    def parts(self, vectors: int = 1) -> Iterator[slice]:
        """Yield the inputs of one pass of some vectors after another."""
        return pieces(len(self.x), self.sizes.batch_of(vectors))

    def check_unchanged(self) -> None:
        """Check that the network is as it was when the operator was made.

        Raises:
            ConfigError: it is not.
        """
        network = self.products.request.network
        refusals.check_modules(network)
        now = _tensors(network)
        same = now.keys() == self.before.keys()
        changed = [name for name in now if same and not _equal(now[name], self.before[name])]
        if changed or not same:
            change = f"its {changed[0]!r} has" if changed else "its parameters or buffers have"
            raise ConfigError(
                f"network: {change} changed since the operator was made; call tangent_operator "
                "again"
            )

    def kernel(self, vectors: Float[Tensor, "m KN"]) -> Float[Tensor, "m KN"]:
        """Return Theta v for vectors (m, K N)."""
        return self._some_at_once(vectors, lambda block: self._times(self._transposed(block)))

    def times(self, vectors: Float[Tensor, "m P"]) -> Float[Tensor, "m KN"]:
        """Return J w for vectors (m, P)."""
        return self._some_at_once(vectors, self._times)

    def transposed(self, vectors: Float[Tensor, "m KN"]) -> Float[Tensor, "m P"]:
        """Return J^T v for vectors (m, K N)."""
        return self._some_at_once(vectors, self._transposed)

    @unchanged_surroundings()
    def _some_at_once(self, vectors: Tensor, product: Rows) -> Tensor:
        self.check_unchanged()
        vectors = vectors.to(self.x.device)
        products = torch.cat([product(block) for block in vectors.split(self.at_once)])
        if not bool(products.isfinite().all()):
            raise overflow()
        return products

    def _transposed(self, vectors: Tensor) -> Tensor:
        vectors, scale = _scaled(vectors)
        vectors = vectors.view(len(vectors), self.outputs, len(self.x))  # (m, K, N)
        total = vectors.new_zeros(len(vectors), self.parameters)

        def add(row: int, gradients: list[Tensor]) -> None:
            parts = total[row].split(self._sizes)
            for part, gradient in zip(parts, gradients, strict=True):
                part += gradient.flatten()

        for part in self.parts(len(vectors)):
            self.products.transposed(self.x[part], vectors[:, :, part].mT, add)
        return total * scale

    def _times(self, tangents: Tensor) -> Tensor:
        tangents, scale = _scaled(tangents)
        parameters = self.products.request.counted.values()
        by_parameter = []  # (m, ...) each
        for columns, p in zip(tangents.split(self._sizes, dim=1), parameters, strict=True):
            by_parameter.append(columns.view(-1, *p.shape).to(p))
        products = tangents.new_empty(len(tangents), self.outputs, len(self.x))  # (m, K, N)
        for part in self.parts(len(tangents)):
            products[:, :, part] = self.products.times(self.x[part], by_parameter).mT
        return products.flatten(1) * scale


def _passes(request: Request, batch: int | None) -> _Passes:
    """Check the network, and choose how many inputs and vectors go through it at once."""
    few = replace(request, x=request.x[:FEWEST])
    run = checked_pass(few)
    K = run.outputs.shape[1]
    eps = torch.finfo(run.dtype).eps
    of_input, of_weights = _graph_sizes(run)
    item = run.outputs.element_size()
    del run
    of_parameters = sum(p.numel() * (8 + 2 * p.element_size()) for p in request.counted.values())
    sizes = _Sizes(
        budget=request.budget,
        batch=batch,
        inputs=len(request.x),
        of_input=of_input * item,
        of_vector=of_parameters + of_weights * item,
    )
    vectors = sizes.vectors()
    first = replace(request, x=request.x[: sizes.batch_of(1)])
    run = checked_pass(first)
    if request.check:
        check_together(first, run)
    del run
    small = of_input * sizes.batch_of(vectors) <= SMALL
    return _Passes(
        products=products_of(request, few.x, K, eps, small),
        x=request.x,
        outputs=K,
        sizes=sizes,
        at_once=vectors,
        before={name: tensor.clone() for name, tensor in _tensors(request.network).items()},
    )


def _graph_sizes(run: Pass) -> tuple[int, int]:
    """Return how many numbers the graph holds for each input, and for weights, at least 1 and 0.

    A graph of more inputs is larger than one of two by the numbers of these inputs.
    """
    many = graph_size(run.nodes)
    two = graph_size(children_first(root_of(run.two)))
    of_input = max((many - two) // (len(run.outputs) - 2), 1)
    return of_input, max(two - 2 * of_input, 0)


@dataclass(frozen=True)
class _Sizes:
    """How many inputs, and how many vectors, go through the network at once.

    A pass holds the graph of some inputs, their gradients for one vector or their tangents for
    each, and for each vector the sum of gradients, and gradients or tangents.

    Attributes:
        budget: bytes for all.
        batch: the number of inputs that is asked for, if it is.
        inputs: the number of all inputs.
        of_input: bytes of the tensors in the graph of an input.
        of_vector: bytes that a vector takes in the space of the parameters.
    """

    budget: int
    batch: int | None
    inputs: int
    of_input: int
    of_vector: int

    def vectors(self) -> int:
        """Return the largest number of vectors.

        Raises:
            BudgetError: not one vector and one input fit.
        """
        inputs = self.batch or min(self.inputs, ENOUGH)
        vectors = AT_ONCE
        while vectors > 1 and self._bytes(inputs, vectors) > self.budget:
            vectors //= 2
        needed = self._bytes(self.batch or 1, 1)
        if needed > self.budget:
            remedy = ", or a smaller batch" if (self.batch or 1) > 1 else ""
            raise BudgetError("a pass of one vector", self.budget, needed, remedy)
        return vectors

    def batch_of(self, vectors: int) -> int:
        """Return the number of inputs for some vectors."""
        room = self.budget - vectors * self.of_vector
        fitting = max(room // (self.of_input * (2 + vectors)), 1)
        return min(self.batch or fitting, self.inputs)

    def _bytes(self, inputs: int, vectors: int) -> int:
        # a single input is computed twice
        return max(inputs, 2) * self.of_input * (2 + vectors) + vectors * self.of_vector


def _scaled(
    vectors: Float[Tensor, "m size"],
) -> tuple[Float[Tensor, "m size"], Float[Tensor, "m 1"]]:
    """Return vectors (m, size) whose largest number is 1, and their factors (m, 1)."""
    largest = vectors.abs().amax(1, keepdim=True)
    factors = largest.where(largest > 0, torch.ones_like(largest))
    return vectors / factors, factors


def _tensors(network: nn.Module) -> dict[str, Tensor]:
    """Return parameters and buffers by name."""
    named = [*network.named_parameters(), *network.named_buffers()]
    return {name: tensor.detach() for name, tensor in named}


def _equal(one: Tensor, other: Tensor) -> bool:
    same = one.shape == other.shape and one.dtype == other.dtype and one.device == other.device
    return same and bool(torch.equal(one, other))
