"""The tangent kernel of a given network: one interface for stacks and for torch modules."""

from collections.abc import Callable
from dataclasses import replace
from typing import Literal, NamedTuple, TypedDict, TypeVar, Unpack, get_args

import torch
from torch import Tensor, nn

from finitewidth.common.errors import ConfigError
from finitewidth.common.shapes import Float, Shaped
from finitewidth.kernels.trained import dense
from finitewidth.kernels.trained.batches import (
    Batch,
    Inputs,
    Network,
    as_batch,
    as_inputs,
    joined,
)
from finitewidth.kernels.trained.budget import DEFAULT_BUDGET, within_budget
from finitewidth.kernels.trained.check import closed_form_agrees
from finitewidth.kernels.trained.counted import Chosen, counted_parameters
from finitewidth.kernels.trained.fully_connected import FullyConnected, as_fully_connected
from finitewidth.kernels.trained.outputs import outputs_of
from finitewidth.kernels.trained.ranges import check_finite
from finitewidth.kernels.trained.recording import Request, checked_pass, gradients_on
from finitewidth.kernels.trained.surroundings import unchanged_surroundings
from finitewidth.kernels.trained.sweeps import module_terms
from finitewidth.kernels.trained.whole_batch import whole_batch_terms

T = TypeVar("T")
Kernel = Literal["traced", "full", "diagonal"]
PASS = 256  # inputs of one forward pass


class Options(TypedDict, total=False):
    """Options of all functions of this module.

    Attributes:
        of: for modules: the function whose kernel is wanted, such as the features of the network;
            the network itself by default. It is called as the network is.
        parameters: for modules: the parameters that are counted: the name of a parameter or of a
            module, a list of names, or a function that tells by the name whether it is counted;
            all by default. Frozen parameters (``requires_grad=False``) are never counted.
        check: for modules: whether gradients are compared with those of autograd, and outputs with
            those of one input alone and of all in reverse, True by default. False saves a sweep and
            two forward passes, and a kernel can then be wrong without a word.
        budget: bytes for temporary arrays. By default `DEFAULT_BUDGET`, or what the smallest pieces
            of the work need, if half of the free memory suffices for them. The network, the graph
            of its forward pass, and the result are not counted.
        dtype: for stacks: type of the computation and of the result of `traced_kernel`,
            `kernel_terms`, `full_kernel` and `kernel_diagonal`; float64 by default. float32 takes
            half of the time and has errors of about 1e-6.
    """

    of: Callable[..., Tensor] | None
    parameters: Chosen | None
    check: bool
    budget: int
    dtype: torch.dtype


def kernel_terms(
    network: Network,
    x: Inputs,
    *,
    kernel: Kernel = "traced",
    whole_batch: bool = False,
    **options: Unpack[Options],
) -> dict[str, Tensor]:
    """Compute the parts of a kernel that belong to the layers; their sum is the kernel.

    Arguments and errors are those of `traced_kernel`, with ``kernel``: "traced" (the default),
    "full" or "diagonal".

    Returns:
        A float64 tensor for each layer by its name: the parameters of one module. A parameter of
        the network itself has its own.

    Examples:
        >>> import torch
        >>> import finitewidth as fw
        >>> from torch.nn import Linear, ReLU, Sequential
        >>> network = Sequential(Linear(2, 8), ReLU(), Linear(8, 1))
        >>> list(fw.kernel_terms(network, torch.eye(2)))
        ['0', '2']
    """
    if kernel not in get_args(Kernel):
        raise ConfigError(f"kernel: {kernel!r} must be one of {', '.join(get_args(Kernel))}")
    return _terms(network, x, kernel, True, options, whole_batch)


