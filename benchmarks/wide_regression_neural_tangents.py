"""Predictions of infinitely wide networks by neural-tangents, for `wide_regression.py`.

It runs in the environment of neural_tangents.txt: python wide_regression_neural_tangents.py IN OUT.
"""

import sys

import jax

jax.config.update("jax_enable_x64", True)

import numpy as np  # noqa: E402
from neural_tangents import predict, stax  # noqa: E402


def main(given: str, result: str) -> None:
    arrays = np.load(given)
    x = arrays["x"]
    y = arrays["y"]
    test = arrays["test"]
    w_std = float(arrays["sigma_w2"]) ** 0.5
    b_std = float(arrays["sigma_b2"]) ** 0.5
    layers = [stax.Dense(8, W_std=w_std, b_std=b_std) for _ in range(3)]
    *_, kernel_of = stax.serial(layers[0], stax.Relu(), layers[1], stax.Erf(), layers[2])
    found = {}
    for ridge in arrays["ridges"]:
        # its squared loss is divided by the number of outputs, too
        ensemble = predict.gradient_descent_mse_ensemble(
            kernel_of,
            x,
            y,
            learning_rate=y.shape[1],
            diag_reg=float(ridge),
            diag_reg_absolute_scale=True,
        )
        for kind in ("ntk", "nngp"):
            end = ensemble(None, test, kind, compute_cov=True)
            found[f"{kind} {ridge:g} mean"] = np.asarray(end.mean)
            found[f"{kind} {ridge:g} variance"] = np.asarray(end.covariance).diagonal()
    flow = predict.gradient_descent_mse_ensemble(kernel_of, x, y, learning_rate=y.shape[1])
    for time in arrays["times"]:
        then = flow(float(time), test, "ntk", compute_cov=True)
        found[f"flow {time:g} mean"] = np.asarray(then.mean)
        found[f"flow {time:g} variance"] = np.asarray(then.covariance).diagonal()
    np.savez(result, **found)


if __name__ == "__main__":
    main(*sys.argv[1:])
