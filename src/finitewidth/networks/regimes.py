"""The gate regimes: where a network's gates come from and what it learns. Imports no torch.

Each regime is one value of one description, not a code path of its own (NPF section 6.1; DGN
Table 3, whose GaLU with frozen gates NPF calls FRNPF (II)).
"""

from dataclasses import dataclass, replace
from typing import Any

from finitewidth.common.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class Gating:
    """Where gates come from and how hard they are.

    Attributes:
        source: ``own`` (the pre-activations the gates multiply: ReLU, soft-ReLU), ``feature`` (a
            separate feature network) or ``open`` (all gates 1: a deep linear network).
        beta: slope of a soft gate G = (1+eps)/(1+exp(-beta q)); None for the hard gate 1{q > 0}.
        eps: overshoot of a soft gate. Where replicas of a stack have unequal soft gates, ``beta``
            and ``eps`` are tensors (R,).
        feature_hidden: the feature network's own hidden units: ``hard`` (ReLU, as NPF) or
            ``soft`` (its own soft gates, as DGN Table 2).
    """

    source: str
    beta: Any = None
    eps: Any = 0.0
    feature_hidden: str = "hard"

    def alike(self, other: "Gating") -> bool:
        """Whether both differ in the numbers of their soft gates only."""
        same = (self.source, self.feature_hidden) == (other.source, other.feature_hidden)
        return same and (self.beta is None) == (other.beta is None)


@dataclass(frozen=True, kw_only=True)
class Regime:
    """A gating, the start of the feature network, and what of the two networks learns.

    Attributes:
        feature_start: ``independent`` weights, the same as the ``value`` network's, or
            ``pretrained`` (from a finished training); None without a feature network.
        learns: what is trained, of ``value``, ``output`` (the value network's last layer alone)
            and ``feature``.
        title: how papers write it.
    """

    gating: Gating
    feature_start: str | None
    learns: frozenset[str]
    title: str

    def stacks_with(self, other: "Regime") -> bool:
        """Whether replicas of both can train in one stack.

        They may differ in their start, and in how soft their gates are if both have soft ones.
        """
        return self.gating.alike(other.gating) and self.learns == other.learns


def regime(name: str, beta: float | None = None, eps: float = 0.0) -> Regime:
    """The regime of that name; ``beta`` and ``eps`` count where its gates are soft.

    Raises:
        ConfigError: no regime has that name.
    """
    own, hard = Gating(source="own"), Gating(source="feature")
    soft = Gating(source="feature", beta=beta, eps=eps)
    soft_throughout = replace(soft, feature_hidden="soft")
    value, both = frozenset({"value"}), frozenset({"value", "feature"})
    known = {
        "relu": Regime(gating=own, feature_start=None, learns=value, title="ReLU"),
        "frnpf_ii": Regime(
            gating=hard, feature_start="independent", learns=value, title="FRNPF (II)"
        ),
        "frnpf_di": Regime(gating=hard, feature_start="value", learns=value, title="FRNPF (DI)"),
        "dlnpf": Regime(gating=soft, feature_start="independent", learns=both, title="DLNPF"),
        "flnpf": Regime(gating=hard, feature_start="pretrained", learns=value, title="FLNPF"),
        "galu": Regime(gating=hard, feature_start="independent", learns=value, title="GaLU"),
        "soft_galu": Regime(
            gating=soft_throughout, feature_start="independent", learns=both, title="soft-GaLU"
        ),
        "gates_only": Regime(
            gating=soft_throughout, feature_start="independent", learns=frozenset({"feature"}),
            title="gates only",
        ),
        "gates_and_output": Regime(
            gating=soft_throughout, feature_start="independent",
            learns=frozenset({"feature", "output"}), title="gates and output layer",
        ),
        "linear": Regime(
            gating=Gating(source="open"), feature_start=None, learns=value, title="deep linear"
        ),
        "soft_relu": Regime(
            gating=Gating(source="own", beta=beta, eps=eps), feature_start=None, learns=value,
            title="soft-ReLU",
        ),
    }  # fmt: skip
    if name not in known:
        raise ConfigError(f"regime {name!r} is unknown; it must be one of {', '.join(known)}")
    return known[name]
