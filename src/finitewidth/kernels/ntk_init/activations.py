"""Activation functions, their derivatives, and means of their products over Gaussian variables."""

from collections.abc import Callable
from dataclasses import dataclass
from math import pi
from typing import TYPE_CHECKING

import numpy as np

from finitewidth.common.shapes import Float
from finitewidth.kernels.ntk_init.initialisation import refuse

if TYPE_CHECKING:  # closed forms do not need torch, whose import takes longer than most of them
    import torch

TensorMap = Callable[["torch.Tensor"], "torch.Tensor"]
REACH = 9.0  # range of integration in standard deviations; the mass outside is 1e-18
WIDEST = 0.1  # largest integration step
NARROWEST = 0.01  # smallest integration step


@dataclass(frozen=True)
class Activation:
    """An elementwise activation phi and its derivative, both functions of a float64 tensor.

    Attributes:
        name: "relu", "erf" or "tanh" for the built-in activations. Closed forms are selected by it.
        value: phi(h).
        slope: phi'(h).
        slope_of_value: phi'(h) as a function of phi(h), which takes half the time; None if there is
            no such function.
    """

    name: str
    value: TensorMap
    slope: TensorMap
    slope_of_value: TensorMap | None = None


def _tanh(h: "torch.Tensor") -> "torch.Tensor":
    if h.device.type != "cpu" or h.requires_grad:
        return h.tanh()
    import torch

    return torch.from_numpy(np.tanh(h.numpy()))  # five times as fast as torch, equally accurate


def _tanh_slope(h: "torch.Tensor") -> "torch.Tensor":
    t = _tanh(h)
    return t.mul_(t).neg_().add_(1)


ActivationLike = str | Activation | TensorMap
RELU = Activation("relu", lambda h: h.relu(), lambda h: (h > 0).to(h.dtype))
ERF = Activation("erf", lambda h: h.erf(), lambda h: h.square().neg_().exp_().mul_(2 / pi**0.5))
TANH = Activation("tanh", _tanh, _tanh_slope, lambda x: x.new_ones(()).addcmul(x, x, value=-1))
NAMED = {activation.name: activation for activation in (RELU, ERF, TANH)}


def activation_of(activation: ActivationLike) -> Activation:
    """Return an activation from its name or from a torch callable that acts elementwise.

    The derivative of a callable is computed by autograd.

    Raises:
        ConfigError: the name is unknown, or the argument is not callable.
    """
    if isinstance(activation, Activation):
        return activation
    if isinstance(activation, str) and activation in NAMED:
        return NAMED[activation]
    if isinstance(activation, str) or not callable(activation):
        allowed = f"one of {', '.join(NAMED)} or an elementwise callable"
        raise refuse("activation", activation, allowed)
    name = getattr(activation, "__name__", "callable")

    def slope(h: "torch.Tensor") -> "torch.Tensor":
        import torch

        with torch.enable_grad():
            leaf = h.detach().requires_grad_(True)
            (gradient,) = torch.autograd.grad(activation(leaf).sum(), leaf)
        return gradient

    return Activation(f"{name} (callable)", activation, slope)


def mean_products(
    activation: Activation, q: Float[np.ndarray, "S S"]
) -> tuple[Float[np.ndarray, "S S"], Float[np.ndarray, "S S"]]:
    """Return E phi(u_s) phi(u_r) and E phi'(u_s) phi'(u_r) for u ~ N(0, q), q and both (S, S)."""
    variances = np.diagonal(q)
    if activation.name == "relu":
        deviations = np.sqrt(variances)
        scale = np.outer(deviations, deviations)
        np.fill_diagonal(scale, variances)  # so that c is exactly 1 on the diagonal
        return relu_means(q, scale)
    if activation.name == "erf":  # ``trust`` E.2, with variances instead of standard deviations
        scale = np.outer(1 + 2 * variances, 1 + 2 * variances)
        products = 2 / np.pi * np.arcsin(2 * q / np.sqrt(scale))
        return products, 4 / np.pi / np.sqrt(scale - 4 * q * q)
    return _quadrature(activation, q)


