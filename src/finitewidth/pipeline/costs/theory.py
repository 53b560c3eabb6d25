"""Cost of checking the theory of npf and dgn on networks with fixed gates."""

from collections.abc import Mapping
from typing import Any

from finitewidth.pipeline.costs.work import Work

Config = Mapping[str, Any]
ROW = 120  # bytes of a row of a table
SIGN = 4  # elementwise steps per weight of ±sigma: its bit, cast, scaled, shifted


def weights(n0: int, width: int, depth: int) -> float:
    """Weights of a network with one output."""
    return n0 * width + (depth - 2) * width**2 + width


def kernels(count: float, inputs: int, weight_count: float, depth: int, stacks: float) -> Work:
    """K^v of so many drawn networks: forward and backward for every input, in ``stacks`` calls."""
    return Work(
        flops=4 * count * inputs * weight_count, elements=SIGN * count * weight_count,
        calls=stacks * depth * 25, memory=16 * weight_count * count / max(stacks, 1),
    )  # fmt: skip


def npf_theory(settings: Config) -> Work:
    """Rule npf_theory."""
    runs, inputs, n0 = settings["runs"], settings["inputs"], settings["n0"]
    work = Work()
    wide, padded, mean = (settings[name] for name in ("widths", "padding", "mean"))
    cells = [(d, w, 3) for d in wide["depths"] for w in wide["widths"]]
    cells += [(d, padded["width"] * m, 1) for d in padded["depths"] for m in padded["copies"]]
    for depth, width, networks in cells:
        each = kernels(networks * runs, inputs, weights(n0, width, depth), depth, networks * runs)
        work += each + Work(calls=150 * runs, disk=runs * ROW)
    variance, limits = settings["variance"]["drawn"], settings["limits"]
    stacked = [(2 * mean["draws"], inputs, n0, mean["width"], d) for d in mean["depths"]]
    stacked += [
        (2 * variance["draws"], 2, 1, w, d)
        for d in variance["depths"] for w in variance["widths"]
    ]  # fmt: skip
    for count, points, first, width, depth in stacked:
        size = weights(first, width, depth)
        work += kernels(count, points, size, depth, count * size / 4e6 + 1)
    for depth in limits["depths"]:
        size = weights(n0, limits["width"], depth)
        work += kernels(4 * limits["runs"], inputs, size, depth, 4 * limits["runs"])
        work += Work(draws=limits["runs"] * size)  # half of the networks are Gaussian
    return Work(**{**work.__dict__, "jobs": 1, "torch": 1})


def dgn_theory(settings: Config) -> Work:
    """Rule dgn_theory."""
    fit, overlaps, linear = (settings[name] for name in ("fit", "overlaps", "linear"))
    work = Work()
    for network in fit["networks"]:
        layers = network["hidden"] + 1
        size = weights(fit["n0"], network["width"], layers)
        steps = 2 * fit["steps"]  # with biases and without
        work += Work(flops=12 * steps * settings["runs"] * size,
                     elements=15 * steps * settings["runs"] * size,
                     calls=steps * layers * 40, disk=2 * settings["runs"] * ROW)  # fmt: skip
    for depth in overlaps["depths"]:
        work += Work(draws=2 * depth * overlaps["draws"] * overlaps["width"], calls=200)
    for depth in linear["depths"]:
        size = weights(1, linear["width"], depth)
        work += kernels(linear["draws"], 1, size, depth, linear["draws"] / 50)
    return Work(**{**work.__dict__, "jobs": 1, "torch": 1})


EXPERIMENTS = {
    "npf_theory": lambda config: npf_theory(config["npf"]["theory"]),
    "dgn_theory": lambda config: dgn_theory(config["dgn"]["theory"]),
}
