"""The gate regimes: the source of a network's gates and the parameters that are trained.

Source: NPF section 6.1 and DGN Table 3. GaLU with frozen gates in DGN is FRNPF (II) in NPF. Every
regime is an instance of the class `Regime`. This module does not import torch.
"""

from dataclasses import dataclass, replace
from typing import Any

from finitewidth.common.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class Gating:
    """The source of the gates and their softness.

    Attributes:
        source: ``own`` if the gates are computed from the pre-activations that they multiply (ReLU,
            soft-ReLU), ``feature`` if a separate feature network computes them, or ``open`` if all
            gates are 1 (a deep linear network).
        beta: slope of the soft gates G = (1+eps)/(1+exp(-beta q)); None for the hard gates
            1{q > 0}. It is a tensor (R,) if it differs between the R replicas of a stack.
        eps: see ``beta``; a tensor (R,) likewise.
        feature_hidden: hidden units of the feature network: ``hard`` for ReLU (NPF), ``soft`` for
            its own soft gates (DGN Table 2).
    """

    source: str
    beta: Any = None
    eps: Any = 0.0
    feature_hidden: str = "hard"


@dataclass(frozen=True, kw_only=True)
class Regime:
    """The gates of a network, the initial feature network, and what is trained.

    A feature network starts with weights that are ``independent``, those of the value network
    (``value``) or those of a finished training (``pretrained``). ``value``, ``output`` (only the
    last layer of the value network) and ``feature`` can be trained.
    """

    gating: Gating
    feature_start: str | None
    learns: frozenset[str]


def regime(name: str, beta: float | None = None, eps: float = 0.0) -> Regime:
    """Return a regime by its name, such as ``dlnpf``; see docs/glossary.md.

    Slope and overshoot of the gates are used if they are soft.

    Raises:
        ConfigError: the name is unknown.
    """
    relu = Gating(source="own")
    soft_relu = Gating(source="own", beta=beta, eps=eps)
    linear = Gating(source="open")
    hard = Gating(source="feature")
    soft = Gating(source="feature", beta=beta, eps=eps)
    soft_throughout = replace(soft, feature_hidden="soft")
    known = {  # name: (gates, start of the feature network, trained parts)
        "relu": (relu, None, {"value"}),
        "frnpf_ii": (hard, "independent", {"value"}),
        "frnpf_di": (hard, "value", {"value"}),
        "dlnpf": (soft, "independent", {"value", "feature"}),
        "flnpf": (hard, "pretrained", {"value"}),
        "galu": (hard, "independent", {"value"}),
        "soft_galu": (soft_throughout, "independent", {"value", "feature"}),
        "gates_only": (soft_throughout, "independent", {"feature"}),
        "gates_and_output": (soft_throughout, "independent", {"feature", "output"}),
        "linear": (linear, None, {"value"}),
        "soft_relu": (soft_relu, None, {"value"}),
    }
    if name not in known:
        raise ConfigError(f"regime {name!r} is unknown; it must be one of {', '.join(known)}")
    gating, start, learns = known[name]
    return Regime(gating=gating, feature_start=start, learns=frozenset(learns))
