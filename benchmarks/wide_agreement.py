"""Kernels of infinitely wide networks beside those of neural-tangents.

    .venv/bin/python benchmarks/wide_agreement.py --neural-tangents build/neural-tangents/bin/python

Random architectures are built in both libraries. It prints the largest differences, and ends with
an error if one is larger than the tolerance.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
import torch  # noqa: E402
from benchmarks.wide_architectures import (  # noqa: E402
    CHANNELS,
    SIDE,
    architectures,
    is_convolutional,
)
from torch import Tensor, nn  # noqa: E402

from finitewidth.kernels.wide import wide_kernel  # noqa: E402

WIDTH, FEATURES, INPUTS = 6, 5, 4
SETTINGS = {"sigma_w2": 1.6, "sigma_b2": 0.3}
# of the largest entry; neural-tangents rounds the arc cosine of kinked activations near 1
TOLERANCE, KINKED = 1e-10, 1e-8
KINKS = ("relu", "leaky", "abs")
ACTIVATIONS = {
    "relu": torch.relu,
    "leaky": lambda h: nn.functional.leaky_relu(h, 0.2),
    "abs": torch.abs,
    "erf": torch.erf,
    "gelu": nn.functional.gelu,
    "sin": torch.sin,
    "cos": torch.cos,
}


class Steps(nn.Module):
    """An architecture of `wide_architectures`, for inputs of a shape."""

    def __init__(self, steps: list, shape: tuple[int, ...]) -> None:
        super().__init__()
        self.steps = steps
        self.parts = nn.ModuleList()
        x = torch.zeros(2, *shape)
        for step in steps:
            self.parts.append(made(step, tuple(x.shape[1:])))
            x = self.after(x, step, self.parts[-1])
        self.shape = tuple(x.shape[1:])

    def after(self, x: Tensor, step: list, part: nn.Module) -> Tensor:
        """Return the tensor after a step."""
        kind = step[0]
        if kind in ACTIVATIONS:
            return ACTIVATIONS[kind](x)
        if kind == "residual":
            return x + part(x)
        if kind == "concatenate":
            return torch.cat([part[0](x), part[1](x)], 1)
        if kind == "global average":
            return x.mean((2, 3))
        return part(x)

    def forward(self, x: Tensor) -> Tensor:  # noqa: D102
        for step, part in zip(self.steps, self.parts):  # noqa: B905, which torch.fx cannot read
            x = self.after(x, step, part)
        return x


def made(step: list, shape: tuple[int, ...]) -> nn.Module:
    """Return the module of a step, for tensors of a shape."""
    kind, *rest = step
    if kind == "dense":
        return nn.Linear(shape[0], WIDTH)
    if kind == "conv":
        taps, stride, padding = rest
        mode = "circular" if padding == "circular" else "zeros"
        around = 0 if padding == "valid" else taps // 2
        return nn.Conv2d(shape[0], WIDTH, taps, stride, around, padding_mode=mode)
    if kind == "average":
        return nn.AvgPool2d(rest[0])
    if kind == "flatten":
        return nn.Flatten()
    if kind in ("residual", "concatenate"):
        parts = [Steps(part, shape) for part in rest]
        return parts[0] if kind == "residual" else nn.ModuleList(parts)
    return nn.Identity()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--neural-tangents", required=True, help="its Python")
    parser.add_argument("--count", type=int, default=60, help="architectures")
    options = parser.parse_args()
    stream = np.random.default_rng(0)
    arrays = {
        "images": stream.standard_normal((INPUTS, SIDE, SIDE, CHANNELS)),
        "vectors": stream.standard_normal((INPUTS, FEATURES)),
    }
    drawn = architectures(options.count)
    with tempfile.TemporaryDirectory() as folder:
        given = Path(folder, "in.npz")
        result = Path(folder, "out.npz")
        np.savez(given, settings=json.dumps(SETTINGS | {"architectures": drawn}), **arrays)
        script = Path(__file__).with_name("wide_neural_tangents.py")
        subprocess.run([options.neural_tangents, script, given, result], check=True)
        theirs = dict(np.load(result))
    worst = 0.0
    failed = False
    for at, steps in enumerate(drawn):
        images = is_convolutional(steps)
        x = torch.from_numpy(arrays["images"]).permute(0, 3, 1, 2) if images else arrays["vectors"]
        network = Steps(steps, tuple(x.shape[1:]))
        for kind in ("ntk", "nngp"):
            ours = wide_kernel(network, x, kind=kind, **SETTINGS).numpy()
            wanted = theirs[f"{kind} {at}"]
            error = float(abs(ours - wanted).max() / abs(wanted).max())
            worst = max(worst, error)
            kinked = any(kink in json.dumps(steps) for kink in KINKS)
            if error > (KINKED if kinked else TOLERANCE):
                failed = True
                print(f"{at} {kind}: {error:.1e}  {steps}")
    print(f"{len(drawn)} architectures, largest difference {worst:.1e} of the largest entry")
    if failed:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
