"""Cost of experiments that descend in full batches: memorisation, planar points, one example."""

from collections.abc import Mapping
from typing import Any

from finitewidth.pipeline.costs.work import Work

Config = Mapping[str, Any]
BATCH = 1e6  # activations at once, `measures.dynamics.BATCH_ELEMENTS`, which would load torch
ROW = 60  # bytes of a row of a table
SINGLE = 0.5  # a flop in single precision over one in double
TIMES = 45  # steps recorded of a path


def paths(
    runs: float, descents: float, steps: float, samples: float, width: float, depth: int,
    precision: str = "float64",
) -> Work:  # fmt: skip
    """Kernels, spectra and linear errors of all runs of one depth, gradient descent of some."""
    layer = 2 * samples * width**2 * max(depth - 2, 0)  # of one product per hidden layer
    units = samples * width * (depth - 1)
    grams = 4 * samples**2 * width * (depth - 1)
    kernels = (runs + descents) * (2 * layer + grams) + runs * (layer + 12 * samples**3)
    rate = SINGLE if precision == "float32" else 1.0
    walked = descents * steps
    return Work(
        flops=kernels + rate * 3 * walked * layer,
        elements=40 * runs * units + rate * 4 * walked * units,
        draws=runs * (units + width**2 * (depth - 1)),
        calls=8 * steps * depth * (descents > 0) + 200 * runs + 40 * runs * samples,
        memory=8 * 6 * max(BATCH, units),
        disk=(runs + descents) * TIMES * ROW + 4 * samples * ROW,
    )


def memorisation(config: Config) -> Work:
    """Rule npf_memorisation."""
    task, drawn = config["npf"]["memorisation"]["task"], config["npf"]["memorisation"]
    descent = config["npf"]["memorisation"]["descent"]
    work = Work(jobs=0)
    for name, width in drawn["widths"].items():
        for depth in task["depths"]:
            descents = min(descent[name]["runs"], drawn["runs"])
            work += paths(drawn["runs"], descents, descent[name]["steps"], task["samples"], width,
                          depth, descent["precision"])  # fmt: skip
    return one_job(work)


def planar(settings: Config) -> Work:
    """Rule dgn_planar: two kinds of network."""
    work = Work(jobs=0)
    for depth in settings["depths"]:
        work += paths(settings["runs"], settings["runs"], settings["steps"], settings["samples"],
                      settings["width"], depth, settings["precision"]) * 2  # fmt: skip
    return one_job(work)


def deep_linear(settings: Config) -> Work:
    """Rule dgn_deep_linear: one example; bound by reading and writing weights."""
    weights = settings["width"] ** 2 * sum(max(d - 2, 0) for d in settings["depths"])
    touched = 8 * settings["runs"] * (settings["steps"] + 1) * weights
    layers = sum(settings["depths"]) * settings["runs"] / 40 * (settings["steps"] + 1)
    return Work(elements=touched, draws=settings["runs"] * weights, calls=40 * layers, torch=1,
                disk=settings["shown"] * settings["steps"] * 4 * ROW)  # fmt: skip


def one_job(work: Work) -> Work:
    """All that as one job, with torch."""
    return Work(**{**work.__dict__, "jobs": 1, "torch": 1})


EXPERIMENTS = {
    "npf_memorisation": memorisation,
    "npf_memorisation_ideal": lambda config: Work(
        calls=1000 * len(config["npf"]["memorisation"]["task"]["depths"])
    ),
    "dgn_planar": lambda config: planar(config["dgn"]["planar"]),
    "dgn_deep_linear": lambda config: deep_linear(config["dgn"]["deep_linear"]),
}
