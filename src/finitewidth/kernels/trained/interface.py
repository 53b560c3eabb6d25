"""The tangent kernel of a given network: one interface for stacks and for torch modules."""

import difflib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias, TypedDict, TypeVar, Unpack, get_args

import torch
from torch import Tensor, nn

from finitewidth.common.errors import ConfigError
from finitewidth.kernels.trained import dense
from finitewidth.kernels.trained.batches import (
    Batch,
    Inputs,
    Network,
    as_batch,
    as_inputs,
    joined,
)
from finitewidth.kernels.trained.budget import DEFAULT_BUDGET, BudgetError, free_bytes
from finitewidth.kernels.trained.check import closed_form_agrees
from finitewidth.kernels.trained.eigenvalue import Eigenpair, largest_eigenpair, module_times
from finitewidth.kernels.trained.fully_connected import FullyConnected, as_fully_connected
from finitewidth.kernels.trained.inputs import check_tensor
from finitewidth.kernels.trained.ranges import check_eigenvalue, check_finite
from finitewidth.kernels.trained.recording import Request, checked_pass
from finitewidth.kernels.trained.surroundings import unchanged_surroundings
from finitewidth.kernels.trained.sweeps import module_terms

# tells by its name whether a parameter is counted; or its name, that of a module, or several
Chosen: TypeAlias = Callable[[str], bool] | str | Sequence[str]
T = TypeVar("T")
Kernel = Literal["traced", "full", "diagonal"]


class Options(TypedDict, total=False):
    """Options of all functions of this module.

    Attributes:
        of: for modules: the function whose kernel is wanted, such as the features of the network;
            the network itself by default. It is called as the network is.
        parameters: for modules: the parameters that are counted: the name of a parameter or of a
            module, a list of names, or a function that tells by the name whether it is counted;
            all by default. Frozen parameters (``requires_grad=False``) are never counted.
        check: for modules: whether gradients are compared with those of autograd, True by default.
            False saves a sweep, and a kernel can then be wrong without a word.
        budget: bytes for temporary arrays. By default `DEFAULT_BUDGET`, or what the smallest pieces
            of the work need, if half of the free memory suffices for them. The network, the graph
            of its forward pass, and the result are not counted.
        dtype: for stacks: type of the computation and of the result of `traced_kernel`, `terms`,
            `full_kernel` and `diagonal`; float64 by default. float32 takes half of the time and
            has errors of about 1e-6.
    """

    of: Callable[..., Tensor] | None
    parameters: Chosen | None
    check: bool
    budget: int
    dtype: torch.dtype


