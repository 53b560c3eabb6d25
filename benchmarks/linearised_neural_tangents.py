"""Outputs of linearised networks by neural-tangents, in the environment of neural_tangents.txt.

benchmarks/linearised.py starts this file with the files of kernels and of the result.
"""

import sys

import jax

jax.config.update("jax_enable_x64", True)

import numpy as np  # noqa: E402
from jax import Array, nn  # noqa: E402
from neural_tangents import predict  # noqa: E402


def cross_entropy(outputs: Array, targets: Array) -> Array:
    return -(nn.log_softmax(outputs) * targets).sum() / len(outputs)


def main() -> None:
    given = np.load(sys.argv[1])
    train = given["train"]
    across = given["across"]
    y = given["targets"]
    starts = given["start"], given["start_test"]
    found = {}
    # its squared loss is divided by the number of outputs, too
    closed = predict.gradient_descent_mse(train, y, learning_rate=y.shape[1], trace_axes=())
    parts = [closed(t, *starts, across) for t in given["times"]]
    found["squared train"], found["squared"] = map(np.stack, zip(*parts, strict=True))
    found["end"] = closed(None, *starts, across)[1]
    integrated = predict.gradient_descent(cross_entropy, train, y, trace_axes=())
    parts = [integrated(t, *starts, across) for t in given["times"]]
    found["cross_entropy train"], found["cross_entropy"] = map(np.stack, zip(*parts, strict=True))
    np.savez(sys.argv[2], **found)


if __name__ == "__main__":
    main()
