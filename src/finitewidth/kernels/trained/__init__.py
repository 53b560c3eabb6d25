"""The neural tangent kernel of a given network, trained or not, at finite width.

Theta_ks(i, j) = <grad f_k(x_i), grad f_s(x_j)>, over the trainable parameters of a network with
outputs f_1 .. f_K. For a network in eval mode and images (N, ..):

    theta = traced_kernel(network, images)                         # (N, N), the sum over outputs
    parts = kernel_terms(network, images)                          # {"conv1": (N, N), ..}
    theta_h = traced_kernel(network, images, of=network.features)  # without the output layer
    eigen = largest_eigenvalue(network, images)                    # eigen.value, eigen.vector

For a stack of R fully connected networks in tensors, pass `FullyConnected(weights, biases, "tanh")`
and inputs (S, n0); the result is (R, S, S), and `without_output()` gives the features.

Modules: `fully_connected` and `dense` hold the closed form for dense networks and stacks of them.
For any other network `recording` runs it, `graph` and `operations` find the operations on weights
in the graph that autograd keeps, `units` says which are computed together, `contractions` and
`sweeps` compute them, and `check` compares them with autograd. `refusals` says for which networks
there is no kernel.

The functions compute the kernel exactly, up to rounding. They choose for each layer whether to form
the gradients or only products of activations and of signals, an idea of Novak, Sohl-Dickstein and
Schoenholz, "Fast Finite Width Neural Tangent Kernel" (ICML 2022).
"""

from finitewidth.kernels.trained.budget import DEFAULT_BUDGET
from finitewidth.kernels.trained.eigenvalue import Eigenpair
from finitewidth.kernels.trained.fully_connected import FullyConnected, as_fully_connected
from finitewidth.kernels.trained.interface import (
    Options,
    full_kernel,
    kernel_block,
    kernel_diagonal,
    kernel_terms,
    output_norms,
    traced_kernel,
)
from finitewidth.kernels.trained.largest import largest_eigenvalue
from finitewidth.kernels.trained.operator import TangentOperator, tangent_operator

__all__ = [
    "DEFAULT_BUDGET",
    "Eigenpair",
    "FullyConnected",
    "Options",
    "TangentOperator",
    "as_fully_connected",
    "full_kernel",
    "kernel_block",
    "kernel_diagonal",
    "kernel_terms",
    "largest_eigenvalue",
    "output_norms",
    "tangent_operator",
    "traced_kernel",
]
