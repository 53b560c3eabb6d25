"""``finitewidth ntk``: can the infinite-width kernel be trusted for a network?"""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from cyclopts import Parameter, Token

from finitewidth.cli.options import Whole


def _widths(kind: Any, tokens: Sequence[Token]) -> tuple[int, ...]:
    """``784,500,10`` as numbers."""
    (token,) = tokens
    try:
        return tuple(int(width) for width in token.value.split(","))
    except ValueError:
        raise ValueError(f"{token.value!r} is not a list of widths like 784,500,500,10") from None


Widths = Annotated[tuple[int, ...], Parameter(converter=_widths, n_tokens=1, accepts_keys=False)]


def ntk(
    *,
    widths: Widths,
    sigma_w2: float,
    sigma_b2: float = 0.0,
    activation: Literal["relu", "tanh", "erf"] = "relu",
    parametrisation: Literal["standard", "ntk"] = "standard",
    input_norm2: float = 1.0,
    inputs: Whole = 32,
    draws: Whole = 2000,
    seed: Whole = 0,
    csv: bool = False,
) -> None:
    """Can the infinite-width kernel be trusted?

    Example: finitewidth ntk --widths 784,500,500,10 --sigma-w2 2

    Args:
        widths: input dimension, hidden widths, number of outputs
        sigma_w2: variance of a weight times its fan-in
        sigma_b2: variance of a bias
        activation: of all hidden layers
        parametrisation: where the factor 1/sqrt(fan-in) stands
        input_norm2: squared norm of the inputs
        inputs: random inputs for the largest stable step
        draws: networks to draw without a closed form
        seed: of all draws
        csv: print quantities and values as CSV

    Raises:
        ConfigError: an option is out of range.
    """
    from finitewidth.library.initial import network
    from finitewidth.library.trust import trust

    init = network(widths, sigma_w2=sigma_w2, sigma_b2=sigma_b2, parametrisation=parametrisation)
    answer = trust(
        init, activation=activation, input_norm2=input_norm2, draws=draws, inputs=inputs, seed=seed
    )
    print(answer.to_frame().to_csv(index=False).rstrip() if csv else answer)
