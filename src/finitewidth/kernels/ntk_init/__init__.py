"""The tangent kernel of fully connected networks at initialisation: samplers, moments and limits.

The derivations are in docs/theory.md, sections 1 to 8. In the following, L is the depth, M the
width, S the number of inputs and C the number of outputs. This package imports none of its modules.

Without torch, `initialisation` describes a network, `scalar_chain` (`sample_scalar_chain`, O(L) per
draw) samples ReLU networks at one input, `depth_sweep` (`sample_depths`) at all depths and weight
variances in one pass, `pair_chain` (`sample_pairs`) at two inputs. `moments` and `moment_recursion`
are exact moments without biases, and those as printed, `limits` and `off_diagonal` the theorems as
printed and as corrected, `infinite_width` and `phases` mean-field recursions, chi_1 and the borders
between phases; for tanh and callables they import torch. `estimators` gives ratios with bootstrap
errors, `tail_errors` standard errors of dispersions that hold up with heavy tails.

With torch, `samplers` has, on CPU or CUDA, `sample_vectors` (O(L M) per draw) for any activation at
one input and `sample_kernels` (O(L M S^2)) for S inputs and C outputs, and `vector_sweep`
(`sweep_vectors`) samples all depths and weight variances in one pass. `brute_force` has the closed
form for a given network, and the reference, which draws the weight matrices.

Samplers return `draws.NtkDraws`. Bad arguments raise a `finitewidth.common.errors.ConfigError`.
"""