def kernel_terms(
    network: Network, x: Inputs, *, kernel: Kernel = "traced", **options: Unpack[Options]
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
    return _terms(network, x, kernel, True, options)


def traced_kernel(network: Network, x: Inputs, **options: Unpack[Options]) -> Tensor:
    """Compute Theta(i, j) = sum_k <grad f_k(x_i), grad f_k(x_j)> over all counted parameters.

    Stacks, and `torch.nn.Sequential` of linear layers with one elementwise activation, are computed
    in closed form in float64. Other modules need one forward pass and one backward sweep for each
    output, in the type of the network; products are added up in float64. In float32 the error is
    about 1e-7 to 1e-5 of the norm of the kernel, and grows with the depth.

    Args:
        network: `FullyConnected`, or a torch module whose outputs depend on one input each. Batch
            norms must use running statistics, and dropout must be off: ``network.eval()``.
        x: inputs, (S, n0) or (R, S, n0) for a stack, (N, ...) for a module: a tensor, an array or
            nested lists. Arrays and lists get the type and the device of the network. A network
            with several arguments gets a mapping, passed as ``network(**x)``, or a tuple, passed
            as ``network(*x)``, of tensors with the same first axis; integers stay integers there.
        **options: for modules:

            - ``of``: the function whose kernel is wanted, such as the features of the network; the
              network itself by default. It is called as the network is, and returns (N, K), or
              (N,) for one output.
            - ``parameters``: the parameters that are counted: the name of a parameter or of a
              module, a list of names, or a function that tells by the name whether it is counted;
              all by default. Frozen parameters (``requires_grad=False``) are never counted.
            - ``check``: whether gradients are compared with those of autograd, True by default.
              False saves a sweep, and a kernel can then be wrong without a word.
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
    return _terms(network, x, "traced", False, options)[""]


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
    x, other = as_batch(network, x), as_batch(network, other, "other")
    x.check_alike(other, "other")
    both, rows = joined([x, other]), len(x)
    stack, flat = _closed_form(network, both, options)
    if stack is not None:
        block = _closed_terms(stack, flat, kernel, False, options, rows)[""]
        if stack is not network:
            check_finite([block], torch.float64)
        return block
    request = _request(network, both, False, options, rows)
    return _within_memory(lambda request: module_terms(request, kernel), request, options)[""]


@unchanged_surroundings()
def output_count(network: Network, x: Inputs, **options: Unpack[Options]) -> int:
    """Return K, the number of outputs, from a forward pass of the first input.

    Arguments and errors are those of `traced_kernel`.
    """
    stack, x = _closed_form(network, as_batch(network, x)[:1], options)
    if stack is not None:
        return stack.outputs
    return checked_pass(_request(network, x, False, options)).outputs.shape[1]


def full_kernel(network: Network, x: Inputs, **options: Unpack[Options]) -> Tensor:
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
    return _terms(network, x, "full", False, options)[""]


def kernel_diagonal(network: Network, x: Inputs, **options: Unpack[Options]) -> Tensor:
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
    return _terms(network, x, "diagonal", False, options)[""]


def output_norms(network: Network, x: Inputs, **options: Unpack[Options]) -> Tensor:
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
def largest_eigenvalue(
    network: Network,
    x: Inputs,
    *,
    start: Tensor | None = None,
    products: int = 60,
    tolerance: float = 1e-6,
    per_input: bool = False,
    **options: Unpack[Options],
) -> Eigenpair:
    """Estimate the largest eigenvalue of the full (S K, S K) kernel without forming it.

    A product with the kernel takes one backward and one tangent pass. Gradient descent with the
    loss (1/2S) sum |f - y|^2 is stable near a minimum if its rate is below 2 / (eigenvalue / S).

    Args:
        network: see `traced_kernel`.
        x: see `traced_kernel`.
        start: vector of an earlier call, (R, S, K) or (S, K); drawn at random with a fixed seed by
            default. A good start saves most of the products.
        products: largest number of products.
        tolerance: relative residual at which the iteration ends. The relative error of the value is
            at most the residual if another eigenvalue is not larger still, and about its square
            divided by the relative distance of the next eigenvalue.
        per_input: True to divide by the number of inputs S.
        **options: those of `traced_kernel`; ``budget`` is needed where an operation cannot be
            differentiated twice.

    Returns:
        The estimates, float64 for a stack; in the type of the network for a module.

    Raises:
        ConfigError: see `traced_kernel`.

    Examples:
        >>> import torch
        >>> import finitewidth as fw
        >>> found = fw.largest_eigenvalue(torch.nn.Linear(2, 1), torch.eye(2))
        >>> round(float(found.value), 3)
        3.0
    """
    stack, x = _closed_form(network, x, options)
    if stack is not None:
        stack, x, leading = dense.stacked(stack, x)
        with torch.no_grad():
            run = dense.forward(stack, x)
        shape, times = (len(x), x.shape[1], stack.outputs), lambda v: dense.times(run, v)
        like = run.inputs[0]
    else:
        times, like = _within_memory(module_times, _request(network, x, False, options), options)
        shape, leading = (1, *like.shape), ()
    if start is None:
        stream = torch.Generator().manual_seed(0)
        one = torch.randn(shape[1:], generator=stream, dtype=torch.float64)
        start = one.expand(shape)  # the same for all replicas
    elif start.shape != (*leading, *shape[1:]):
        raise ConfigError(
            f"start: shape {tuple(start.shape)} must be {(*leading, *shape[1:])}, as the outputs"
        )
    flat = start.to(like).reshape(shape).flatten(1)
    if not bool(flat.isfinite().all() & flat.any(dim=1).all()):
        raise ConfigError("start: it must hold finite numbers that are not all zero; leave it out")
    found = largest_eigenpair(
        lambda v: times(v.view(shape)).flatten(1), flat, max(products, 2), tolerance
    )
    if isinstance(network, nn.Module):
        check_eigenvalue(found.value)
    scale = shape[1] if per_input else 1
    return Eigenpair(
        found.value.reshape(leading) / scale,
        found.vector.reshape(*leading, *shape[1:]),
        found.residual.reshape(leading),
        found.products,
    )


@unchanged_surroundings()
def _terms(
    network: Network, x: Inputs, kernel: str, by_layer: bool, options: Options
) -> dict[str, Tensor]:
    stack, x = _closed_form(network, x, options)
    if stack is not None:
        terms = _closed_terms(stack, x, kernel, by_layer, options)
        if stack is not network:
            check_finite(terms.values(), torch.float64)
        return terms
    request = _request(network, x, by_layer, options)
    return _within_memory(lambda request: module_terms(request, kernel), request, options)


def _within_memory(run: Callable[[Request], T], request: Request, options: Options) -> T:
    """Do what is requested within a budget, see `_within_budget`."""
    return _within_budget(
        lambda budget: run(replace(request, budget=budget)), request.x.device, options
    )


def _within_budget(run: Callable[[int], T], device: torch.device, options: Options) -> T:
    """Do something with the default budget or, if need be, with one that suffices.

    A budget that the user sets is never exceeded.

    Raises:
        BudgetError: it does not suffice, or half of the free memory does not.
    """
    try:
        return run(options.get("budget", DEFAULT_BUDGET))
    except BudgetError as error:
        if "budget" in options or error.needed > free_bytes(device) / 2:
            raise
        return run(error.needed)


def _closed_terms(
    stack: FullyConnected,
    x: Tensor,
    kernel: str,
    by_layer: bool,
    options: Options,
    rows: int | None = None,
) -> dict[str, Tensor]:
    dtype = options.get("dtype", torch.float64) if kernel != "norms" else torch.float64
    return _within_budget(
        lambda budget: dense.dense_terms(stack, x, kernel, by_layer, budget, dtype, rows),
        x.device,
        options,
    )


def _request(
    network: nn.Module, x: Batch, by_layer: bool, options: Options, rows: int | None = None
) -> Request:
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


def _closed_form(
    network: Network, x: Inputs | Batch, options: Options
) -> tuple[FullyConnected | None, Any]:
    """Return a network in closed form, with its inputs (S, n0); else None and a `Batch`.

    Raises:
        ConfigError: an option is unknown, or is not for this network.
    """
    unknown = set(options) - set(Options.__annotations__)
    if unknown:
        raise ConfigError(
            f"{min(unknown)}: unknown option; allowed are {', '.join(Options.__annotations__)}"
        )
    special = any(options.get(name) is not None for name in ("of", "parameters"))
    if "dtype" in options and not isinstance(network, FullyConnected):
        raise ConfigError(
            "dtype: it is for stacks; a torch module is computed in the type of its parameters, so "
            "convert the module and its inputs"
        )
    if isinstance(network, FullyConnected):
        if special:
            raise ConfigError(
                "of, parameters: they are for torch modules; for a stack use without_output(), or "
                "biases=None"
            )
        return network, as_inputs(network, x)
    _check_network(network)
    batch = as_batch(network, x)
    autocast = torch.is_autocast_enabled(batch.device.type)
    stack = None if special or autocast else as_fully_connected(network)
    if stack is None or batch.only is None:
        return None, batch
    x = batch.only
    flat = x.flatten(1) if isinstance(network[0], nn.Flatten) else x
    first = stack.weights[0]
    if (
        flat.shape[1:] != first.shape[:1]
        or flat.dtype != first.dtype
        or flat.device != first.device
    ):
        return None, batch
    if options.get("check", True) and not closed_form_agrees(stack, network, x, flat):
        return None, batch
    return stack, flat


def _check_network(network: Network) -> None:
    if not isinstance(network, FullyConnected | nn.Module):
        raise ConfigError(
            f"network: {type(network).__name__} must be FullyConnected or a torch module"
        )


def counted_parameters(network: nn.Module, chosen: Chosen | None) -> dict[str, nn.Parameter]:
    """Return the parameters of the kernel by name."""
    trainable = {name: p for name, p in network.named_parameters() if p.requires_grad}
    if chosen is None:
        counted = trainable
    else:
        counts = chosen if callable(chosen) else _named(network, chosen)
        counted = {name: p for name, p in trainable.items() if counts(name)}
    strange = [name for name, parameter in counted.items() if parameter.is_complex()]
    if strange:
        raise ConfigError(
            f"network: parameter {strange[0]!r} is complex; kernels are those of real parameters. "
            "Hold real and imaginary parts, or leave it out with parameters="
        )
    for name, parameter in counted.items():
        check_tensor(parameter, f"network: parameter {name!r}")
    if not counted:
        raise ConfigError(
            "network: no parameter is counted; they need requires_grad=True, and parameters= must "
            "accept some names"
        )
    return counted


def _named(network: nn.Module, chosen: str | Sequence[str]) -> Callable[[str], bool]:
    """Return the function that accepts parameters by their names, or by those of their modules.

    Raises:
        ConfigError: there is no such parameter or module.
    """
    wanted = [chosen] if isinstance(chosen, str) else list(chosen)
    known = {name for name, _ in network.named_parameters()}
    modules = {name for name, _ in network.named_modules()}
    for name in wanted:
        if name not in known and not (name in modules and any(_within(one, name) for one in known)):
            near = difflib.get_close_matches(str(name), known | modules, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise ConfigError(
                f"parameters: {name!r} is no parameter of the network, and no module that has some"
                f"{hint}"
            )
    return lambda name: any(name == one or _within(name, one) for one in wanted)


def _within(name: str, module: str) -> bool:
    return name.startswith(f"{module}.")
