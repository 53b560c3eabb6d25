"""The tangent kernel of fully connected networks at initialisation: samplers, moments and limits.

The derivations are in docs/theory.md, sections 1 to 8. In the following, L is the depth, M the
width, S the number of inputs and C the number of outputs. This package imports none of its modules.

Modules that do not import torch:

* ``initialisation``: `Initialisation` and `constant_width`, the description of a network.
* ``scalar_chain``: `sample_scalar_chain` for ReLU and one input; cost O(L) per draw.
* ``depth_sweep``: `sample_depths`, the same for all depths and weight variances in one pass.
* ``pair_chain``: `sample_pairs` for ReLU and two inputs, all depths in one pass.
* ``moments``, ``moment_recursion``: `log_moments` and `log_kernel_moments`, exact moments without
  biases.
* ``limits``, ``printed_moments``, ``off_diagonal``: the theorems as printed and as corrected.
* ``infinite_width``, ``phases``: mean-field recursions, chi_1 and the borders between phases. For
  tanh and callables they import torch.
* ``estimators``: `dispersion` and `mean_ratio`, ratios with bootstrap errors.
* ``tail_errors``: standard errors of dispersions that hold up with heavy tails.

Modules that import torch:

* ``vector_sampler``: `sample_vectors` for any activation and one input; cost O(L M) per draw, CPU
  or CUDA.
* ``vector_sweep``: `sweep_vectors`, the same for all depths and weight variances in one pass.
* ``matrix_sampler``: `sample_kernels` for S inputs and C outputs; cost O(L M S^2) per draw, CPU or
  CUDA.
* ``given_network``: `tangent_kernel` of a given network, in closed form.
* ``brute_force``: `sample_by_brute_force`, which draws the weight matrices; the reference.

Samplers return `draws.NtkDraws`. Bad arguments raise a `finitewidth.common.errors.ConfigError`.
"""
