"""Kernels of described networks at initialisation: one function for all samplers."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from finitewidth.common.errors import ConfigError
from finitewidth.kernels.ntk_init.activations import ActivationLike
from finitewidth.kernels.ntk_init.initialisation import Initialisation
from finitewidth.kernels.ntk_init.moments import LogMoments, log_moments
from finitewidth.kernels.ntk_init.phases import border
from finitewidth.library.dispersion import Dispersion, Estimator, estimated, exactly

if TYPE_CHECKING:
    from finitewidth.common.arrays import Array


def network(
    widths: Sequence[int],
    *,
    sigma_w2: float,
    sigma_b2: float = 0.0,
    parametrisation: Literal["standard", "ntk"] = "standard",
) -> Initialisation:
    """Describe a fully connected network at initialisation by all its widths.

    Weights are independent, W^l_ij ~ N(0, sigma_w2 / n_(l-1)), and biases b^l_i ~ N(0, sigma_b2)
    (``beyond``, equations 3 and 6).

    Args:
        widths: (n_0, n_1, .., n_L): the input dimension, the hidden widths, the number of outputs.
        sigma_w2: variance of a weight times its fan-in, > 0.
        sigma_b2: variance of a bias, >= 0.
        parametrisation: "standard" or "ntk", see `Initialisation`.

    Raises:
        ConfigError: a value is out of range.

    Examples:
        >>> import finitewidth as fw
        >>> net = fw.network([784, 500, 500, 10], sigma_w2=2.0)
        >>> net.depth, net.outputs
        (3, 10)
    """
    if isinstance(widths, str) or len(widths) < 2:
        raise ConfigError(
            f"widths = {widths!r}: must have at least the input dimension and the "
            "number of outputs, such as [784, 500, 10]"
        )
    *below, outputs = widths
    return Initialisation(
        widths=tuple(below),
        sigma_w2=sigma_w2,
        sigma_b2=sigma_b2,
        outputs=outputs,
        parametrisation=parametrisation,
    )


def described(init: Any, activation: ActivationLike = "relu") -> Initialisation:
    """Return a network at initialisation, also from a list of all its widths.

    The list stands for the network at the border of the phases of ``activation``, without biases.

    Raises:
        ConfigError: it is neither.
    """
    if isinstance(init, Initialisation):
        return init
    if isinstance(init, list | tuple):
        return network(init, sigma_w2=border(activation, 0.0))
    raise ConfigError(
        f"init: {type(init).__name__} must be a network such as network([784, 500, 10], "
        "sigma_w2=2.0), or a list of widths; for a torch module, traced_kernel gives the kernel, "
        "and study its dispersion over initialisations, if it gets a function that makes the module"
    )


def draw_ntk(
    init: Initialisation | Sequence[int],
    inputs: "Array | None" = None,
    *,
    activation: ActivationLike = "relu",
    draws: int = 1000,
    seed: int = 0,
    input_norm2: float = 1.0,
    device: str = "cpu",
) -> np.ndarray:
    """Draw the tangent kernel of random networks from its exact law.

    The fastest exact sampler is chosen. ReLU networks with one input and one output cost O(L) per
    draw, other activations O(L M), and S inputs O(L M S^2).

    Args:
        init: the law of the networks, from `network` or `constant_width`; or a list of all widths,
            for networks without biases at the border of the phases (sigma_w2 = 2 for ReLU).
        inputs: (S, n_0), one row per input; None for one input x with |x|^2 = ``input_norm2``.
        activation: "relu", "tanh", "erf" or an elementwise torch callable.
        draws: number of independent networks.
        seed: equal seeds give equal draws.
        input_norm2: |x|^2 > 0; the law of the kernel at one input depends on x only through it.
        device: "cpu" or a CUDA device; for ReLU networks at one input always the CPU.

    Returns:
        Theta: (draws,) without ``inputs`` and with one output; otherwise (draws, S C, S C), where
        row s C + k is output k at input s.

    Raises:
        ConfigError: an argument is out of range, or a number overflows float64.

    Examples:
        >>> import finitewidth as fw
        >>> theta = fw.draw_ntk(fw.constant_width(20, 100, sigma_w2=2.0), draws=1000)
        >>> theta.shape
        (1000,)
    """
    init = described(init, activation)
    if inputs is None and init.outputs == 1:
        if activation == "relu":
            from finitewidth.kernels.ntk_init.scalar_chain import sample_scalar_chain

            return sample_scalar_chain(init, draws, seed, input_norm2=input_norm2).theta
        from finitewidth.kernels.ntk_init.samplers import sample_vectors

        return sample_vectors(
            init, draws, seed, activation=activation, input_norm2=input_norm2, device=device
        ).theta
    from finitewidth.kernels.ntk_init.samplers import sample_kernels

    if inputs is None:
        inputs = np.zeros((1, init.widths[0]))
        inputs[0, 0] = np.sqrt(input_norm2)
    return sample_kernels(init, inputs, draws, seed, activation=activation, device=device).theta


def dispersion(
    theta: "Array | Initialisation",
    *,
    activation: ActivationLike = "relu",
    draws: int = 2000,
    estimator: Estimator = "naive",
    seed: int = 0,
    resamples: int = 1000,
) -> Dispersion:
    """Return r = E[Theta^2] / E[Theta]^2, of a network at initialisation or of given draws.

    r of a ReLU network is exact. Otherwise it is estimated from draws, with a 95 % interval that
    allows for rare draws which a sample may lack. If these dominate the second moment, as in deep
    networks with L / M above about 1/2, the result is a lower bound, and says how many draws would
    do. Measured coverage: docs/theory.md, section 6.

    Args:
        theta: draws of the kernel, (draws,), at least 3; a common factor cancels. Or a network from
            `network` or `constant_width`, or a list of its widths, see `draw_ntk`: then r is that
            of one output at one input, exact for ReLU, else estimated from draws.
        activation: of a network.
        draws: number of networks to draw where there is no closed form.
        estimator: "naive", "leave_one_out" (prefactor 1/N), "printed_leave_one_out" or
            "bias_corrected".
        seed: of the draws and of the bootstrap.
        resamples: number of bootstrap samples, >= 2.

    Returns:
        ``value``, ``standard_error``, the 95 % interval from ``low`` to ``high``, and ``draws``, 0
        if the value is exact. Printed, it is one line.

    Raises:
        ConfigError: there are too few draws, an argument is out of range, or a number is not
            finite.

    Examples:
        >>> import finitewidth as fw
        >>> round(fw.dispersion([100] * 20 + [1]).value, 3)
        1.578
        >>> theta = fw.draw_ntk([100] * 20 + [1], draws=20_000)
        >>> estimate = fw.dispersion(theta)
        >>> estimate.low < 1.578 < estimate.high
        True
        >>> print(fw.dispersion(fw.draw_ntk([20] * 20 + [1], draws=100)))  # exactly 16.2
        at least 2.08: 100 draws are too few, about 700 would do
    """
    is_widths = isinstance(theta, list | tuple) and all(isinstance(n, int) for n in theta)
    if is_widths or callable(theta) or isinstance(theta, Initialisation):
        init = replace(described(theta, activation), outputs=1)
        if activation == "relu":
            return exactly(ntk_moments(init).dispersion)
        theta = draw_ntk(init, activation=activation, draws=draws, seed=seed)
    return estimated(theta, estimator=estimator, seed=seed, resamples=resamples)


def ntk_moments(init: Initialisation | Sequence[int], *, input_norm2: float = 1.0) -> LogMoments:
    """Return exact moments of Theta(x, x) of a ReLU network.

    Args:
        init: one output; or a list of widths, see `draw_ntk`.
        input_norm2: |x|^2 > 0.

    Returns:
        Logarithms of E[Theta] (``.mean``) and E[Theta^2] (``.second``), and their ratio
        ``.dispersion`` = E[Theta^2] / E[Theta]^2. They are exact at every width and depth
        (docs/theory.md, section 3).

    Raises:
        ConfigError: there are several outputs; their kernels have the law of one output.

    Examples:
        >>> import finitewidth as fw
        >>> round(fw.ntk_moments(fw.constant_width(20, 100, sigma_w2=2.0)).dispersion, 3)
        1.578
    """
    return log_moments(described(init), input_norm2=input_norm2)
