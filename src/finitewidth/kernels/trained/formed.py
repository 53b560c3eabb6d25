"""The largest eigenvalue of a kernel that is so small that forming it costs less than products.

An eigenvalue takes about 20 products with the kernel, and each of them a backward and a tangent
pass of all inputs. The full kernel takes a backward pass for each output, and the products of all
pairs of gradients, which are few if there are few rows.
"""

import scipy.linalg
import torch
from torch import Tensor
from torch.linalg import vector_norm

from finitewidth.common.shapes import Float
from finitewidth.kernels.trained import outputs as returned
from finitewidth.kernels.trained import refusals
from finitewidth.kernels.trained.budget import BudgetError
from finitewidth.kernels.trained.eigenvalue import Eigenpair
from finitewidth.kernels.trained.recording import Request, gradients_on
from finitewidth.kernels.trained.sweeps import module_terms

SWEEPS = 40  # backward and tangent passes of 20 products
ROWS = 512  # measured on dense, convolutional and attention networks: above, products cost no more


def is_small(inputs: int, outputs: int) -> bool:
    """Tell whether forming the full kernel of N inputs and K outputs costs less than products."""
    return outputs <= SWEEPS and inputs * outputs <= ROWS


def small_kernel(request: Request) -> tuple[Float[Tensor, "NK NK"], Float[Tensor, "N K"]] | None:
    """Return the full kernel (N K, N K) and an empty tensor (N, K) of the type of the outputs.

    The rows are in the order of the flattened outputs (N, K). None where products with the kernel
    cost less, or where it does not fit into the budget.

    Raises:
        ConfigError: the kernel would be wrong.
    """
    N = len(request.x)
    if not is_small(N, 1):
        return None
    refusals.check_modules(request.network)
    with gradients_on(), refusals.unchanged_buffers(request.network):
        name = "network" if request.of is request.network else "of"
        outputs = returned.outputs_of(request.outputs, name, request.padded()[:2])
    two_axes = isinstance(outputs, Tensor) and outputs.dim() == 2 and outputs.is_floating_point()
    if not two_axes:
        return None  # the check of the outputs refuses it
    K = outputs.shape[1]
    if not is_small(N, K):
        return None
    try:
        kernel = module_terms(request, "full")[""]
    except BudgetError:
        return None
    return kernel.permute(1, 0, 3, 2).reshape(N * K, N * K), outputs.new_empty(N, K)


def largest_of(kernel: Float[Tensor, "D D"], start: Float[Tensor, "1 D"]) -> Eigenpair:
    """Return the largest eigenpair of a kernel (D, D), in the type of ``start``, (1, D).

    The sign of the vector is that of its product with ``start``.
    """
    last = len(kernel) - 1
    symmetric = ((kernel + kernel.mT) / 2).cpu().numpy()
    values, vectors = scipy.linalg.eigh(symmetric, subset_by_index=[last, last])
    value = torch.from_numpy(values).to(kernel)[0]
    vector = torch.from_numpy(vectors).to(kernel)[:, 0]
    opposite = start[0].to(vector) @ vector < 0
    sign = torch.where(opposite, -1.0, 1.0)
    error = vector_norm(kernel @ vector - value * vector)
    residual = error / value if value > 0 else error
    return Eigenpair(
        value=value[None].to(start),
        vector=sign.to(start) * vector[None].to(start),
        residual=residual[None].to(start),
        products=0,
    )
