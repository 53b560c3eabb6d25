"""Reference evaluation of a network that is given by equations.

The functions evaluate the equations of `finitewidth.networks.equations` literally. They are slow
and are used in tests.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from finitewidth.networks.equations import (
    OUTPUT,
    Equation,
    Expression,
    Hard,
    One,
    Positive,
    Product,
    Repeated,
    Soft,
    Term,
    Weighted,
)

# index i is the unit of the layer, j is the unit of the layer below, s is the example
_AXES = {"ij": "ij,sj->si", "ji": "ji,sj->si"}


@dataclass(frozen=True)
class Gates:
    """The gates of a forward pass.

    Attributes:
        kind: ``hard`` or ``soft``.
        beta: slope of soft gates.
        eps: overshoot of soft gates.
        copies: how often the gates are repeated.
        given: external gates, one array (S, width) per hidden layer; if it is not empty, it
            replaces the gates of the equations.
    """

    kind: str = "hard"
    beta: float = 1.0
    eps: float = 0.0
    copies: int = 1
    given: Sequence[np.ndarray] = ()


@dataclass(frozen=True)
class Pass:
    """One forward pass.

    Attributes:
        equations: the equations of the network.
        weights: letter of a network -> one matrix for each of the layers 1 .. d.
        axes: order of the axes of a matrix, as the paper writes it: ``ij`` for (unit, unit below)
            or ``ji``.
        x: inputs (S, n0); None if the equations have no input.
        gates: the gates to use.
    """

    equations: Sequence[Equation]
    weights: Mapping[str, Sequence[np.ndarray]]
    axes: str
    x: np.ndarray | None = None
    gates: Gates = field(default_factory=Gates)

    def output(self) -> np.ndarray:
        """Return the output of the network, (S, units of the last layer).

        Raises:
            KeyError: the equations use a term that no equation defines, or the index l outside
                the hidden layers.
            IndexError: the equations use weights of a layer that does not exist.
            ValueError: the shapes of the weights do not match the layers.
        """
        return self._term(OUTPUT, None)

    def _term(self, term: Term, here: int | None) -> np.ndarray:
        layer = self._layer(term.layer, here)
        if term.symbol == "x":
            return self.x
        if term.symbol == "G" and self.gates.given:
            return self.gates.given[layer - 1]
        for equation in self.equations:
            left = equation.left
            same = (left.symbol, left.network) == (term.symbol, term.network)
            if same and equation.gate in ("", self.gates.kind) and self._meant(left, layer):
                return self._value(equation.right, layer if left.layer == "l" else None)
        raise KeyError(f"no equation defines {term.symbol}^{term.network} of layer {layer}")

    def _value(self, right: Expression | Positive, here: int | None) -> np.ndarray:
        match right:
            case One():
                return np.ones((1, 1))
            case Term():
                return self._term(right, here)
            case Weighted():
                weight = self._weight(right.network, self._layer(right.layer, here))
                return np.einsum(_AXES[self.axes], weight, self._term(right.of, here))
            case Product():
                return self._value(right.preactivation, here) * self._value(right.gate, here)
            case Hard() | Positive():
                return (self._term(right.of, here) > 0).astype(float)
            case Soft():
                slope = self.gates.beta * self._value(right.of, here)
                return (1 + self.gates.eps) / (1 + np.exp(-slope))
            case Repeated():
                return np.tile(self._term(right.of, here), self.gates.copies)

    def _weight(self, network: str, layer: int) -> np.ndarray:
        if not 1 <= layer <= len(self.weights[network]):
            raise IndexError(
                f"layer {layer} has no weights; layers 1 to {len(self.weights[network])} have them"
            )
        return self.weights[network][layer - 1]

    def _layer(self, written: str, here: int | None) -> int:
        if here is None and written in ("l", "l-1"):
            raise KeyError(f"the index {written} is defined in hidden layers only")
        # a network that only computes gates has no output layer
        depth = max(map(len, self.weights.values()))
        known = {"0": 0, "d-1": depth - 1, "d": depth}
        return known[written] if here is None else {**known, "l": here, "l-1": here - 1}[written]

    @staticmethod
    def _meant(left: Term, layer: int) -> bool:
        return left.layer == "d" or (left.layer == "0") == (layer == 0)
