"""`fw.linearised` beside the predictions of neural-tangents, from the same kernel.

    python benchmarks/linearised.py --neural-tangents build/neural-tangents/bin/python

It prints the largest differences of outputs, as shares of their norm, at several times of gradient
flow and at its end. benchmarks/neural_tangents.txt says how to make the environment. Kernels are
computed here: with those of neural-tangents the comparison would be one of two networks.
"""

import argparse
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn

import finitewidth as fw

TIMES = [0.0, 0.1, 1.0, 10.0, 100.0]
THEIRS = Path(__file__).with_name("linearised_neural_tangents.py")


def main() -> None:
    """Compare, and print the differences and the times that both took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--neural-tangents", metavar="PYTHON", required=True)
    parser.add_argument("--inputs", type=int, default=40)
    parser.add_argument("--outputs", type=int, default=3)
    options = parser.parse_args()
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, options.outputs)).double()
    x = torch.randn(options.inputs, 8).double()
    test = torch.randn(20, 8).double()
    classes = torch.arange(options.inputs) % options.outputs
    targets = nn.functional.one_hot(classes, options.outputs).double()

    ours = {}
    seconds = {}
    for loss, y in (("squared", targets), ("cross_entropy", classes)):
        began = time.process_time()
        line = fw.linearised(network, x, y, loss=loss)
        ours[loss] = line.outputs(test, TIMES).numpy()
        ours[f"{loss} train"] = line.train_outputs(TIMES).numpy()
        seconds[loss] = time.process_time() - began
        if loss == "squared":
            ours["end"] = line.outputs(test).numpy()

    with tempfile.TemporaryDirectory() as folder:
        given = Path(folder) / "given.npz"
        found = Path(folder) / "found.npz"
        np.savez(
            given,
            train=fw.full_kernel(network, x).permute(1, 3, 0, 2).numpy(),
            across=fw.cross_kernel(network, test, x, kind="full").permute(1, 3, 0, 2).numpy(),
            start=network(x).detach().numpy(),
            start_test=network(test).detach().numpy(),
            targets=targets.numpy(),
            times=TIMES,
        )
        subprocess.run([options.neural_tangents, THEIRS, given, found], check=True)
        theirs = dict(np.load(found))
    for name, outputs in ours.items():
        error = np.linalg.norm(outputs - theirs[name]) / np.linalg.norm(theirs[name])
        print(f"{name:20}{error:.1e}")
    print("CPU seconds of ours, with the kernels:", {k: round(v, 3) for k, v in seconds.items()})


if __name__ == "__main__":
    main()