def relu_means(
    q: Float[np.ndarray, "*shape"], deviations: Float[np.ndarray, "*shape"]
) -> tuple[Float[np.ndarray, "*shape"], Float[np.ndarray, "*shape"]]:
    """Return E relu(u) relu(v) and E relu'(u) relu'(v) for centred Gaussian u and v.

    They are the arc-cosine kernels of orders 1 and 0 (``trust`` E.1, with a^2 instead of a), for
    covariances q and products of standard deviations, > 0, of the same shape.
    """
    c = np.clip(q / deviations, -1.0, 1.0)
    angle = np.pi / 2 + np.arcsin(c)
    products = deviations / (2 * np.pi) * (np.sqrt(1 - c * c) + c * angle)
    return products, angle / (2 * np.pi)


def nodes(q: float) -> tuple[Float[np.ndarray, "nodes"], Float[np.ndarray, "nodes"]]:
    """Return nodes and weights of the trapezoidal rule for means of functions of sqrt(q) z.

    z is standard normal. The error of the rule is of order exp(-2 pi d / h), where h is the step
    and d the distance to the nearest pole. For tanh, d = pi / (2 sqrt q), and h is chosen so that
    the error is e^-36.
    """
    step = float(np.clip(0.27 / np.sqrt(max(q, 1e-12)), NARROWEST, WIDEST))
    z = np.arange(-REACH, REACH + step / 2, step)
    weights = np.exp(-z * z / 2)
    return z, weights / weights.sum()


def _on(function: TensorMap, values: Float[np.ndarray, "*shape"]) -> Float[np.ndarray, "*shape"]:
    """Apply a function of tensors to an array."""
    import torch

    return function(torch.from_numpy(np.ascontiguousarray(values))).numpy()


def mean_squares(activation: Activation, q: float) -> tuple[float, float]:
    """Return E phi(u)^2 and E phi'(u)^2 for u ~ N(0, q), q >= 0."""
    if activation.name in ("relu", "erf"):
        if q == 0:
            return 0.0, 0.5 if activation.name == "relu" else 4 / np.pi
        products, slopes = mean_products(activation, np.array([[float(q)]]))
        return float(products[0, 0]), float(slopes[0, 0])
    z, weights = nodes(q)
    u = np.sqrt(q) * z
    value = _on(activation.value, u)
    slope = _on(activation.slope, u)
    return float(weights @ (value * value)), float(weights @ (slope * slope))


def _quadrature(
    activation: Activation, q: Float[np.ndarray, "S S"]
) -> tuple[Float[np.ndarray, "S S"], Float[np.ndarray, "S S"]]:
    """Compute `mean_products` by the trapezoidal rule, in two dimensions for different inputs."""
    products = np.empty_like(q)
    slopes = np.empty_like(q)
    z, weights = nodes(float(np.diagonal(q).max()))
    deviations = np.sqrt(np.diagonal(q))
    for s in range(len(q)):
        u = deviations[s] * z
        value = weights * _on(activation.value, u)  # (nodes,)
        slope = weights * _on(activation.slope, u)
        for r in range(s, len(q)):
            c = float(np.clip(q[s, r] / (deviations[s] * deviations[r]), -1.0, 1.0))
            if r == s or c == 1.0:
                v = deviations[r] * z
                products[s, r] = value @ _on(activation.value, v)
                slopes[s, r] = slope @ _on(activation.slope, v)
            else:
                # v given u has the mean c u and independent noise, (nodes of u, nodes of the noise)
                v = deviations[r] * (c * z[:, None] + np.sqrt(1 - c * c) * z)
                products[s, r] = value @ _on(activation.value, v) @ weights
                slopes[s, r] = slope @ _on(activation.slope, v) @ weights
            products[r, s] = products[s, r]
            slopes[r, s] = slopes[s, r]
    return products, slopes
