"""Kernels of described networks at initialisation: one function for all samplers."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from finitewidth.common.errors import ConfigError
from finitewidth.kernels.ntk_init.initialisation import Initialisation
from finitewidth.kernels.ntk_init.moments import LogMoments, log_moments


def network(
    widths: Sequence[int],
    *,
    sigma_w2: float,
    sigma_b2: float = 0.0,
    parametrisation: str = "standard",
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
        raise ConfigError(f"widths = {widths!r}: must have at least the input dimension and the "
                          "number of outputs, such as [784, 500, 10]")  # fmt: skip
    *below, outputs = widths
    return Initialisation(
        widths=tuple(below), sigma_w2=sigma_w2, sigma_b2=sigma_b2, outputs=outputs,
        parametrisation=parametrisation,
    )  # fmt: skip


def draw_ntk(
    init: Initialisation,
    inputs: Any = None,
    *,
    activation: "str | Callable" = "relu",
    draws: int = 1000,
    seed: int = 0,
    input_norm2: float = 1.0,
    device: str = "cpu",
) -> np.ndarray:
    """Draw the tangent kernel of random networks from its exact law.

    The fastest exact sampler is chosen. ReLU networks with one input and one output cost O(L) per
    draw, other activations O(L M), and S inputs O(L M S^2).

    Args:
        init: the law of the networks, from `network` or `constant_width`.
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
    if inputs is None and init.outputs == 1:
        return _at_one_input(init, activation, draws, seed, input_norm2, device)
    from finitewidth.kernels.ntk_init.matrix_sampler import sample_kernels

    if inputs is None:
        inputs = np.zeros((1, init.widths[0]))
        inputs[0, 0] = np.sqrt(input_norm2)
    return sample_kernels(init, inputs, draws, seed, activation=activation, device=device).theta


def _at_one_input(
    init: Initialisation, activation: Any, draws: int, seed: int, input_norm2: float, device: str
) -> np.ndarray:
    if activation == "relu":
        from finitewidth.kernels.ntk_init.scalar_chain import sample_scalar_chain

        return sample_scalar_chain(init, draws, seed, input_norm2=input_norm2).theta
    from finitewidth.kernels.ntk_init.vector_sampler import sample_vectors

    return sample_vectors(
        init, draws, seed, activation=activation, input_norm2=input_norm2, device=device
    ).theta


def ntk_moments(init: Initialisation, *, input_norm2: float = 1.0) -> LogMoments:
    """Return exact moments of Theta(x, x) of a ReLU network without random biases.

    Args:
        init: one output, ``sigma_b2`` = 0.
        input_norm2: |x|^2 > 0.

    Returns:
        Logarithms of E[Theta] (``.mean``) and E[Theta^2] (``.second``), and their ratio
        ``.dispersion`` = E[Theta^2] / E[Theta]^2. They are exact at every width and depth
        (docs/theory.md, section 3).

    Raises:
        ConfigError: there are random biases or several outputs; use `draw_ntk`.

    Examples:
        >>> import finitewidth as fw
        >>> round(fw.ntk_moments(fw.constant_width(20, 100, sigma_w2=2.0)).dispersion, 3)
        1.578
    """
    return log_moments(init, input_norm2=input_norm2)
