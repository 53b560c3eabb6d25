"""Kernels of torch modules in the limit of infinite width, in closed form.

`wide_kernel` reads the operations of a module, and carries them out on covariances in place of
tensors. `arguments` takes the inputs, `reading` goes through the operations, and `weighted`,
`embeddings`, `layers`, `shapes`, `calculated` and `composed` say what each does. `fields` holds the
laws of tensors, `positions` the linear maps of covariances, `duals` and `hermite` the means of the
`activations`, and `law` the variances of the weights. `evaluation` computes the kernel.
"""

from finitewidth.kernels.wide.kernel import wide_kernel

__all__ = ["wide_kernel"]
