"""Predictions and deviations of infinitely wide networks beside those of neural-tangents.

    python benchmarks/wide_regression.py --neural-tangents build/neural-tangents/bin/python

It prints the largest differences of means and variances, as shares of the largest entry, and ends
with an error if one is above the tolerance. Both libraries compute their own kernels.
benchmarks/neural_tangents.txt says how to make the environment.
"""

import argparse
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import torch
from torch import nn

import finitewidth as fw

TIMES = [0.1, 1.0, 10.0, 100.0]
RIDGES = [0.0, 0.1]
LAW = {"sigma_w2": 1.7, "sigma_b2": 0.2}
TOLERANCE = 1e-10
THEIRS = Path(__file__).with_name("wide_regression_neural_tangents.py")


class Erf(nn.Module):
    """The error function."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:  # noqa: D102
        return torch.erf(x)


def ours(x: torch.Tensor, y: torch.Tensor, test: torch.Tensor) -> dict[str, np.ndarray]:
    """Return means (N', K) and variances (N',) at all times, and at the end for all ridges."""
    network = nn.Sequential(
        nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 8), Erf(), nn.Linear(8, y.shape[1])
    )
    found = {}
    for ridge in RIDGES:
        for name, kind in (("ntk", "wide"), ("nngp", "wide_nngp")):
            model = fw.KernelRegression(network, kind=kind, ridge=ridge, **LAW).fit(x, y)
            mean, deviation = model.predict(test, return_std=True)
            found[f"{name} {ridge:g} mean"] = mean.numpy()
            found[f"{name} {ridge:g} variance"] = deviation[:, 0].square().numpy()
    line = fw.linearised(network, x, y, kind="wide", **LAW)
    pairs = zip(TIMES, line.outputs(test, TIMES), line.deviations(test, TIMES), strict=True)
    for time, mean, deviation in pairs:
        found[f"flow {time:g} mean"] = mean.numpy()
        found[f"flow {time:g} variance"] = deviation[:, 0].square().numpy()
    return found


def main() -> None:
    """Compare, and print the differences."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--neural-tangents", metavar="PYTHON", required=True)
    options = parser.parse_args()
    torch.manual_seed(0)
    x = torch.randn((40, 6)).double()
    y = torch.randn((40, 3)).double()
    test = torch.randn((20, 6)).double()
    with tempfile.TemporaryDirectory() as folder:
        given = Path(folder) / "given.npz"
        result = Path(folder) / "found.npz"
        np.savez(given, x=x, y=y, test=test, times=TIMES, ridges=RIDGES, **LAW)
        subprocess.run([options.neural_tangents, THEIRS, given, result], check=True)
        theirs = dict(np.load(result))
    errors = {}
    for name, values in ours(x, y, test).items():
        errors[name] = np.abs(values - theirs[name]).max() / np.abs(theirs[name]).max()
        print(f"{name:20}{errors[name]:.1e}")
    if max(errors.values()) > TOLERANCE:
        raise SystemExit(f"a difference is above {TOLERANCE:g}")


if __name__ == "__main__":
    main()
