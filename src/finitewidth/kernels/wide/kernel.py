"""The kernel of a torch module in the limit of infinite width."""

from math import prod

import torch
from torch import Tensor, nn

from finitewidth.common.arrays import as_tensor
from finitewidth.common.errors import ConfigError, FinitewidthError
from finitewidth.kernels.ntk_init.initialisation import checked_choice
from finitewidth.kernels.trained.batches import Array, as_inputs
from finitewidth.kernels.trained.budget import DEFAULT_BUDGET
from finitewidth.kernels.wide.fields import Field, NeedsPairsError
from finitewidth.kernels.wide.law import WEIGHTED, LayerLaw, Variance, layer_laws
from finitewidth.kernels.wide.layers import Reading, Signal
from finitewidth.kernels.wide.reading import Limit, traced

KINDS = ("ntk", "nngp")
ARRAYS = 12  # of the size of a covariance, that a layer makes at once


def wide_kernel(
    network: nn.Module,
    x: Array,
    other: Array | None = None,
    *,
    sigma_w2: Variance,
    sigma_b2: Variance = 0.0,
    kind: str = "ntk",
    parametrisation: str = "ntk",
    budget: int = DEFAULT_BUDGET,
) -> Tensor:
    """Compute the kernel of one output of a torch module whose channels become infinitely many.

    The operations of the module are read; its weights are not. Weights are N(0, sigma_w2 / fan-in)
    and biases N(0, sigma_b2), independent of each other.

    Args:
        network: a module of one argument: linear layers, convolutions, activations, averages over
            positions, residual sums, concatenations and layer norms. Frozen parameters
            (``requires_grad=False``) do not count in the tangent kernel.
        x: inputs of the rows, (N, ...).
        other: inputs of the columns, (M, ...); those of ``x`` by default.
        sigma_w2: variance of a weight times its fan-in: a number, one for each layer by name, or
            "torch" for the variances with which torch initialises its layers.
        sigma_b2: the same for biases. Layers without biases have none.
        kind: "ntk", the tangent kernel; or "nngp", the covariance of an output.
        parametrisation: "ntk", in which a weight is sqrt(sigma_w2 / fan-in) times a trained number,
            and a bias sqrt(sigma_b2) times one; or "standard", in which weights and biases are
            trained themselves. The NTK then is the sum over layers of the fan-in times the part of
            a layer, to leading order in the widths.
        budget: bytes for temporary arrays.

    Returns:
        Float64, (N, M).

    Raises:
        ConfigError: a module has no such limit, for the reason that the message gives, or an
            argument is out of range.

    Examples:
        >>> import torch
        >>> import finitewidth as fw
        >>> from torch.nn import Linear, ReLU, Sequential
        >>> network = Sequential(Linear(2, 64), ReLU(), Linear(64, 1))
        >>> theta = fw.wide_kernel(network, torch.eye(2), sigma_w2=2.0)
        >>> theta.shape, round(float(theta[0, 0]), 3)  # 2 layers, each with the square of sigma_w2
        (torch.Size([2, 2]), 2.0)
    """
    checked_choice("kind", kind, KINDS)
    if not isinstance(network, nn.Module):
        raise ConfigError(f"network: {type(network).__name__} must be a torch module")
    if type(network) in WEIGHTED:  # torch.fx reads into a module, but not into its layers
        network = nn.Sequential(network)
    laws = layer_laws(network, sigma_w2, sigma_b2, parametrisation)
    rows = as_inputs(network, as_tensor(x, "x"))
    columns = rows if other is None else as_inputs(network, as_tensor(other, "other"), "other")
    graph = traced(network)
    try:
        return _tiles(graph, laws, rows, columns, other is None, kind, budget, pairs=False)
    except NeedsPairsError:
        return _tiles(graph, laws, rows, columns, other is None, kind, budget, pairs=True)


def _tiles(
    graph: torch.fx.GraphModule,
    laws: dict[str, LayerLaw],
    x: Tensor,
    other: Tensor,
    same: bool,
    kind: str,
    budget: int,
    pairs: bool,
) -> Tensor:
    """Compute the kernel for some rows and columns after another."""
    side = _side(x, budget, pairs)
    kernel = torch.empty(len(x), len(other), dtype=torch.float64)
    for top in range(0, len(x), side):
        rows = slice(top, top + side)
        for left in range(top if same else 0, len(other), side):
            columns = slice(left, left + side)
            on_diagonal = same and top == left
            field = _field(graph, laws, x[rows], other[columns], Reading(pairs, on_diagonal))
            part = field.ntk if kind == "ntk" else field.nngp
            if on_diagonal:  # both halves may differ by rounding
                part = part.triu() + part.triu(1).mT
            kernel[rows, columns] = part.cpu()
            if same and not on_diagonal:
                kernel[columns, rows] = part.mT.cpu()
    return kernel


def _side(x: Tensor, budget: int, pairs: bool) -> int:
    """Return the number of inputs of a tile, from the size of the inputs themselves."""
    sizes = x.shape[1:]
    positions = prod(sizes) // min(sizes) if sizes else 1  # the channels may lie on any axis
    of_pair = 8 * ARRAYS * positions ** (2 if pairs else 1)
    return max(1, int((budget / of_pair) ** 0.5))


def _field(
    graph: torch.fx.GraphModule,
    laws: dict[str, LayerLaw],
    x: Tensor,
    other: Tensor,
    how: Reading,
) -> Field:
    """Return the law of the outputs for inputs of rows and columns."""
    signal = Signal((2, *x.shape[1:]), inputs=(x.double(), other.double()))
    try:
        with torch.no_grad():
            output = Limit(graph, laws, how).run(signal)
    except (FinitewidthError, NeedsPairsError):
        raise
    except Exception as error:  # a network may raise anything
        lines = str(error).splitlines() or [type(error).__name__]
        raise ConfigError(
            f"network: it fails with inputs of shape {tuple(x.shape[1:])}: {lines[0]}"
        ) from error
    if not isinstance(output, Signal) or output.field is None:
        raise ConfigError("network: its output is no tensor that depends on weights")
    if len(output.shape) != 2:
        raise ConfigError(
            f"network: its outputs {output.shape} must be (N, K); average over positions, or "
            "flatten them and add a linear layer"
        )
    return output.field.over_positions() if output.flat else output.field
