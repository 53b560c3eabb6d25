"""Can the infinite-width kernel be trusted for a given network? The question of ``trust``."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, overload

from finitewidth.common.errors import ConfigError
from finitewidth.kernels.ntk_init.activations import ActivationLike
from finitewidth.kernels.ntk_init.initialisation import Initialisation
from finitewidth.library.law_trust import Trust, trust_of_law

if TYPE_CHECKING:
    from torch import nn

    from finitewidth.common.arrays import Array
    from finitewidth.kernels.trained.batches import Inputs
    from finitewidth.kernels.wide.law import Variance
    from finitewidth.library.module_trust import NetworkTrust


@overload
def trust(
    init: Initialisation | Sequence[int],
    *,
    activation: ActivationLike = "relu",
    input_norm2: float = 1.0,
    draws: int = 2000,
    inputs: "int | Array" = 32,
    seed: int = 0,
) -> Trust: ...


@overload
def trust(
    init: "Callable[..., nn.Module]",
    x: "Inputs",
    y: "Array | None" = None,
    *,
    width: int | None = None,
    sigma_w2: "Variance" = "torch",
    sigma_b2: "Variance" = "torch",
    draws: int = 50,
    steps: int = 100,
    rate: float | None = None,
    seed: int = 0,
) -> "NetworkTrust": ...


def trust(init: Any, x: Any = None, y: Any = None, **options: Any) -> "Trust | NetworkTrust":
    """Say how far the tangent kernels of drawn networks lie from that of infinite width.

    There are two forms. ``trust(init)`` is about a law of fully connected networks. Mean and
    dispersion are exact for ReLU, otherwise estimated from draws of the exact law, with 95 %
    intervals. For the kernel at one input, all outputs have the same law, so they are those of one
    output.

    ``trust(make_network, x)`` is about a torch module of yours. Its limit is that of
    `wide_kernel` in the standard parametrisation, and the function draws the finite networks.
    The kernel is that of the first output. Where the module has no limit, the answer says why.

    Args:
        init: the law of the network, from `network` or `constant_width`; or a list of all widths,
            for the network without biases at the border of the phases (sigma_w2 = 2 for ReLU). Or
            a function that returns a new torch module, with weights from torch's own generator. It
            may take a width, the argument ``width`` or a first one without default. The distance
            is then computed at half of the width, the width, twice and four times, too.
        x: for modules: inputs (N, ...), as for `traced_kernel`. Not for a law.
        y: for modules: targets (N, K) of a training, which shows how far the kernel moves.
        **options: for a law:

            - ``activation``: "relu" (the default), "tanh", "erf" or an elementwise torch callable.
            - ``input_norm2``: |x|^2 > 0 of the input of Theta(x, x), and of random inputs; 1.
            - ``draws``: number of networks to draw for other activations than ReLU, at least 3;
              2000.
            - ``inputs``: inputs (S, n_0) for the largest stable step, or the number S of random
              ones, which each network then has of its own; 32.
            - ``seed``: of all draws; 0.

            For modules:

            - ``width``: the width for the function, at least 2; its default by default.
            - ``sigma_w2``, ``sigma_b2``: variances of the limit, as for `wide_kernel`; "torch" by
              default. They must be those with which the function draws.
            - ``draws``: number of networks, at least 6; 50.
            - ``steps``: length of the training by gradient descent with all inputs; 100.
            - ``rate``: its step for the loss (1/2N) sum |f - y|^2; half of the largest stable one
              of each network by default.
            - ``seed``: of all draws; 0.

    Raises:
        ConfigError: an argument is out of range, a number overflows float64, the variances are not
            those of the networks drawn, or the module has no tangent kernel.

    Examples:
        >>> import finitewidth as fw
        >>> answer = fw.trust([784, 500, 500, 10])  # or fw.network([784, ..], sigma_w2=1.5)
        >>> answer.phase
        'critical'
        >>> round(answer.relative_deviation, 3)
        0.087

        >>> import torch
        >>> from torch.nn import Linear, ReLU, Sequential
        >>> def make(width):
        ...     return Sequential(Linear(5, width), ReLU(), Linear(width, 1))
        >>> answer = fw.trust(make, torch.randn(4, 5), width=64)
        >>> answer.growth["width"].tolist()
        [32, 64, 128, 256]
    """
    if callable(init) and not (x is None and hasattr(init, "parameters")):  # a law refuses modules
        from finitewidth.library.module_trust import trust_of_modules

        if x is None:
            raise ConfigError("x: give the inputs of the networks, (N, ...)")
        return trust_of_modules(init, x, y, **options)
    if x is not None or y is not None:
        raise ConfigError("x: a law of networks takes none; give inputs=")
    return trust_of_law(init, **options)
