"""``finitewidth ntk``: can the infinite-width kernel be trusted for a network?"""

from argparse import ArgumentParser, ArgumentTypeError, Namespace


def widths_of(text: str) -> list[int]:
    """Return ``784,500,10`` as numbers."""
    try:
        return [int(width) for width in text.split(",")]
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a list of widths like 784,500,500,10") from None


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("--widths", type=widths_of, required=True, metavar="N0,N1,..",
                        help="input dimension, hidden widths, number of outputs")  # fmt: skip
    parser.add_argument("--activation", choices=("relu", "tanh", "erf"), default="relu")
    parser.add_argument("--sigma-w2", type=float, required=True, metavar="VARIANCE",
                        help="variance of a weight times its fan-in")  # fmt: skip
    parser.add_argument("--sigma-b2", type=float, default=0.0, metavar="VARIANCE",
                        help="variance of a bias (default: 0)")  # fmt: skip
    parser.add_argument("--parametrisation", choices=("standard", "ntk"), default="standard")
    parser.add_argument("--input-norm2", type=float, default=1.0, metavar="|x|^2",
                        help="squared norm of the inputs (default: 1)")  # fmt: skip
    parser.add_argument("--inputs", type=int, default=32, metavar="S",
                        help="random inputs for the largest stable step (default: 32)")  # fmt: skip
    parser.add_argument("--draws", type=int, default=2000,
                        help="networks to draw without a closed form (default: 2000)")  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, help="of all draws (default: 0)")
    parser.add_argument("--csv", action="store_true", help="print quantities and values as CSV")


def answered(options: Namespace) -> str:
    """Return the answer for one network.

    Raises:
        ConfigError: an option is out of range.
    """
    from finitewidth.library.initial import network
    from finitewidth.library.trust import trust

    init = network(options.widths, sigma_w2=options.sigma_w2, sigma_b2=options.sigma_b2,
                   parametrisation=options.parametrisation)  # fmt: skip
    answer = trust(init, activation=options.activation, input_norm2=options.input_norm2,
                   draws=options.draws, inputs=options.inputs, seed=options.seed)  # fmt: skip
    return answer.to_frame().to_csv(index=False).rstrip() if options.csv else str(answer)
