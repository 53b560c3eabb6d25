"""Neural paths by their definition: a list of every path of a small network without biases.

Source: Lakshminarayanan and Singh 2020, "Neural Path Features and Neural Path Kernel", section 2.
Inputs are (S, n0) or (R, S, n0), gates one tensor (..., S, width) per hidden layer, and weights L
tensors (..., fan_in, fan_out).
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from finitewidth.common.shapes import Float, Int, Num, Shaped


def enumerate_paths(sizes: Sequence[int], output: int = 0) -> Int[Tensor, "P layers"]:
    """List all paths to one output unit in lexicographic order.

    ``sizes`` are the units per layer, (n0, w_1, .., w_{L-1}, n_out). The result is (P, L+1)
    integers: the unit of layer l that path p passes through, I_l(p) in NPF section 2.1.
    """
    units = [torch.arange(size) for size in sizes[:-1]]
    units.append(torch.tensor([output]))
    grids = torch.meshgrid(*units, indexing="ij")  # one of all layers' sizes for each layer
    return torch.stack([grid.flatten() for grid in grids], dim=-1)


def path_activity(
    gates: Sequence[Shaped[Tensor, "... S _"]], paths: Int[Tensor, "P layers"]
) -> Float[Tensor, "... S P"]:
    """Compute the activity A(x, p), the product of the gates along path p (NPF Definition 2.1 i).

    It is (..., S, P) in float64; 0 or 1 for hard gates.
    """
    activity = torch.ones(())
    for layer, gate in enumerate(gates, start=1):
        activity = activity * gate.double()[..., paths[:, layer]]
    return activity


def path_features(
    x: Num[Tensor, "... S n0"],
    gates: Sequence[Shaped[Tensor, "... S _"]],
    paths: Int[Tensor, "P layers"],
) -> Float[Tensor, "... S P"]:
    """Compute the neural path features phi (NPF Definition 2.1 ii), (..., S, P) in float64.

    The feature of a path is the input at its start times its activity. This is the transpose of the
    paper's matrix Phi.
    """
    return x.double()[..., paths[:, 0]] * path_activity(gates, paths)


def path_values(
    weights: Sequence[Float[Tensor, "... _ _"]], paths: Int[Tensor, "P layers"]
) -> Float[Tensor, "... P"]:
    """Compute the neural path values v, (..., P), the product of the weights along each path.

    Source: NPF Definition 2.1 iii. The result is differentiable by the weights.
    """
    values = torch.ones(())
    for layer, weight in enumerate(weights):
        values = values * weight[..., paths[:, layer], paths[:, layer + 1]]
    return values


def path_output(
    x: Num[Tensor, "... S n0"],
    weights: Sequence[Float[Tensor, "... _ _"]],
    gates: Sequence[Shaped[Tensor, "... S _"]],
    output: int = 0,
) -> Float[Tensor, "... S"]:
    """Compute one output unit as <phi, v>, the sum over its paths, (..., S) in float64.

    Source: NPF equation 1 and Proposition 2.1.
    """
    sizes = [weight.shape[-2] for weight in weights]
    sizes.append(weights[-1].shape[-1])
    paths = enumerate_paths(sizes, output)
    values = path_values([weight.double() for weight in weights], paths)  # (..., P)
    features = path_features(x, gates, paths)  # (..., S, P)
    return (features @ values[..., None])[..., 0]
