"""Cost of what is listed to explain a paper: npf, dgn. Seconds at most, most of them start-up."""

from collections.abc import Mapping
from typing import Any

from finitewidth.pipeline.costs.kernels import ROW
from finitewidth.pipeline.costs.work import Work

WAYS = 16**4  # in which four paths take the weights between four nodes and four


def npf(settings: Mapping[str, Any]) -> Work:
    """Rule npf_concepts: the layouts of four paths; all else is a few dozen rows."""
    sizes = settings["padding"]
    rows = 200 + sizes["width"] * sizes["hidden"] * sizes["copies"]
    return Work(elements=40 * WAYS, memory=WAYS * 100, disk=rows * ROW)


def dgn(settings: Mapping[str, Any]) -> Work:
    """Rule dgn_concepts: all signs of the weights for all signs of the gating weights."""
    net = settings["convolution"]
    signs = 2 ** (net["kernel"] * net["layers"])
    examples = len(net["examples"])
    inputs = examples * net["inputs"]
    pairs = examples * (examples + 1) // 2 * net["inputs"]
    forward = inputs * net["inputs"] * net["layers"] * net["kernel"]
    return Work(
        elements=signs**2 * forward,
        flops=2 * signs**2 * inputs**2 * (1 + net["inputs"]),
        calls=signs**2 * net["layers"] * (net["kernel"] + 2),
        memory=signs * inputs * net["inputs"] * 8,
        disk=signs * pairs * ROW,
    )


EXPERIMENTS = {
    "npf_concepts": lambda config: npf(config["npf"]["concepts"]),
    "dgn_concepts": lambda config: dgn(config["dgn"]["concepts"]),
}
