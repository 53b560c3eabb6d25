"""Cost of experiments at initialisation and with path kernels: trust, beyond, npf."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from finitewidth.data.catalogue import SOURCES, find_source
from finitewidth.pipeline.costs.work import Work

Config = Mapping[str, Any]
ROW = 120  # bytes of a row of a table
CHAIN = 4  # random numbers per layer of a scalar chain: two chi-squares, a binomial, a normal


def count(grid: Mapping[str, Any] | list | None, otherwise: int) -> int:
    """Points of a grid given by their number, as a list, or not at all."""
    return otherwise if grid is None else grid if isinstance(grid, int) else len(grid)


def sweep(draws: float, depth: float, depths: int, variances: int, *, biases: bool) -> Work:
    """`kernels.ntk_init.depth_sweep`: one pass of random numbers, a recursion per variance.

    With random biases the recursion is run for every depth, without only for the deepest.
    """
    layers = depth * (depths / 2 if biases else 1)
    blocks = -(-draws // 2048)
    return Work(
        draws=draws * depth * CHAIN,
        elements=draws * layers * variances * (12 if biases else 6),
        calls=blocks * layers * (12 if biases else 6),
        memory=2048 * 8 * (depth * (CHAIN + 3 * variances) + depths * variances * 3),
        disk=depths * variances * ROW,
    )


def single_chains(draws: float, depths: list[int], variances: int) -> Work:
    """A chain of its own for every depth and variance."""
    layers = sum(depths) * variances
    blocks = -(-draws // 2048)
    return Work(draws=draws * layers * CHAIN, elements=draws * layers * 15,
                calls=blocks * layers * 25, disk=len(depths) * variances * ROW)  # fmt: skip


def vectors(draws: float, depth: int, width: int, depths: int, variances: int) -> Work:
    """`kernels.ntk_init.vector_sweep`: three normals per unit, phi and phi' per variance."""
    units = draws * depth * width
    return Work(draws=3 * units, elements=20 * units * variances, torch=1,
                memory=8 * 2e6 * variances, disk=depths * variances * ROW)  # fmt: skip


def trust_heat(settings: Config) -> Work:
    """Rules trust_widths and trust_biases."""
    work = Work()
    depths = settings["depths"]
    for bias in settings["sigma_b2"]:
        for width in settings["widths"]:
            tanh, relu = (settings["sigma_w2"][name]["points"] for name in ("tanh", "relu"))
            draws = settings["draws"]
            few = settings["paper_draws"] if bias == 0 else draws
            work += vectors(draws, max(depths), width, len(depths), tanh) * 1
            work += sweep(few, max(depths), len(depths), relu, biases=bias > 0)
    return Work(**{**work.__dict__, "jobs": 1, "torch": 1})


def trust_depth(settings: Config) -> Work:
    """Rule trust_depth."""
    work = Work()
    for _, bias in settings["pairs"]:
        for width in settings["widths"]:
            deepest = min(settings["largest_depth"], settings["largest_lambda"] * width)
            points = min(settings["points"], int(deepest))
            grid = np.linspace(1, deepest, points).astype(int).tolist()
            work += single_chains(settings["paper_draws"], grid, 1)
            if bias > 0:
                work += sweep(settings["draws"], deepest, points, 1, biases=True)
    return Work(**{**work.__dict__, "jobs": 1})


def trust_mean_field(settings: Config) -> Work:
    """Rule trust_mean_field: the recursion anew for every depth."""
    pairs = sum(map(len, settings["pairs"].values()))
    inputs = len(settings["covariances"]) + 1
    layers = pairs * settings["depth"] ** 2 / 2
    return Work(calls=15 * layers, elements=40 * layers * inputs**2,
                disk=pairs * settings["depth"] * inputs * ROW)  # fmt: skip


def trust_solutions(settings: Config) -> Work:
    """Rule trust_solutions: a Gram matrix through all layers for every random dataset."""
    pairs = sum(map(len, settings["pairs"].values()))
    layers = pairs * settings["datasets"] * sum(settings["depths"])
    samples = settings["samples"] + 1
    drawn = pairs * len(settings["depths"]) * settings["draws"] * samples
    return Work(calls=60 * layers, elements=60 * layers * samples**2 + 4 * drawn, draws=drawn,
                memory=8 * settings["draws"] * samples * 3)  # fmt: skip


def errata(settings: Config) -> Work:
    """Rule errata_table: small networks drawn for the misprints that need them, and quadrature."""
    networks = settings["networks"]
    return Work(draws=200 * networks, elements=3_000 * networks, calls=2e6, torch=1,
                memory=5e8)  # fmt: skip