def traced_kernel(
    network: Network, x: Inputs, *, whole_batch: bool = False, **options: Unpack[Options]
) -> Float[Tensor, "*R N N"]:
    """Compute Theta(i, j) = sum_k <grad f_k(x_i), grad f_k(x_j)> over all counted parameters.

    Stacks are computed in closed form in float64. `torch.nn.Sequential` of linear layers with one
    elementwise activation is computed in closed form, too, in the type of the network. Other
    modules need one forward pass and one backward sweep for each output, in the type of the
    network. Products are added up in float64. In float32 the error is about 1e-7 to 1e-5 of the
    norm of the kernel, and grows with the depth; in a chaotic network it grows as rounding of the
    outputs does. For smaller errors convert the network and its inputs to float64.

    Args:
        network: `FullyConnected`, or a torch module whose outputs depend on one input each. Batch
            norms must use running statistics, and dropout must be off: ``network.eval()``.
        x: inputs, (S, n0) or (R, S, n0) for a stack, (N, ...) for a module: a tensor, an array or
            nested lists. Arrays and lists get the type and the device of the network. A network
            with several arguments gets a mapping, passed as ``network(**x)``, or a tuple, passed
            as ``network(*x)``, of tensors with the same first axis; integers stay integers there.
        whole_batch: for modules: True for the kernel of the outputs of the batch as one function of
            the parameters, for networks that mix inputs on purpose, such as batch norms in train
            mode. It is not a kernel of single inputs: each entry depends on the whole batch. It
            takes a backward pass of the batch for each of the N K outputs. Modules keep their
            modes, and buffers are put back. Without mixing, it is the usual kernel.
        **options: for modules:

            - ``of``: the function whose kernel is wanted, such as the features of the network; the
              network itself by default. It is called as the network is, and returns (N, K), or
              (N,) for one output.
            - ``parameters``: the parameters that are counted: the name of a parameter or of a
              module, a list of names, or a function that tells by the name whether it is counted;
              all by default. Frozen parameters (``requires_grad=False``) are never counted.
            - ``check``: whether gradients are compared with those of autograd, and outputs with
              those of one input alone and of all in reverse, True by default. False saves a sweep
              and two forward passes, and a kernel can then be wrong without a word.
            - ``budget``: bytes for temporary arrays. By default 512 MiB, or what the smallest
              pieces of the work need, if half of the free memory suffices for them. The network,
              the graph of its forward pass, and the result are not counted.

            For stacks: ``budget``, and ``dtype``, the type of the computation, float64 by default.
            float32 takes half of the time and has errors of about 1e-6.

    Returns:
        Float64, (..., S, S) with the replica axes of a stack, (N, N) for a module.

    Raises:
        ConfigError: the kernel would be wrong, for a reason that the message gives; the budget is
            too small; or an option is unknown.

    Examples:
        >>> import torch
        >>> import finitewidth as fw
        >>> network = torch.nn.Linear(2, 1)  # its kernel is <x, x'> + 1
        >>> fw.traced_kernel(network, torch.eye(2))
        tensor([[2., 1.],
                [1., 2.]], dtype=torch.float64)
    """
    return _terms(network, x, "traced", False, options, whole_batch)[""]


@unchanged_surroundings()
def kernel_block(
    network: Network,
    x: Inputs,
    other: Inputs,
    kernel: Literal["traced", "full"] = "traced",
    **options: Unpack[Options],
) -> Tensor:
    """Compute a kernel between inputs of the rows and of the columns, at the cost of this block.

    Further arguments and errors are those of `traced_kernel`.

    Returns:
        Float64, traced (..., N, N') or full (..., K, N, K, N').
    """
    _check_network(network)
    of_rows = as_batch(network, x)
    of_columns = as_batch(network, other, "other")
    of_rows.check_alike(of_columns, "other")
    rows = len(of_rows)
    form = closed_form(network, joined([of_rows, of_columns]), options)
    if isinstance(form, ClosedForm):
        block = closed_terms(network, form, kernel, False, options, rows)[""]
        if form.stack is not network:
            check_finite([block], torch.float64)
        return block
    request = request_of(form.network, form.x, False, options, rows)
    return module_terms(request, kernel, grows=options.get("budget") is None)[""]


