"""The public names of ``import finitewidth as fw``, and where each is defined.

A module is imported when one of its names is used for the first time, so that the import of the
package itself takes no time.
"""

from importlib import import_module
from typing import Any

INIT = "finitewidth.kernels.ntk_init"
HOME = {
    # networks at initialisation
    "Initialisation": f"{INIT}.initialisation",
    "constant_width": f"{INIT}.initialisation",
    "network": "finitewidth.library.initial",
    "draw_ntk": "finitewidth.library.initial",
    "ntk_moments": "finitewidth.library.initial",
    "trust": "finitewidth.library.trust",
    "dispersion": "finitewidth.library.initial",
    "mean_ratio": f"{INIT}.estimators",
    "dispersion_limit": f"{INIT}.limits",
    "infinite_width": f"{INIT}.infinite_width",
    "infinite_width_of_gram": f"{INIT}.infinite_width",
    "chi_1": f"{INIT}.phases",
    "fixed_variance": f"{INIT}.phases",
    "phase": f"{INIT}.phases",
    "border": f"{INIT}.phases",
    # given networks, trained or not
    "FullyConnected": "finitewidth.kernels.trained",
    "traced_kernel": "finitewidth.kernels.trained",
    "full_kernel": "finitewidth.kernels.trained",
    "kernel_diagonal": "finitewidth.kernels.trained",
    "kernel_terms": "finitewidth.kernels.trained",
    "output_norms": "finitewidth.kernels.trained",
    "largest_eigenvalue": "finitewidth.kernels.trained",
    "cross_kernel": "finitewidth.library.modules",
    "kernel_over_training": "finitewidth.library.modules",
    "tiled_kernel": "finitewidth.library.tiles",
    "block_means": "finitewidth.measures.blocks",
    "label_alignment": "finitewidth.measures.blocks",
    "KernelRegression": "finitewidth.library.regression",
    "study": "finitewidth.library.study",
    # gates and paths
    "Architecture": "finitewidth.networks.architecture",
    "train_gated": "finitewidth.library.gated",
    "overlap": "finitewidth.kernels.npk",
    "npk": "finitewidth.kernels.npk",
    "nu": "finitewidth.kernels.npk",
    # convolutional networks of infinite width
    "cntk": "finitewidth.kernels.cntk",
    # errors
    "FinitewidthError": "finitewidth.common.errors",
    "ConfigError": "finitewidth.common.errors",
}


def lookup(name: str) -> Any:
    """Return the object of a public name.

    Raises:
        AttributeError: there is no such name; the message has the nearest one.
    """
    if name == "__version__":
        from importlib.metadata import version

        return version("finitewidth")
    if name not in HOME:
        import difflib

        near = difflib.get_close_matches(name, HOME, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise AttributeError(f"module 'finitewidth' has no attribute {name!r}{hint}")
    return getattr(import_module(HOME[name]), name)
