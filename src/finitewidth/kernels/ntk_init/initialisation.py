"""Description of the law of a random fully connected network, and checks of arguments."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

import numpy as np

from finitewidth.common.errors import ConfigError

PARAMETRISATIONS = ("standard", "ntk")


def refuse(name: str, value: Any, allowed: str, remedy: str = "") -> ConfigError:
    """Return the error for a bad argument: what it must be, and a remedy if it is not obvious."""
    message = f"{name} = {value!r}: must be {allowed}"
    if remedy:
        message += f"; {remedy}"
    return ConfigError(message)


def checked_count(name: str, value: Any, least: int = 1) -> int:
    """Return a value as an integer; refuse other ones, and those below ``least``."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise refuse(name, value, f"an integer of at least {least}")
    return int(value)


def checked_number(name: str, value: Any, *, above: float | None = None) -> float:
    """Return a value as a float; refuse what is not finite, negative, or not above ``above``."""
    allowed = "a finite number of at least 0" if above is None else f"a finite number above {above}"
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise refuse(name, value, allowed)
    if value < 0 or (above is not None and value <= above):
        raise refuse(name, value, allowed)
    return float(value)


def checked_choice(name: str, value: Any, choices: Sequence[str]) -> str:
    """Return a value that is one of ``choices``; refuse others."""
    if value not in choices:
        raise refuse(name, value, f"one of {', '.join(choices)}")
    return value


@dataclass(frozen=True, kw_only=True)
class Initialisation:
    """The law of a fully connected network at initialisation (``beyond``, equations 3 and 6).

    h^l = W^l x^(l-1) + b^l for l = 1..L, x^l = phi(h^l) for l < L and f = h^L, with independent
    W^l_ij ~ N(0, sigma_w2 / n_(l-1)) and b^l_i ~ N(0, sigma_b2).

    Attributes:
        widths: (n_0, ..., n_(L-1)), the input dimension and the L - 1 hidden widths, each >= 1.
        sigma_w2: variance of a weight times its fan-in, > 0.
        sigma_b2: variance of a bias, >= 0. Biases are parameters also if it is 0.
        outputs: output dimension n_L >= 1.
        parametrisation: "standard" if W and b are the parameters. With "ntk" the parameters w and
            b' are standard normal, W = sqrt(sigma_w2 / n) w and b = sigma_b b'. The law of the
            network is the same, the gradients differ.

    Raises:
        ConfigError: a value is out of range.

    Examples:
        >>> import finitewidth as fw
        >>> net = fw.Initialisation(widths=(784, 500, 500), sigma_w2=2.0, outputs=10)
        >>> net.depth, net.layer_widths
        (3, (784, 500, 500, 10))
    """

    widths: tuple[int, ...]
    sigma_w2: float
    sigma_b2: float = 0.0
    outputs: int = 1
    parametrisation: str = "standard"

    def __post_init__(self) -> None:
        if isinstance(self.widths, str) or not isinstance(self.widths, Sequence | np.ndarray):
            raise refuse("widths", self.widths, "a sequence (n_0, n_1, ..., n_(L-1))")
        if len(self.widths) == 0:
            raise refuse("widths", self.widths, "at least (n_0,)", "depth is the number of widths")
        widths = tuple(checked_count(f"widths[{i}]", n) for i, n in enumerate(self.widths))
        object.__setattr__(self, "widths", widths)
        object.__setattr__(self, "sigma_w2", checked_number("sigma_w2", self.sigma_w2, above=0))
        object.__setattr__(self, "sigma_b2", checked_number("sigma_b2", self.sigma_b2))
        object.__setattr__(self, "outputs", checked_count("outputs", self.outputs))
        checked_choice("parametrisation", self.parametrisation, PARAMETRISATIONS)

    @property
    def depth(self) -> int:
        """L, the number of weight layers, the output layer included."""
        return len(self.widths)

    @property
    def layer_widths(self) -> tuple[int, ...]:
        """(n_0, ..., n_L), that is, ``widths`` followed by the output dimension."""
        return (*self.widths, self.outputs)

    @property
    def weight_gains(self) -> np.ndarray:
        """Factors of the weights' part of each layer, (L,): 1, or sigma_w2 / n_(l-1) for "ntk"."""
        if self.parametrisation == "standard":
            return np.ones(self.depth)
        return self.sigma_w2 / np.asarray(self.widths, dtype=float)

    @property
    def bias_gain(self) -> float:
        """Factor of the biases' part of each layer: 1, or sigma_b2 for "ntk"."""
        return 1.0 if self.parametrisation == "standard" else self.sigma_b2

    def cut(self, depth: int) -> "Initialisation":
        """Return the network of ``depth`` layers that has the first ``depth`` - 1 hidden layers."""
        return replace(self, widths=self.widths[:depth])


def constant_width(
    depth: int, width: int, *, sigma_w2: float, input_width: int | None = None, **others: Any
) -> Initialisation:
    """Return a network whose hidden layers have the same width.

    Args:
        depth: number of weight layers L.
        width: width M of the hidden layers.
        sigma_w2: variance of a weight times its fan-in.
        input_width: n_0 = alpha_0 M; None for ``width``.
        others: further attributes of `Initialisation`.

    Raises:
        ConfigError: a value is out of range.

    Examples:
        >>> import finitewidth as fw
        >>> fw.constant_width(3, 100, sigma_w2=2.0, input_width=784).layer_widths
        (784, 100, 100, 1)
    """
    depth = checked_count("depth", depth)
    width = checked_count("width", width)
    first = width if input_width is None else checked_count("input_width", input_width)
    hidden = (width,) * (depth - 1)
    return Initialisation(widths=(first, *hidden), sigma_w2=sigma_w2, **others)


def checked_inputs(inputs: Any, input_width: int) -> np.ndarray:
    """Return inputs as a float64 array (S, n_0); refuse norms that are zero or not finite."""
    array = np.asarray(inputs, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] != input_width or not len(array):
        allowed = f"of shape (S, {input_width}), S >= 1"
        remedy = "there is one row per input, and the number of columns is widths[0]"
        raise refuse("inputs", f"an array of shape {array.shape}", allowed, remedy)
    if not np.isfinite(array).all():
        raise refuse("inputs", "an array with nan or inf", "finite")
    norms = np.linalg.norm(array, axis=1)
    if (norms == 0).any():
        name = f"inputs[{int(np.argmin(norms))}]"
        remedy = "remove it; without biases all its pre-activations in the first layer are 0"
        raise refuse(name, "a vector of norm 0", "of positive norm", remedy)
    return array
