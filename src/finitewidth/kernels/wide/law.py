"""The random weights of a network in the limit of infinite width."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Literal

from torch import nn

from finitewidth.common.errors import ConfigError
from finitewidth.kernels.ntk_init.initialisation import checked_choice, checked_number

Variance = float | Mapping[str, float] | Literal["torch"]
PARAMETRISATIONS = ("ntk", "standard")
Table = nn.Embedding | nn.EmbeddingBag
TOKENS = (nn.Embedding, nn.EmbeddingBag)
Weighted = nn.Linear | nn.Conv1d | nn.Conv2d | Table
WEIGHTED = (nn.Linear, nn.Conv1d, nn.Conv2d, *TOKENS)


@dataclass(frozen=True)
class LayerLaw:
    """The law of the weights of a layer, and their part in the NTK.

    Attributes:
        sigma_w2: variance of a weight times the fan-in.
        sigma_b2: variance of a bias; 0 without biases.
        gain: the factor of the covariance in the part of this layer's weights in the NTK: sigma_w2,
            or the fan-in in the standard parametrisation; 0 for a frozen weight.
        bias_gain: the part of the biases in the NTK; 0 for frozen ones.
    """

    sigma_w2: float
    sigma_b2: float
    gain: float
    bias_gain: float


def fan_in(module: Weighted) -> int:
    """Return the number of weights of one output; of an embedding, those that a token uses."""
    return 1 if isinstance(module, TOKENS) else prod(module.weight.shape[1:])


def layer_laws(
    network: nn.Module, sigma_w2: Variance, sigma_b2: Variance, parametrisation: str
) -> dict[str, LayerLaw]:
    """Return the law of each layer with weights by its name.

    Raises:
        ConfigError: a variance is out of range, or is missing for a layer.
    """
    checked_choice("parametrisation", parametrisation, PARAMETRISATIONS)
    # subclasses, such as parametrised layers, may compute something else
    layers = {name: m for name, m in network.named_modules() if type(m) in WEIGHTED}
    laws = {}
    for name, module in layers.items():
        fan = fan_in(module)
        # torch draws weights and biases uniformly up to 1 / sqrt(fan-in), which has the variance
        # 1 / (3 fan-in); those of tables are standard normal
        tokens = isinstance(module, TOKENS)
        torch_weight = 1.0 if tokens else 1 / 3
        torch_bias = 1 / (3 * fan)
        biases = None if tokens else module.bias
        weight_variance = _variance("sigma_w2", sigma_w2, name, layers, torch_weight, above=0)
        bias_variance = 0.0
        if biases is not None:
            bias_variance = _variance("sigma_b2", sigma_b2, name, layers, torch_bias)
        standard = parametrisation == "standard"
        gain = float(fan) if standard else weight_variance
        bias_gain = 1.0 if standard else bias_variance
        laws[name] = LayerLaw(
            sigma_w2=weight_variance,
            sigma_b2=bias_variance,
            gain=gain if is_trained(module.weight) else 0.0,
            bias_gain=bias_gain if is_trained(biases) else 0.0,
        )
    return laws


def is_trained(parameter: nn.Parameter | None) -> bool:
    """Tell whether a parameter is there and counts; frozen ones never do."""
    return parameter is not None and parameter.requires_grad


def _variance(
    argument: str,
    given: Variance,
    layer: str,
    layers: Mapping[str, nn.Module],
    torch_variance: float,
    above: float | None = None,
) -> float:
    """Return the variance of one layer from what was given for all of them.

    Raises:
        ConfigError: it is out of range or missing, or there is no layer of a given name.
    """
    if given == "torch":
        return torch_variance
    if isinstance(given, Mapping):
        unknown = sorted(set(given) - set(layers))
        if unknown:
            raise ConfigError(
                f"{argument}: {unknown[0]!r} is no layer with weights; they are {', '.join(layers)}"
            )
        if layer not in given:
            raise ConfigError(f"{argument}: it has no number for the layer {layer!r}")
        given = given[layer]
    if isinstance(given, str):
        raise ConfigError(
            f"{argument}: {given!r} must be a number, a number for each layer, or 'torch'"
        )
    return checked_number(argument, given, above=above)
