"""Kernels of torch modules in the limit of infinite width, in closed form.

`wide_kernel` reads the operations of a module, and carries them out on covariances in place of
tensors. `reading` reads them, `layers` says what each does, `fields` holds the covariances and the
linear maps of them, `duals` the means of activations, and `law` the variances of the weights.
"""

from finitewidth.kernels.wide.kernel import wide_kernel

__all__ = ["wide_kernel"]