@unchanged_surroundings()
def output_count(network: Network, x: Inputs, **options: Unpack[Options]) -> int:
    """Return K, the number of outputs, from a forward pass of the first input.

    Arguments and errors are those of `traced_kernel`.
    """
    form = closed_form(network, as_batch(network, x)[:1], options)
    if isinstance(form, ClosedForm):
        return form.stack.outputs
    return checked_pass(request_of(form.network, form.x, False, options)).outputs.shape[1]


@unchanged_surroundings()
def module_outputs(
    network: nn.Module, x: Inputs | Batch, **options: Unpack[Options]
) -> Shaped[Tensor, "N K"]:
    """Return the outputs (N, K) of a network or of ``of``, in their type, without a graph.

    Arguments are those of `traced_kernel`; the outputs are not checked.

    Raises:
        ConfigError: the network fails.
    """
    request = request_of(network, as_batch(network, x), False, options)
    name = "network" if request.of is network else "of"
    # a forward pass may differentiate, so that no_grad is not for it
    with gradients_on():
        runs = [outputs_of(request.outputs, name, part) for part in request.x.split(PASS)]
    return torch.cat([run.detach() for run in runs])


def full_kernel(
    network: Network, x: Inputs, *, whole_batch: bool = False, **options: Unpack[Options]
) -> Float[Tensor, "*R K N K N"]:
    """Compute Theta_ks(i, j) = <grad f_k(x_i), grad f_s(x_j)>.

    Arguments and errors are those of `traced_kernel`.

    Returns:
        Float64, (..., K, S, K, S): output and input of the row, output and input of the column.

    Examples:
        >>> import torch
        >>> import finitewidth as fw
        >>> fw.full_kernel(torch.nn.Linear(2, 3), torch.eye(2)).shape
        torch.Size([3, 2, 3, 2])
    """
    return _terms(network, x, "full", False, options, whole_batch)[""]


def kernel_diagonal(
    network: Network, x: Inputs, *, whole_batch: bool = False, **options: Unpack[Options]
) -> Float[Tensor, "*R K N"]:
    """Compute |grad f_k(x_i)|^2.

    Arguments and errors are those of `traced_kernel`.

    Returns:
        Float64, (K, N).

    Examples:
        >>> import torch
        >>> import finitewidth as fw
        >>> fw.kernel_diagonal(torch.nn.Linear(2, 1), torch.eye(2))
        tensor([[2., 2.]], dtype=torch.float64)
    """
    return _terms(network, x, "diagonal", False, options, whole_batch)[""]


def output_norms(
    network: Network, x: Inputs, **options: Unpack[Options]
) -> Float[Tensor, "*R K K"]:
    """Compute |Theta_ks|_F, the Frobenius norms over inputs for all pairs of outputs.

    The full kernel is formed for some inputs after another and is not kept. Arguments and errors
    are those of `traced_kernel`.

    Returns:
        Float64, (..., K, K).

    Examples:
        >>> import torch
        >>> import finitewidth as fw
        >>> fw.output_norms(torch.nn.Linear(1, 2), torch.ones(1, 1))
        tensor([[2., 0.],
                [0., 2.]], dtype=torch.float64)
    """
    return _terms(network, x, "norms", False, options)[""]


@unchanged_surroundings()
def _terms(
    network: Network,
    x: Inputs,
    kernel: str,
    by_layer: bool,
    options: Options,
    whole_batch: bool = False,
) -> dict[str, Tensor]:
    if whole_batch:
        check_options(network, options)
        if isinstance(network, FullyConnected):
            raise ConfigError("whole_batch: it is for torch modules; stacks do not mix inputs")
        request = request_of(network, as_batch(network, x), by_layer, options)
        return within_memory(lambda asked: whole_batch_terms(asked, kernel), request, options)
    form = closed_form(network, x, options)
    if isinstance(form, ClosedForm):
        terms = closed_terms(network, form, kernel, by_layer, options)
        if form.stack is not network:
            check_finite(terms.values(), torch.float64)
        return terms
    request = request_of(form.network, form.x, by_layer, options)
    return module_terms(request, kernel, grows=options.get("budget") is None)