def beyond_diagonal(settings: Config) -> Work:
    """Rule beyond_diagonal."""
    work = Work()
    for group in ("phases", "near"):
        chosen = settings[group]
        variances = len(chosen["sigma_w2"])
        for width in chosen["widths"]:
            deepest = settings["max_lambda"] * width
            points = min(count(settings["points"], int(deepest)), int(deepest))
            grid = np.linspace(2, deepest, points).astype(int).tolist()
            once = sweep(settings["draws"], deepest, points, variances, biases=False)
            few = settings["paper_draws"]
            theory = Work(calls=200 * points * variances, elements=points * deepest**2 * 10)
            sums = Work(elements=8 * settings["draws"] * points * variances)
            boots = Work(elements=few * settings["resamples"] * points * variances * 4)
            both = once + sums + boots + theory + single_chains(few, grid, 1)
            work += both * len(chosen["alpha_0"])
    return Work(**{**work.__dict__, "jobs": 1})


def beyond_off_diagonal(settings: Config) -> Work:
    """Rule beyond_off_diagonal."""
    groups = [settings[name] for name in ("ratio", "phases", "near")]
    work = Work()
    for width in sorted({width for group in groups for width in group["widths"]}):
        here = [group for group in groups if width in group["widths"]]
        cosines = len({value for group in here for value in group["cosines"]})
        depth = settings["max_lambda"] * width
        points = min(count(settings["points"], int(depth)), int(depth))
        cells = points * sum(
            len(g["alpha_0"]) * len(g["sigma_w2"]) * len(g["cosines"]) for g in here
        )
        draws = settings["draws"]
        blocks = draws / max(8, min(256, 20_000 // width))
        work += Work(
            draws=draws * depth * 2 * width,
            elements=draws * (depth * width * cosines * 4 + cells * 30 + points * depth * cosines),
            calls=blocks * (cells * 15 + depth * (30 + points * 3)),
            memory=256 * 8 * points * depth * cosines * 2,
            disk=2 * cells * ROW,
        )
        few = settings["paper_draws"] * settings["resamples"]
        work += Work(elements=few * cells * 4)
    return Work(**{**work.__dict__, "jobs": 1})


def beyond_theory(settings: Config) -> Work:
    """Rule beyond_theory: closed forms."""
    limits, shapes = settings["limits"], settings["architectures"]
    points = 2 * limits["points"] * (len(limits["alpha_0"]) + 1)
    sums = 3 * shapes["points"] * len(shapes["sigma_w2"])
    depth = shapes["max_lambda"] * (shapes["narrow"] + shapes["wide"]) / 2
    return Work(calls=30 * points + 150 * sums, elements=sums * depth**2 * 10,
                disk=(points + 2 * sums) * ROW)  # fmt: skip


def beyond_theorem31(settings: Config) -> Work:
    """Rule beyond_theorem31: small networks drawn in full."""
    small = settings["small"]
    layers = sum(small["depths"]) * len(small["sigma_w2"])
    per_layer = settings["draws"] * small["width"] ** 2
    exact = settings["points"] * len(settings["widths"]) * len(settings["sigma_w2"])
    return Work(
        draws=per_layer * layers, flops=4 * per_layer * layers, elements=12 * per_layer * layers,
        calls=150 * exact + 50 * layers * settings["draws"] / 50_000,
        memory=50_000 * 8 * 4 * small["width"] ** 2 * max(small["depths"]), disk=4 * exact * ROW,
    )  # fmt: skip


def beyond_lemmas(settings: Config) -> Work:
    """Rule beyond_lemmas: networks drawn in full, for norms and for gradient steps; samples."""
    norms, steps, samples = (settings[name] for name in ("moments", "steps", "estimators"))
    weights = norms["draws"] * (2 * norms["layers"] - 1) * norms["width"] ** 2
    moved = sum(depth**3 / steps["ratio"] ** 2 for depth in steps["depths"])
    moved *= steps["draws"] * len(steps["sigma_w2"])
    layers = sum(steps["depths"]) * len(steps["sigma_w2"]) * steps["draws"] / 25
    drawn = samples["draws"] * sum(samples["sizes"]) * len(samples["dispersions"])
    return Work(
        draws=weights + moved + drawn, elements=2 * weights + 12 * moved + 30 * drawn,
        calls=400 * layers + norms["draws"] / 10_000 * 40 * norms["layers"], torch=1,
        memory=max(80_000 * 2 * norms["layers"] * norms["width"] ** 2,
                   25 * 8 * 6 * max(steps["depths"]) ** 3 / steps["ratio"] ** 2),
    )  # fmt: skip


def npf_nu(settings: Config) -> Work:
    """Rule npf_nu: a path kernel, its inverse and eigenvectors for every kept epoch and run."""
    kernels = settings["runs"] * (settings["epochs"] // settings["every"] + 1)
    examples = 2 * settings["per_class"]
    network = settings["network"]
    gates = examples**2 * network["hidden"] * network["width"] * 2
    return Work(flops=2 * kernels * (gates + 12 * examples**3), calls=kernels * 60, torch=1,
                elements=kernels * examples**2 * 20, disk=kernels * ROW)  # fmt: skip


def npf_kvf(settings: Config) -> Work:
    """Rule npf_kvf: K^v and K^f for every kept epoch and run."""
    kernels = settings["runs"] * (settings["epochs"] // settings["every"] + 1)
    examples, classes = 10 * settings["per_class"], 10
    network = settings["network"]
    units = network["hidden"] * network["width"]
    products = 2 * (classes * examples) ** 2 * units + examples * classes * units * 784
    return Work(flops=2 * kernels * products, calls=kernels * 200, torch=1,
                memory=8 * 4 * (classes * examples) ** 2, disk=kernels * ROW)  # fmt: skip


def npf_cntk(config: Config) -> Work:
    """Rule npf_cntk: 30 steps per entry and convolution, four convolutions."""
    settings, data = config["npf"]["cntk"], config["data"]
    shape = find_source(data["cifar10"], data["imagefolder"]).shape or SOURCES["cifar10"].shape
    train, test = settings["train"], settings["test"]
    pairs, side = train * (train / 2 + test) + test, shape[0] / settings["pool"]
    entries = pairs * side**4 * 4
    return Work(elements=30 * entries, calls=60 * entries / 2**16, flops=3 * train**3, torch=1,
                memory=8 * train * (train + test) * 6, disk=30 * ROW)  # fmt: skip


def dgn_nu(settings: Config) -> Work:
    """Rule dgn_nu: six tangent kernels, inverted seven times, for every kept epoch and run."""
    kernels = 6 * settings["runs"] * (settings["epochs"] // settings["every"] + 1)
    examples = 2 * settings["per_class"]
    network = settings["network"]
    units = network["hidden"] * network["width"]
    products = 4 * examples**2 * units + 4 * examples * network["width"] * (784 + units)
    return Work(flops=2 * kernels * (products + 4 * examples**3), calls=kernels * 150, torch=1,
                elements=kernels * examples**2 * 40, disk=kernels * ROW)  # fmt: skip


def reading(files: int) -> Work:
    """A job that only reads tables and writes others."""
    return Work(calls=40_000 + 3_000 * files, disk=20_000)


EXPERIMENTS = {
    "npf_regimes": lambda config: reading(3 * len(config["npf"]["regimes"]["rows"])),
    "npf_stages": lambda config: reading(3),
    "npf_cntk": npf_cntk,
    "npf_text": lambda config: reading(5),
    "npf_limits": lambda config: reading(1),
    "npf_nu": lambda config: npf_nu(config["npf"]["nu"]),
    "npf_kvf": lambda config: npf_kvf(config["npf"]["kvf"]),
    "dgn_mnist": lambda config: reading(2),
    "dgn_binary": lambda config: reading(4),
    "dgn_nu": lambda config: dgn_nu(config["dgn"]["binary"]),
    "dgn_sweep": lambda config: reading(4),
    "dgn_text": lambda config: reading(4),
    "trust_widths": lambda config: trust_heat(config["trust"]["heat_widths"]),
    "trust_biases": lambda config: trust_heat(config["trust"]["heat_biases"]),
    "trust_depth": lambda config: trust_depth(config["trust"]["depth"]),
    "errata_table": lambda config: errata(config["errata"]),
    "trust_solutions": lambda config: trust_solutions(config["trust"]["solutions"]),
    "trust_mean_field": lambda config: trust_mean_field(config["trust"]["mean_field"]),
    "beyond_diagonal": lambda config: beyond_diagonal(config["beyond"]["diagonal"]),
    "beyond_off_diagonal": lambda config: beyond_off_diagonal(config["beyond"]["off_diagonal"]),
    "beyond_theory": lambda config: beyond_theory(config["beyond"]),
    "beyond_lemmas": lambda config: beyond_lemmas(config["beyond"]),
    "beyond_theorem31": lambda config: beyond_theorem31(config["beyond"]["theorem31"]),
}
