"""The kernel of a torch module in the limit of infinite width."""

import torch
from torch import Tensor, nn

from finitewidth.common.errors import ConfigError, FinitewidthError
from finitewidth.common.shapes import Float
from finitewidth.kernels.ntk_init.initialisation import checked_choice
from finitewidth.kernels.trained.batches import Batch, Inputs
from finitewidth.kernels.trained.budget import within_budget
from finitewidth.kernels.wide.arguments import as_arguments, signals
from finitewidth.kernels.wide.evaluation import kernel_of, program_of
from finitewidth.kernels.wide.fields import Field
from finitewidth.kernels.wide.law import WEIGHTED, LayerLaw, Variance, layer_laws
from finitewidth.kernels.wide.layers import Signal
from finitewidth.kernels.wide.reading import Limit, traced

KINDS = ("ntk", "nngp")


def wide_kernel(
    network: nn.Module,
    x: Inputs,
    other: Inputs | None = None,
    *,
    sigma_w2: Variance,
    sigma_b2: Variance = 0.0,
    kind: str = "ntk",
    parametrisation: str = "ntk",
    budget: int | None = None,
    progress: bool = True,
) -> Float[Tensor, "N M"]:
    """Compute the kernel of one output of a torch module whose channels become infinitely many.

    The operations of the module are read; its weights are not. Weights are N(0, sigma_w2 / fan-in)
    and biases N(0, sigma_b2), independent of each other.

    Args:
        network: a module of linear layers, convolutions, embeddings, activations, averages over
            positions, residual sums, concatenations and layer norms. Frozen parameters
            (``requires_grad=False``) do not count in the tangent kernel.
        x: inputs of the rows, (N, ...); of a network of several arguments, a tuple of them or a
            mapping by name.
        other: inputs of the columns, (M, ...); those of ``x`` by default.
        sigma_w2: variance of a weight times its fan-in: a number, one for each layer by name, or
            "torch" for the variances with which torch initialises its layers.
        sigma_b2: the same for biases. Layers without biases have none.
        kind: "ntk", the tangent kernel; or "nngp", the covariance of an output.
        parametrisation: "ntk", in which a weight is sqrt(sigma_w2 / fan-in) times a trained number,
            and a bias sqrt(sigma_b2) times one; or "standard", in which weights and biases are
            trained themselves. The NTK then is the sum over layers of the fan-in times the part of
            a layer, to leading order in the widths.
        budget: bytes for temporary arrays; by default 512 MiB, or what two inputs need, if half of
            the free memory suffices for them.
        progress: whether a bar is shown, if it takes more than a second.

    Returns:
        Float64, (N, M).

    Raises:
        ConfigError: a module has no such limit, for the reason that the message gives; an argument
            is out of range; or the budget is too small for two inputs.

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
    rows = as_arguments(network, x)
    columns = rows if other is None else as_arguments(network, other, "other")
    rows.check_alike(columns, "other")
    program = program_of(_field(network, laws, rows, columns))

    def run(budget: int) -> Tensor:
        return kernel_of(program, other is None, kind == "ntk", budget, progress)

    return within_budget(run, rows.device, budget)


def _field(network: nn.Module, laws: dict[str, LayerLaw], x: Batch, other: Batch) -> Field:
    """Return the law of the outputs for inputs of rows and columns."""
    graph = traced(network)
    given = signals(graph, x, other)
    try:
        with torch.no_grad():
            output = Limit(graph, laws).run(*given)
    except FinitewidthError:
        raise
    except Exception as error:  # a network may raise anything
        lines = str(error).splitlines() or [type(error).__name__]
        raise ConfigError(f"network: it fails with inputs of {x.shapes()}: {lines[0]}") from error
    if not isinstance(output, Signal) or output.field is None:
        raise ConfigError("network: its output is no tensor that depends on weights")
    if len(output.shape) != 2:
        raise ConfigError(
            f"network: its outputs {output.shape} must be (N, K); average over positions, or "
            "flatten them and add a linear layer"
        )
    return output.field.over_positions() if output.flat else output.field
