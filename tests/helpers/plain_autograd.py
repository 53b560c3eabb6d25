"""Networks in plain torch, their kernels by autograd, and limits by numerical integration.

The code under test is not used here, apart from the descriptions of the networks.
"""

import itertools
from dataclasses import dataclass

import numpy as np
import torch
from scipy.integrate import quad
from torch.func import jacrev

CHUNK_BYTES = 1 << 26


@dataclass(frozen=True)
class Kernels:
    """Tangent kernels of independent networks.

    Attributes:
        theta_w: part of the weights, (draws, S C, S C).
        theta_b: part of the biases, (draws, S C, S C).
        output: f, (draws, S, C).
    """

    theta_w: np.ndarray
    theta_b: np.ndarray
    output: np.ndarray

    @property
    def theta(self):
        return self.theta_w + self.theta_b


def drawn_kernels(init, phi, inputs, draws, rng):
    """Draw networks in full and compute their kernels from gradients by autograd.

    Args:
        init: `Initialisation`, the law of the network.
        phi: torch function.
        inputs: (S, n_0).
        draws: number of networks.
        rng: source of random numbers.
    """
    sizes = list(itertools.pairwise(init.layer_widths))
    per_draw = 8 * len(inputs) * init.outputs * sum((a + 1) * b for a, b in sizes)
    chunk = max(1, CHUNK_BYTES // per_draw)
    parts = []
    for first in range(0, draws, chunk):
        count = min(chunk, draws - first)
        parts.append(_chunk(init, sizes, phi, torch.from_numpy(inputs), count, rng))
    theta_w, theta_b, output = zip(*parts, strict=True)
    return Kernels(np.concatenate(theta_w), np.concatenate(theta_b), np.concatenate(output))


def _chunk(init, sizes, phi, x, count, rng):
    """Return the parts of the kernels by weights and biases, and the outputs, of some networks."""
    weights = []
    biases = []
    z = x.expand(count, -1, -1)  # (count, S, n_0)
    for layer, (fan_in, width) in enumerate(sizes, start=1):
        weight = torch.from_numpy(rng.standard_normal((count, width, fan_in)))
        bias = torch.from_numpy(rng.standard_normal((count, width, 1)))
        weight_scale = (init.sigma_w2 / fan_in) ** 0.5
        bias_scale = init.sigma_b2**0.5
        if init.parametrisation == "standard":
            weight = weight_scale * weight
            bias = bias_scale * bias
            weight_scale = bias_scale = 1.0
        weights.append(weight.requires_grad_())
        biases.append(bias.requires_grad_())
        h = z @ (weight_scale * weight).mT + bias_scale * bias.mT  # (count, S, width)
        z = h if layer == len(sizes) else phi(h)
    grams = _grams(z, weights + biases)
    theta_w = sum(grams[: len(weights)])
    theta_b = sum(grams[len(weights) :])
    return theta_w.numpy(), theta_b.numpy(), z.detach().numpy()


def _grams(outputs, parameters):
    """Return the Gram matrices of the gradients of outputs (count, ...), one for each parameter."""
    rows = [[] for _ in parameters]
    # a network's output depends on its own parameters only, so one sum gives all gradients
    for column in outputs.flatten(1).unbind(1):
        gradients = torch.autograd.grad(column.sum(), parameters, retain_graph=True)
        for row, gradient in zip(rows, gradients, strict=True):
            row.append(gradient.flatten(1))
    grams = []
    for row in rows:
        jacobian = torch.stack(row, dim=1)  # (count, outputs, size)
        grams.append(jacobian @ jacobian.mT)
    return grams


def gram_of_jacobian(function, parameters):
    """Return the Gram matrices of d function / d parameter, one (outputs, outputs) per parameter.

    Args:
        function: function of a list of tensors that returns a vector.
        parameters: the list.
    """
    jacobians = jacrev(function)(list(parameters))
    return [jacobian.flatten(1) @ jacobian.flatten(1).T for jacobian in jacobians]


def perceptron(weights, biases, x, unit):
    """Return outputs (S, C) of a network with weights (fan_in, fan_out) and a hidden ``unit``.

    ``unit`` is a function of the layer, counted from 0, and of its pre-activations (S, width).
    """
    z = x
    for layer, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
        h = z @ weight + bias
        z = h if layer == len(weights) - 1 else unit(layer, h)
    return z


def image_kernels(architecture, law, x, draws, rng):
    """Draw convolutional ReLU networks with one output; return their kernels, (draws, S, S).

    Args:
        architecture: `Architecture` with padding "same" and stride 1.
        law: sigma_w2, sigma_b2 and parametrisation. Without biases there are no bias parameters.
        x: images (S, C, H, W).
        draws: number of networks.
        rng: source of random numbers.
    """
    widths = [9 * x.shape[1], *(9 * width for width in architecture.channels)]
    chunk = max(1, CHUNK_BYTES // (16 * len(x) * widths[-1] ** 2))
    parts = []
    for first in range(0, draws, chunk):
        count = min(chunk, draws - first)
        parts.append(_image_chunk(architecture, law, x, count, rng))
    return np.concatenate(parts)


def _image_chunk(architecture, law, x, count, rng):
    parameters = []

    def drawn(width, fan_in, variance):
        numbers = torch.from_numpy(rng.standard_normal((count, width, fan_in)))
        scale = variance**0.5
        if law["parametrisation"] == "standard":
            numbers = scale * numbers
            scale = 1.0
        parameters.append(numbers.requires_grad_())
        return scale * parameters[-1][:, None]

    def affine(z, width):
        """Apply a random layer to z, (count, S, fan_in, positions)."""
        fan_in = z.shape[2]
        weight = drawn(width, fan_in, law["sigma_w2"] / fan_in)
        return weight @ z + drawn(width, 1, law["sigma_b2"])

    z = x.expand(count, *x.shape)
    for channels in architecture.channels:
        patches = torch.nn.functional.unfold(z.flatten(0, 1), 3, padding=1)
        z = torch.relu(affine(patches.unflatten(0, (count, len(x))), channels))
        z = z.unflatten(3, x.shape[2:])
    pooled = architecture.global_average_pooling
    z = z.mean((3, 4))[..., None] if pooled else z.flatten(2)[..., None]
    for units in architecture.dense:
        z = torch.relu(affine(z, units))
    output = affine(z, 1)[:, :, 0, 0]
    trained = parameters if law["sigma_b2"] > 0 else parameters[::2]
    return sum(_grams(output, trained)).numpy()


def limit_kernels(init, gram, phi, smooth):
    """Return the covariance of the outputs and the tangent kernel of a wide network, (S, S) each.

    The recursion goes from the input to the output, Theta^l = own part + sigma_w2 E[phi' phi'] *
    Theta^(l-1).

    Args:
        init: `Initialisation`. Its widths weight the layers in the standard parametrisation.
        gram: <x_s, x_r> / n_0.
        phi: torch function.
        smooth: True to integrate an analytic function; False for ReLU, over the angle.
    """
    unit = np.asarray(gram, dtype=float)
    theta = 0.0
    for layer, width in enumerate(init.widths, start=1):
        q = init.sigma_w2 * unit + init.sigma_b2
        own_part = width * unit + 1 if init.parametrisation == "standard" else q
        theta = theta + own_part
        if layer < init.depth:
            unit, slopes = _pair_means(q, phi, smooth)
            theta = init.sigma_w2 * slopes * theta
    return q, theta


def _pair_means(q, phi, smooth):
    """Return E phi(u_s) phi(u_r) and E phi'(u_s) phi'(u_r) for u ~ N(0, q)."""
    found = np.empty((2, *q.shape))
    for s, r in itertools.product(range(len(q)), repeat=2):
        of_pair = _by_quadrature if smooth else _by_angle
        found[:, s, r] = of_pair(q[s, s], q[s, r], q[r, r], phi)
    return found


def _by_angle(q_s, q_sr, q_r, _):
    # u = R (sqrt(q_s) cos t, sqrt(q_r) cos(t - between)), with E R^2 = 2 and a uniform angle t
    scale = (q_s * q_r) ** 0.5
    between = 0.0 if q_s == q_sr == q_r else np.arccos(np.clip(q_sr / scale, -1, 1))
    integral, _ = quad(
        lambda t: np.cos(t) * np.cos(t - between), between - np.pi / 2, np.pi / 2, epsabs=1e-13
    )
    return scale * integral / np.pi, (np.pi - between) / (2 * np.pi)


def _by_quadrature(q_s, q_sr, q_r, phi):
    # the error of the trapezoidal rule is exp(-2 pi d / step) for a pole at the distance d
    nodes = np.arange(-8.7, 8.71, 0.06)
    masses = np.exp(-(nodes**2) / 2)
    masses /= masses.sum()
    rest = max(0.0, q_r - q_sr**2 / q_s) ** 0.5
    u_s = torch.from_numpy(q_s**0.5 * nodes[:, None] + 0 * nodes).requires_grad_()
    u_r = torch.from_numpy(q_sr / q_s**0.5 * nodes[:, None] + rest * nodes).requires_grad_()
    value_s = phi(u_s)
    value_r = phi(u_r)
    (slope_s,) = torch.autograd.grad(value_s.sum(), u_s)
    (slope_r,) = torch.autograd.grad(value_r.sum(), u_r)
    values = (value_s * value_r).detach().numpy()
    slopes = (slope_s * slope_r).detach().numpy()
    return masses @ values @ masses, masses @ slopes @ masses
