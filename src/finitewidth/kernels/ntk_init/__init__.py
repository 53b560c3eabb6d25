"""The tangent kernel of fully connected networks at initialisation: drawn exactly, or computed.

Derivations: docs/theory.md. Modules, none imported here (those on the first list do without torch):

* ``initialisation``: `Initialisation`, `constant_width`: the network, described
* ``scalar_chain``: `sample_scalar_chain`, `scalar_chain_blocks`: ReLU, one input, O(L)
* ``depth_sweep``: `sample_depths`: all depths and weight variances from one pass
* ``pair_chain``, ``pair_layers``: `sample_pairs`: ReLU, two inputs, all depths from one pass
* ``moments``, ``moment_recursion``: `log_moments`, `log_kernel_moments`: exact, without biases
* ``limits``, ``printed_moments``, ``off_diagonal``: the theorems as printed and corrected
* ``infinite_width``, ``phases``: mean field (tanh and callables import torch), chi_1, borders
* ``estimators``: `dispersion`, `mean_ratio`: ratios with bootstrap errors

* ``vector_sampler``: `sample_vectors`: any activation, one input, O(L M), CPU or CUDA
* ``vector_sweep``: `sweep_vectors`: the same at all depths and weight variances from one pass
* ``matrix_sampler``: `sample_kernels`: S inputs, C outputs, O(L M S^2), CPU or CUDA
* ``given_network``: `tangent_kernel`: of a given network, closed form and definition
* ``brute_force``: `sample_by_brute_force`: matrices drawn; the reference

Results are `draws.NtkDraws`; bad arguments are a `finitewidth.common.errors.ConfigError`.
"""
