"""A kernel by neural-tangents, timed in the environment of benchmarks/neural_tangents.txt.

benchmarks/side_by_side.py writes a task, starts this file with it, and reads the result.
"""

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

TASK = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
sys.path.insert(0, str(Path(__file__).parents[1]))
# XLA starts a thread for each core that the process may use
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: TASK["threads"]])

import jax  # noqa: E402
import neural_tangents as nt  # noqa: E402
import numpy as np  # noqa: E402
from benchmarks.usage import usage_of  # noqa: E402
from jax import Array, lax  # noqa: E402

Parameters = list[tuple[Array, Array]]  # weight and bias of each layer
IMAGES = ("NHWC", "HWIO", "NHWC")  # the layout that XLA prefers on a CPU


# structured derivatives have no rule for calls of compiled functions, as jnp.maximum is one
def relu(x: Array) -> Array:
    return lax.max(x, lax.full_like(x, 0))


def mlp(parameters: Parameters, x: Array) -> Array:
    *hidden, last = parameters
    for weight, bias in hidden:
        x = relu(lax.dot(x, weight) + bias)
    return lax.dot(x, last[0]) + last[1]


def cnn(parameters: Parameters, x: Array) -> Array:
    *hidden, last = parameters
    for weight, bias in hidden:
        x = lax.conv_general_dilated(x, weight, (1, 1), "SAME", dimension_numbers=IMAGES)
        x = relu(x + bias)
    positions = x.shape[1] * x.shape[2]
    mean = lax.reduce(x, np.float32(0), lax.add, (1, 2)) / positions
    return lax.dot(mean, last[0]) + last[1]


def as_in_jax(array: np.ndarray) -> np.ndarray:
    """Return a weight, or a bias, of torch with the axes in the order of jax."""
    order = {1: (0,), 2: (1, 0), 4: (2, 3, 1, 0)}[array.ndim]
    return np.ascontiguousarray(array.transpose(order))


NETWORKS = {"mlp": mlp, "cnn": cnn}


def inputs_and_parameters() -> tuple[np.ndarray, Parameters]:
    """Read the inputs and the weights and biases that the process of ours has written."""
    stored = np.load(TASK["arrays"])
    x, *arrays = [stored[name] for name in stored.files]
    if x.ndim == 4:
        x = np.ascontiguousarray(x.transpose(0, 2, 3, 1))  # (N, C, H, W) -> (N, H, W, C)
    weights = [as_in_jax(array) for array in arrays[::2]]
    biases = [as_in_jax(array) for array in arrays[1::2]]
    return x, list(zip(weights, biases, strict=True))


def main() -> None:
    x, parameters = inputs_and_parameters()
    full = TASK["kernel"] == "full"
    ntk = nt.empirical_ntk_fn(
        NETWORKS[TASK["jax"]],
        trace_axes=() if full else (-1,),
        vmap_axes=0,
        implementation=nt.NtkImplementation[TASK["how"]],
    )

    def kernel(parameters: Parameters, x: Array) -> Array:
        return ntk(x, None, parameters)

    arguments = jax.device_put((parameters, x))
    compiled = jax.jit(kernel).lower(*arguments).compile()
    values, usage = usage_of(lambda: compiled(*arguments).block_until_ready())
    values = np.asarray(values)
    if full:
        values = values.transpose(2, 0, 3, 1)  # (N, N, K, K) -> (K, N, K, N)
    else:
        outputs = len(parameters[-1][1])
        values = values * outputs  # theirs is the mean over outputs, ours the sum
    versions = f"neural-tangents {nt.__version__}, jax {jax.__version__}"
    np.savez(TASK["result"], values=values, versions=versions, **asdict(usage))


if __name__ == "__main__":
    main()
