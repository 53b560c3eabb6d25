"""Networks that a function of the user draws: their kernels, and their infinite-width limit."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2
from torch import Tensor, nn

from finitewidth.common.errors import ConfigError
from finitewidth.kernels.trained import largest_eigenvalue, traced_kernel
from finitewidth.kernels.trained.batches import Batch, Inputs, as_batch
from finitewidth.kernels.wide import wide_kernel
from finitewidth.kernels.wide.law import LayerLaw, Variance, fan_in, layer_laws
from finitewidth.networks import user_network
from finitewidth.records.provenance import seed_for

Make = Callable[..., nn.Module]
IMPROBABLE = 1e-6  # probability below which weights are not those of a law


@dataclass(frozen=True, eq=False)
class Drawn:
    """Kernels of networks with independent weights.

    Attributes:
        kernels: Theta of the first output of each network, (draws, N, N).
        steps: 2 N / lambda_max of all outputs, of the first networks.
    """

    kernels: np.ndarray
    steps: np.ndarray


class Draws:
    """Networks of a function, each with weights from a seed of its own.

    Args:
        make: returns a new module.
        x: inputs (N, ...); arrays and lists get the type of the network.
        seed: of all of them.
    """

    def __init__(self, make: Make, x: Inputs, seed: int) -> None:
        self.make = make
        self.seed = seed
        with user_network.seeded(0):
            network = make()
        if not isinstance(network, nn.Module):
            raise ConfigError(
                f"make_network: it returns {type(network).__name__}; it must be a torch module"
            )
        self.x: Batch = as_batch(network, x)

    def network(self, number: int) -> nn.Module:
        """Return one network in eval mode; the random numbers of the caller go on as before."""
        weights = seed_for("network trust", self.seed, "draw", number)
        return user_network.draw(self.make, self.x, 1, weights)

    def networks(self, count: int) -> Iterator[nn.Module]:
        """Yield the first networks."""
        for number in range(count):
            yield self.network(number)

    def kernels(self, count: int, eigenvalues: int = 0) -> Drawn:
        """Compute the kernels of the first networks, and some largest stable steps.

        Raises:
            ConfigError: there is no kernel, or the networks have the same weights.
        """
        kernels = []
        steps = []
        for number, network in enumerate(self.networks(count)):
            # the networks differ in their weights alone, so that one is compared with autograd
            kernel = first_output_kernel(network, self.x, check=number == 0)
            kernels.append(kernel.cpu().numpy())
            if number < eigenvalues:
                largest = largest_eigenvalue(network, self.x, per_input=True, check=number == 0)
                steps.append(2 / float(largest.value))
        theta = np.stack(kernels)
        _check_random(theta)
        return Drawn(theta, np.array(steps))

    def limit(self, sigma_w2: Variance, sigma_b2: Variance) -> tuple[np.ndarray | None, str]:
        """Return the kernel (N, N) of infinite width, or None and why there is none.

        Its parametrisation is the standard one, of a torch module whose weights are trained
        themselves. The first network is compared with the variances.

        Raises:
            ConfigError: a variance is out of range, or is not that of the weights drawn.
        """
        network = self.network(0)
        layer_laws(network, sigma_w2, sigma_b2, "standard")  # refuses variances out of range
        try:
            theta = wide_kernel(
                network,
                self.x.given(),
                sigma_w2=sigma_w2,
                sigma_b2=sigma_b2,
                parametrisation="standard",
            )
        except ConfigError as error:
            return None, str(error)
        check_weights(network, sigma_w2, sigma_b2)
        return theta.cpu().numpy(), ""


def first_output_kernel(network: nn.Module, x: Batch, *, check: bool = True) -> Tensor:
    """Compute Theta of the first output, (N, N); its law is that of every output."""

    def first_output(*args: Tensor, **kwargs: Tensor) -> Tensor:
        return network(*args, **kwargs)[:, :1]

    return traced_kernel(network, x, of=first_output, check=check)


def check_weights(network: nn.Module, sigma_w2: Variance, sigma_b2: Variance) -> None:
    """Check that drawn weights have the variances of the limit.

    The mean square of n independent normal numbers, in units of the variance, is chi^2_n / n. That
    of uniform numbers, as torch draws them, is more concentrated.

    Raises:
        ConfigError: the weights or biases of a layer have others.
    """
    layers = dict(network.named_modules())
    for name, law in layer_laws(network, sigma_w2, sigma_b2, "standard").items():
        layer = layers[name]
        fan = fan_in(layer)
        _check_variance("sigma_w2", f"weights of {name!r} times the fan-in", layer.weight, fan, law)
        if layer.bias is not None:
            _check_variance("sigma_b2", f"biases of {name!r}", layer.bias, 1, law)


def _check_variance(argument: str, name: str, values: Tensor, factor: int, law: LayerLaw) -> None:
    """Check that ``factor`` times drawn values has the variance that the law has for an argument.

    ``name`` is what the values are called in the message.
    """
    expected = getattr(law, argument)
    measured = factor * float(values.detach().double().square().mean())
    count = values.numel()
    if expected == measured:
        return
    scaled = count * measured / expected if expected else np.inf  # chi^2 with count degrees
    if min(chi2.cdf(scaled, count), chi2.sf(scaled, count)) < IMPROBABLE:
        raise ConfigError(
            f"{argument}: the {name} have the variance {measured:.3g} in a network drawn, not "
            f"{expected:.3g}; give {argument} as the network draws it, a number or one for each "
            "layer by name"
        )


def width_argument(make: Make, width: int | None) -> tuple[str, int] | None:
    """Return the argument of a function that is its width, and the width; None if it has none.

    It is the argument called ``width``, or else the first one if this has no default.

    Raises:
        ConfigError: a width is missing, or there is no argument for it.
    """
    arguments: Mapping[str, inspect.Parameter]
    try:
        arguments = inspect.signature(make).parameters
    except ValueError:  # some functions in C have no signature
        arguments = {}
    name = _width_name(arguments)
    if name is None:
        if width is not None:
            raise ConfigError("width: make_network takes none; give it an argument width")
        return None
    if width is not None:
        return name, width
    default = arguments[name].default
    if not isinstance(default, int):
        raise ConfigError(
            f"width: make_network takes a width, {name!r}; give its number of channels, such as "
            "width=64"
        )
    return name, default


def _width_name(arguments: Mapping[str, inspect.Parameter]) -> str | None:
    if "width" in arguments:
        return "width"
    for first in list(arguments.values())[:1]:
        positional = first.kind in (first.POSITIONAL_ONLY, first.POSITIONAL_OR_KEYWORD)
        if positional and first.default is first.empty:
            return first.name
    return None


def with_width(make: Make, name: str, width: int) -> Make:
    """Return a function that makes networks of one width."""
    kind = inspect.signature(make).parameters[name].kind
    if kind == inspect.Parameter.POSITIONAL_ONLY:
        return lambda: make(width)
    return lambda: make(**{name: width})


def _check_random(theta: np.ndarray) -> None:
    """Refuse kernels (draws, N, N) that are zero, not finite, or all alike."""
    diagonal = np.diagonal(theta, axis1=1, axis2=2)
    if not np.isfinite(theta).all() or not (diagonal.mean(axis=0) > 0).all():
        raise ConfigError(
            "network: its tangent kernel at an input is zero or not finite; change its "
            "initialisation"
        )
    if (theta == theta[0]).all():
        raise ConfigError(
            "network: it has the same weights at every call, or its kernel does not depend on "
            "them; make a new module in the function, with weights from torch's generator, and set "
            "no seed there"
        )