def within_memory(run: Callable[[Request], T], request: Request, options: Options) -> T:
    """Do what is requested within a budget, see `within_budget`."""
    return within_budget(
        lambda budget: run(replace(request, budget=budget)), request.x.device, options.get("budget")
    )


class ClosedForm(NamedTuple):
    """A network in closed form, with its inputs (S, n0) or (R, S, n0)."""

    stack: FullyConnected
    x: Float[Tensor, "... S n0"]


class OfModule(NamedTuple):
    """A module that has no closed form, with its inputs."""

    network: nn.Module
    x: Batch


def closed_terms(
    network: Network,
    form: ClosedForm,
    kernel: str,
    by_layer: bool,
    options: Options,
    rows: int | None = None,
) -> dict[str, Tensor]:
    """Compute the parts of a kernel of a network in closed form, see `kernel_terms`."""
    return dense.terms_within(
        form.stack,
        form.x,
        kernel,
        by_layer,
        options.get("budget"),
        options.get("dtype", torch.float64),
        rows,
        of_module=network is not form.stack,
    )


def request_of(
    network: nn.Module, x: Batch, by_layer: bool, options: Options, rows: int | None = None
) -> Request:
    """Return what is wanted of a network, with the defaults of the options."""
    return Request(
        network=network,
        of=options.get("of") or network,
        x=x.map(Tensor.detach),
        counted=counted_parameters(network, options.get("parameters")),
        by_layer=by_layer,
        budget=options.get("budget", DEFAULT_BUDGET),
        check=options.get("check", True),
        rows=rows,
    )


def closed_form(network: Network, x: Inputs | Batch, options: Options) -> ClosedForm | OfModule:
    """Return a network in closed form with its inputs, or else the module with its own.

    Raises:
        ConfigError: an option is unknown, or is not for this network.
    """
    check_options(network, options)
    special = any(options.get(name) is not None for name in ("of", "parameters"))
    if isinstance(network, FullyConnected):
        if special:
            raise ConfigError(
                "of, parameters: they are for torch modules; for a stack use without_output(), or "
                "biases=None"
            )
        return ClosedForm(network, as_inputs(network, x))
    batch = as_batch(network, x)
    autocast = torch.is_autocast_enabled(batch.device.type)
    stack = None if special or autocast else as_fully_connected(network)
    if stack is None or batch.only is None:
        return OfModule(network, batch)
    given = batch.only
    flattens = isinstance(next(network.children()), nn.Flatten)
    flat = given.flatten(1) if flattens else given
    first = stack.weights[0]
    same_size = flat.shape[1:] == first.shape[:1]
    if not same_size or flat.dtype != first.dtype or flat.device != first.device:
        return OfModule(network, batch)
    if options.get("check", True) and not closed_form_agrees(stack, network, given, flat):
        return OfModule(network, batch)
    return ClosedForm(stack, flat)


def check_options(network: Network, options: Options) -> None:
    """Check that a network is one, and that there are such options for it.

    Raises:
        ConfigError: it is not, or there are not.
    """
    unknown = set(options) - set(Options.__annotations__)
    if unknown:
        raise ConfigError(
            f"{min(unknown)}: unknown option; allowed are {', '.join(Options.__annotations__)}"
        )
    if "dtype" in options and not isinstance(network, FullyConnected):
        raise ConfigError(
            "dtype: it is for stacks; a torch module is computed in the type of its parameters, so "
            "convert the module and its inputs"
        )
    _check_network(network)


def _check_network(network: Network) -> None:
    if not isinstance(network, FullyConnected | nn.Module):
        raise ConfigError(
            f"network: {type(network).__name__} must be FullyConnected or a torch module"
        )
