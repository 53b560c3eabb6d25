"""Kernels of infinitely wide networks by neural-tangents, for `wide_agreement.py`.

It runs in the environment of neural_tangents.txt: python wide_neural_tangents.py IN OUT, where IN
holds inputs and architectures, and OUT gets kernels, ``ntk 0``, ``nngp 0`` and so on.
"""

import json
import sys

import jax
import numpy as np

jax.config.update("jax_enable_x64", True)

from neural_tangents import stax  # noqa: E402

WIDTH = 8  # its number does not change a kernel in the limit


def layer(step: list, w_std: float, b_std: float):
    """Return one step of an architecture."""
    kind, *rest = step
    if kind == "dense":
        return stax.Dense(WIDTH, W_std=w_std, b_std=b_std)
    if kind == "conv":
        taps, stride, padding = rest
        return stax.Conv(
            WIDTH, (taps, taps), (stride, stride), padding.upper(), W_std=w_std, b_std=b_std
        )
    if kind == "average":
        return stax.AvgPool((rest[0], rest[0]), (rest[0], rest[0]), "VALID")
    if kind == "residual":
        return stax.serial(
            stax.FanOut(2),
            stax.parallel(stax.Identity(), chain(rest[0], w_std, b_std)),
            stax.FanInSum(),
        )
    if kind == "concatenate":
        parts = [chain(part, w_std, b_std) for part in rest]
        return stax.serial(stax.FanOut(2), stax.parallel(*parts), stax.FanInConcat(-1))
    return {
        "relu": stax.Relu,
        "leaky": lambda: stax.LeakyRelu(0.2),
        "abs": stax.Abs,
        "erf": stax.Erf,
        "gelu": stax.Gelu,
        "sin": stax.Sin,
        "cos": stax.Cos,
        "norm": lambda: stax.LayerNorm(-1),
        "flatten": stax.Flatten,
        "global average": stax.GlobalAvgPool,
    }[kind]()


def chain(steps: list, w_std: float, b_std: float):
    """Return steps one after another."""
    return stax.serial(*(layer(step, w_std, b_std) for step in steps))


def main(given: str, result: str) -> None:
    arrays = np.load(given)
    settings = json.loads(str(arrays["settings"]))
    kernels = {}
    for at, steps in enumerate(settings["architectures"]):
        *_, kernel_of = chain(steps, settings["sigma_w2"] ** 0.5, settings["sigma_b2"] ** 0.5)
        x = arrays["images" if steps[0][0] == "conv" else "vectors"]
        kernel = kernel_of(x, None, ("nngp", "ntk"))
        kernels[f"ntk {at}"], kernels[f"nngp {at}"] = map(np.asarray, (kernel.ntk, kernel.nngp))
    np.savez(result, **kernels)


if __name__ == "__main__":
    main(*sys.argv[1:])
