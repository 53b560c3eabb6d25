"""Covariances, errors and the tangent kernel of infinitely wide networks (mean field).

Source: ``trust``, section 2 and appendix E, with these corrections. Weight variances are
sigma_w2 / fan-in, so no ratio of widths appears in the recursion of the errors (equations 8, 9).
The input layer is linear, so q^1 = sigma_w2 |x|^2 / n_0 + sigma_b2. For erf, the arcsine and the
square root contain variances instead of standard deviations (E.2).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from finitewidth.common.shapes import Float
from finitewidth.kernels.ntk_init.activations import ActivationLike, activation_of, mean_products
from finitewidth.kernels.ntk_init.draws import grown, growth_of
from finitewidth.kernels.ntk_init.initialisation import Initialisation, checked_inputs, refuse


@dataclass(frozen=True)
class MeanField:
    """The deterministic limits of one network on S inputs. Entry l - 1 belongs to layer l.

    Attributes:
        init: the law of the network. Its widths are the weights of the layers in the kernel.
        log_signal: (L,), logarithm of the factor by which q^l and qhat^(l-1) are divided.
        scaled_q: (L, S, S), q^l_sr = E h^l_s h^l_r, divided by the factor. It is the NNGP kernel of
            the outputs of layer l.
        scaled_qhat: (L, S, S), E x^(l-1)_s x^(l-1)_r per unit, divided by the factor. For layer 1
            it is <x_s, x_r> / n_0.
        log_p: (L, S, S), logarithm of |p^l_sr| with p^l_sr = E <delta^l_s, delta^l_r>, which is 1
            in the output layer.
        sign_p: (L, S, S), sign of p^l_sr.
    """

    init: Initialisation
    log_signal: Float[np.ndarray, "L"]
    scaled_q: Float[np.ndarray, "L S S"]
    scaled_qhat: Float[np.ndarray, "L S S"]
    log_p: Float[np.ndarray, "L S S"]
    sign_p: Float[np.ndarray, "L S S"]

    @property
    def nngp(self) -> Float[np.ndarray, "S S"]:
        """Covariance of the outputs, q^L, (S, S). Raises ConfigError if it overflows float64."""
        return self._grown("nngp", self.scaled_q[-1], float(self.log_signal[-1]))

    def kernel_parts(self) -> tuple[Float[np.ndarray, "S S"], Float[np.ndarray, "S S"], float]:
        """Return Theta_W and Theta_b, (S, S), divided by a factor, and its logarithm.

        To leading order in the widths, Theta_W = sum_l gain_l n_(l-1) qhat^(l-1) p^l and
        Theta_b = bias gain sum_l p^l. See `Initialisation` for the gains.
        """
        weights = self.log_p + self.log_signal[:, None, None]
        top = max(float(weights.max()), float(self.log_p.max()), 0.0)
        sizes = self.init.weight_gains * np.asarray(self.init.widths)
        signals = self.scaled_qhat * self.sign_p * np.exp(weights - top)
        theta_w = np.einsum("l,lsr->sr", sizes, signals)
        errors = self.sign_p * np.exp(self.log_p - top)
        theta_b = self.init.bias_gain * errors.sum(axis=0)
        return theta_w, theta_b, top

    @property
    def ntk(self) -> Float[np.ndarray, "S S"]:
        """Theta = Theta_W + Theta_b, (S, S). Raises ConfigError if it overflows float64."""
        theta_w, theta_b, top = self.kernel_parts()
        return self._grown("ntk", theta_w + theta_b, top)

    @property
    def log_kappa(self) -> tuple[Float[np.ndarray, "S S"], Float[np.ndarray, "S S"]]:
        """Sign of kappa and log |kappa|, each (S, S), with kappa_sr = sum_l qhat^(l-1)_sr p^l_sr.

        The diagonal is kappa_1 and the other entries are kappa_2 (``trust``, Lemma 5.2, for equal
        widths, for which the factor alpha_(l-1) / alpha is 1).
        """
        weights = self.log_p + self.log_signal[:, None, None]
        top = weights.max(axis=0)
        kappa = (self.scaled_qhat * self.sign_p * np.exp(weights - top)).sum(axis=0)
        with np.errstate(divide="ignore"):
            return np.sign(kappa), np.log(np.abs(kappa)) + top

    @property
    def kappa(self) -> Float[np.ndarray, "S S"]:
        """kappa_1 and kappa_2 as in `log_kappa`, (S, S). Raises ConfigError if they overflow."""
        sign, log = self.log_kappa
        return sign * self._grown("kappa", np.ones_like(log), log)

    def _grown(
        self, name: str, scaled: Float[np.ndarray, "S S"], log_growth: Any
    ) -> Float[np.ndarray, "S S"]:
        remedy = "use log_kappa, kernel_parts or scaled_q, which store the growth as a logarithm"
        return grown(name, scaled, log_growth, self.init.depth, remedy)


def infinite_width(init: Initialisation, inputs: Any, *, activation: ActivationLike) -> MeanField:
    """Run the mean-field recursions of a network.

    For "relu" and "erf" closed forms are used, for "tanh" and callables quadrature. The error of
    quadrature is about 1e-12 for tanh. It is larger if the activation is not smooth.

    Args:
        init: the law of the network.
        inputs: (S, n_0).
        activation: "relu", "erf", "tanh" or an elementwise torch callable.

    Cost: O(L S^2); with quadrature about 40,000 evaluations per pair and layer.

    Raises:
        ConfigError: an argument is out of range.

    Examples:
        >>> import numpy as np
        >>> import finitewidth as fw
        >>> init = fw.constant_width(3, 100, sigma_w2=2.0)
        >>> fw.infinite_width(init, np.eye(4, 100), activation="tanh").ntk.shape
        (4, 4)
    """
    array = checked_inputs(inputs, init.widths[0])
    return infinite_width_of_gram(init, array @ array.T / init.widths[0], activation=activation)


def infinite_width_of_gram(
    init: Initialisation, gram: Any, *, activation: ActivationLike
) -> MeanField:
    """Run the recursions of `infinite_width` from the Gram matrix of the inputs.

    Args:
        init: the law of the network.
        gram: <x_s, x_r> / n_0, (S, S), symmetric with a positive diagonal.
        activation: as for `infinite_width`.

    Raises:
        ConfigError: ``gram`` is not such a matrix, or the activation is unknown.

    Examples:
        >>> import finitewidth as fw
        >>> init = fw.constant_width(1, 100, sigma_w2=2.0)  # one layer: n_0 <x, x'> / n_0 + 1
        >>> fw.infinite_width_of_gram(init, [[0.5]], activation="relu").ntk.item()
        51.0
    """
    activation = activation_of(activation)
    qhat = _checked_gram(gram)
    growth = growth_of(init, activation.name == "relu")
    q_of_layers = []
    qhat_of_layers = []
    slopes = []
    for layer in range(1, init.depth + 1):
        # qhat^(l-1) and q^l are divided by g^(l-1), and the covariance of x^l by g^l
        q = init.sigma_w2 * qhat + growth.bias_variance(layer - 1)
        q_of_layers.append(q)
        qhat_of_layers.append(qhat)
        if layer < init.depth:
            products, slope = mean_products(activation, q)
            qhat = products / growth.layer
            slopes.append(slope)
    # p^l = sigma_w2 E phi' phi' p^(l+1) with p^L = 1, from the output layer down
    log_p = [np.zeros(qhat.shape)]
    sign_p = [np.ones(qhat.shape)]
    for slope in reversed(slopes):
        with np.errstate(divide="ignore"):
            log_p.append(log_p[-1] + np.log(init.sigma_w2 * np.abs(slope)))
        sign_p.append(sign_p[-1] * np.sign(slope))
    return MeanField(
        init,
        log_signal=np.arange(init.depth) * float(np.log(growth.layer)),
        scaled_q=np.array(q_of_layers),
        scaled_qhat=np.array(qhat_of_layers),
        log_p=np.array(log_p[::-1]),
        sign_p=np.array(sign_p[::-1]),
    )


def _checked_gram(gram: Any) -> Float[np.ndarray, "S S"]:
    """Return a Gram matrix in float64; refuse what is not symmetric or has no positive diagonal."""
    array = np.asarray(gram, dtype=np.float64)
    if array.ndim != 2 or array.shape[0] != array.shape[1] or not np.allclose(array, array.T):
        raise refuse("gram", f"an array of shape {array.shape}", "a symmetric matrix (S, S)")
    if not (np.diagonal(array) > 0).all():
        raise refuse("gram", "a matrix with a zero on its diagonal", "of positive diagonal")
    return array
