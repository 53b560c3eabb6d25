"""The public names, and where each is defined."""

from finitewidth.common.errors import ConfigError as ConfigError
from finitewidth.common.errors import FinitewidthError as FinitewidthError
from finitewidth.kernels.cntk import cntk as cntk
from finitewidth.kernels.npk import npk as npk
from finitewidth.kernels.npk import nu as nu
from finitewidth.kernels.npk import overlap as overlap
from finitewidth.kernels.ntk_init.estimators import mean_ratio as mean_ratio
from finitewidth.kernels.ntk_init.infinite_width import infinite_width as infinite_width
from finitewidth.kernels.ntk_init.infinite_width import (
    infinite_width_of_gram as infinite_width_of_gram,
)
from finitewidth.kernels.ntk_init.initialisation import Initialisation as Initialisation
from finitewidth.kernels.ntk_init.initialisation import constant_width as constant_width
from finitewidth.kernels.ntk_init.limits import dispersion_limit as dispersion_limit
from finitewidth.kernels.ntk_init.phases import border as border
from finitewidth.kernels.ntk_init.phases import chi_1 as chi_1
from finitewidth.kernels.ntk_init.phases import fixed_variance as fixed_variance
from finitewidth.kernels.ntk_init.phases import phase as phase
from finitewidth.kernels.trained import FullyConnected as FullyConnected
from finitewidth.kernels.trained import full_kernel as full_kernel
from finitewidth.kernels.trained import kernel_diagonal as kernel_diagonal
from finitewidth.kernels.trained import kernel_terms as kernel_terms
from finitewidth.kernels.trained import largest_eigenvalue as largest_eigenvalue
from finitewidth.kernels.trained import output_norms as output_norms
from finitewidth.kernels.trained import tangent_operator as tangent_operator
from finitewidth.kernels.trained import traced_kernel as traced_kernel
from finitewidth.kernels.wide import wide_kernel as wide_kernel
from finitewidth.library.gated import train_gated as train_gated
from finitewidth.library.initial import dispersion as dispersion
from finitewidth.library.initial import draw_ntk as draw_ntk
from finitewidth.library.initial import network as network
from finitewidth.library.initial import ntk_moments as ntk_moments
from finitewidth.library.linearised import linearised as linearised
from finitewidth.library.load import load as load
from finitewidth.library.modules import cross_kernel as cross_kernel
from finitewidth.library.modules import kernel_over_training as kernel_over_training
from finitewidth.library.regression import KernelRegression as KernelRegression
from finitewidth.library.study import study as study
from finitewidth.library.tiles import tiled_kernel as tiled_kernel
from finitewidth.library.trust import trust as trust
from finitewidth.measures.blocks import block_means as block_means
from finitewidth.measures.blocks import label_alignment as label_alignment
from finitewidth.networks.architecture import Architecture as Architecture

__version__: str
