"""Change of the kernel in one step of gradient descent (``beyond`` Theorem 4.1)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from finitewidth.common.provenance import seed_for
from finitewidth.kernels.ntk_init.brute_force import drawn_network
from finitewidth.kernels.ntk_init.given_network import network_output, tangent_kernel
from finitewidth.kernels.ntk_init.initialisation import Initialisation
from finitewidth.kernels.ntk_init.limits import relu_phase
from finitewidth.kernels.ntk_init.moments import log_moments
from finitewidth.kernels.ntk_init.normals import Normals
from finitewidth.papers.beyond.experiments.grids import network

PIECE = 25  # networks per batch


def steps(settings: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Change of Theta(x, x) in one step on (x, y), with |x| = 1, y = 1 and loss (f - y)^2 / 2.

    All weights of the ReLU networks are drawn. The ratio of depth to width is constant, as in the
    limit of the theorem.

    Args:
        settings: ``draws``, ``depths``, ``ratio`` of depth to width, ``sigma_w2``, ``rate``.

    Returns:
        Rows sigma_w2, phase, depth, width, change, value (mean |change| divided by the exact mean
        of Theta), error, draws. The changes are those of `kernel_changes` at step size ``rate``.
    """
    rows = []
    for variance in settings["sigma_w2"]:
        for depth in settings["depths"]:
            width = max(1, round(depth / settings["ratio"]))
            init = network(depth, width, 1.0, variance)
            found = kernel_changes(init, settings["rate"], settings["draws"])
            mean = float(np.exp(log_moments(init).mean))
            for name, changes in found.items():
                sample = np.abs(changes) / mean
                rows.append({
                    "sigma_w2": variance, "phase": relu_phase(variance), "depth": depth,
                    "width": width, "change": name, "value": float(sample.mean()),
                    "error": float(sample.std(ddof=1) / len(sample) ** 0.5), "draws": len(sample),
                })  # fmt: skip
    return rows


def kernel_changes(init: Initialisation, rate: float, draws: int) -> dict[str, np.ndarray]:
    """Theta(x, x) after a step of size ``rate`` minus its value before the step.

    Args:
        init: the networks, of which all weights are drawn.
        rate: step size.
        draws: number of networks.

    Returns:
        (draws,) each: ``step``; ``step_of_weights``, where the biases stay 0; ``derivative``, the
        change to first order in the step size, in which gates do not change. The proof of the
        theorem computes the last one.
    """
    seed = seed_for("beyond/gradient_steps", repr(init.sigma_w2), *init.widths)
    x = torch.zeros(1, init.widths[0], dtype=torch.float64)
    x[0, 0] = 1.0
    found: dict[str, list[np.ndarray]] = {}
    for block in range(-(-draws // PIECE)):
        normals = Normals(seed, range(block, block + 1), PIECE, torch.device("cpu"))
        weights, biases = drawn_network(init, normals)
        parameters = [p.requires_grad_() for p in (*weights, *biases)]
        for name, change in _changes(parameters, x, rate).items():
            found.setdefault(name, []).append(change.detach().numpy())
    return {name: np.concatenate(parts)[:draws] for name, parts in found.items()}


def _changes(
    parameters: list[torch.Tensor], x: torch.Tensor, rate: float
) -> dict[str, torch.Tensor]:
    kernel = _kernel(parameters, x)
    slopes = torch.autograd.grad(kernel.sum(), parameters, materialize_grads=True)
    steps = [rate * downhill for downhill in _descent(parameters, x)]
    along = [(g * d).flatten(1).sum(dim=1) for g, d in zip(slopes, steps, strict=True)]
    with torch.no_grad():
        moved = [p + step for p, step in zip(parameters, steps, strict=True)]
        of_weights = _halves(moved)[0] + _halves(parameters)[1]
        return {
            "step": _kernel(moved, x) - kernel,
            "step_of_weights": _kernel(of_weights, x) - kernel,
            "derivative": torch.stack(along).sum(dim=0),
        }


def _halves(parameters: list[torch.Tensor]) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """Return the weights and the biases."""
    depth = len(parameters) // 2
    return parameters[:depth], parameters[depth:]


def _kernel(parameters: list[torch.Tensor], x: torch.Tensor) -> torch.Tensor:
    of_weights, of_biases, _ = tangent_kernel(*_halves(parameters), x, activation="relu")
    return (of_weights + of_biases)[:, 0, 0]


def _descent(parameters: list[torch.Tensor], x: torch.Tensor) -> list[torch.Tensor]:
    """Return minus the gradient of (f - 1)^2 / 2."""
    output = network_output(*_halves(parameters), x, torch.relu)
    return [-g for g in torch.autograd.grad(((output - 1) ** 2).sum() / 2, parameters)]
