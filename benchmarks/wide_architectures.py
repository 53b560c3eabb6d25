"""Random architectures of convolutions and dense layers, as lists that two libraries can build.

An architecture is a list of steps, each a list whose first member is its kind:

    ["dense"], ["conv", taps, stride, padding], ["relu"] and other activations, ["average", size],
    ["global average"], ["flatten"], ["norm"], ["residual", steps], ["concatenate", steps, steps]
"""

import random
from collections.abc import Sequence

ACTIVATIONS = ("relu", "leaky", "abs", "erf", "gelu", "sin", "cos")
PADDINGS = ("same", "valid", "circular")
SIDE, CHANNELS = 6, 3  # of images
SMALLEST = 3  # size of images that are convolved


def architectures(count: int, seed: int = 0) -> list[list]:
    """Return random architectures: half of them dense, and half with convolutions."""
    stream = random.Random(seed)
    return [_dense(stream) if at % 2 else _convolutional(stream) for at in range(count)]


def _dense(stream: random.Random) -> list:
    return [*_dense_blocks(stream, stream.randint(1, 4)), ["dense"]]


def _dense_blocks(stream: random.Random, count: int) -> list:
    steps: list = [["dense"]]
    for _ in range(count):
        steps.append([stream.choice(ACTIVATIONS)])
        kind = stream.random()
        if kind < 0.25:
            steps += [["dense"], ["residual", [[stream.choice(ACTIVATIONS)], ["dense"]]]]
        elif kind < 0.4:
            steps += [["concatenate", [["dense"]], [["dense"], ["erf"]]], ["dense"]]
        else:
            steps.append(["dense"])
    return steps


def _convolutional(stream: random.Random) -> list:
    steps, side = _conv(stream, SIDE)
    for _ in range(stream.randint(1, 3)):
        steps.append([stream.choice(ACTIVATIONS)])
        kind = stream.random()
        if kind < 0.3:
            inner = [[stream.choice(ACTIVATIONS)], ["conv", 3, 1, "same"]]
            more, side = _conv(stream, side)
            steps += [*more, ["residual", inner]]
        elif kind < 0.5 and side >= 2 * SMALLEST:
            steps += [["average", 2], ["conv", 1, 1, "valid"]]
            side //= 2
        else:
            more, side = _conv(stream, side)
            steps += more
    steps.append([stream.choice(ACTIVATIONS)])
    steps.append(stream.choice([["global average"], ["flatten"]]))
    if stream.random() < 0.5:
        steps += [["dense"], [stream.choice(ACTIVATIONS)]]
    return [*steps, ["dense"]]


def _conv(stream: random.Random, side: int) -> tuple[list, int]:
    """Return a convolution, and the size of the images after it."""
    # strides of the two libraries differ for padded images of even size
    if side >= 2 * SMALLEST and stream.random() < 0.3:
        return [["conv", 2, 2, "valid"]], (side - 2) // 2 + 1
    padding = stream.choice(PADDINGS) if side > SMALLEST else "same"
    return [["conv", 3, 1, padding]], side - 2 * (padding == "valid")


def is_convolutional(steps: Sequence) -> bool:
    """Tell whether an architecture takes images."""
    return steps[0][0] == "conv"
