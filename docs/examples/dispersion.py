"""Kernels at initialisation: how their dispersion grows with depth over width.

The tangent kernel of a random network at one input is a random number. Its dispersion,
E[Theta^2] / E[Theta]^2, is 1 if all networks have the same kernel. The script compares three
values for ReLU networks at the edge of chaos: the exact one at finite width, an estimate from
drawn networks, and the limit of large depth and width at a fixed ratio.
"""

import argparse
from typing import Any

import finitewidth as fw

SIGMA_W2 = 2.0  # the edge of chaos of ReLU networks


def rows(width: int, ratios: list[float], draws: int) -> list[tuple[int, float, float, Any]]:
    """Compute dispersions of networks of one width.

    Args:
        width: M, of all hidden layers and of the input.
        ratios: values of depth over width, L / M.
        draws: number of drawn networks.

    Returns:
        For each ratio the depth, the exact dispersion, its limit, and the estimate from draws.
    """
    found = []
    for ratio in ratios:
        init = fw.constant_width(round(ratio * width), width, sigma_w2=SIGMA_W2)
        exact = fw.ntk_moments(init).dispersion
        limit = fw.dispersion_limit(init.depth / width, "critical")
        drawn = fw.dispersion(fw.draw_ntk(init, draws=draws))
        found.append((init.depth, exact, limit, drawn))
    return found


def main() -> None:
    """Print one line per depth."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--width", type=int, default=100)
    parser.add_argument("--draws", type=int, default=20_000)
    options = parser.parse_args()
    print(f"width {options.width}, {options.draws} networks")
    print("  L/M depth   exact   limit   drawn, 95 % interval")
    for depth, exact, limit, drawn in rows(options.width, [0.05, 0.1, 0.2, 0.4], options.draws):
        print(
            f"{depth / options.width:5.2f} {depth:5} {exact:7.4f} {limit:7.4f} "
            f"{drawn.value:7.4f} [{drawn.low:.4f}, {drawn.high:.4f}]"
        )


if __name__ == "__main__":
    main()
