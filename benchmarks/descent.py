"""Gradients, CPU time and error of graded steps and of gradient flow, beside single steps.

``python benchmarks/descent.py`` prints the table of docs/performance.md. The networks are some of
trust Figures 3 and 4 at preset ``quick``, on the bundled digits.
"""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from finitewidth.common.torch_setup import prepare_torch
from finitewidth.data import bundled
from finitewidth.kernels.trained import FullyConnected
from finitewidth.papers.trust.experiments.descent import images
from finitewidth.settings.presets import preset_only
from finitewidth.training.descent import Descent, DescentPlan, descend
from finitewidth.training.fully_connected import Draw, in_span_of_inputs, initial_stack

CONFIG = Path(__file__).parents[1] / "config"
MODES = {"tanh": ("graded", "flow"), "relu": ("graded",)}


def main() -> None:
    """Print a row for each network."""
    prepare_torch(1)
    header = ["activation", "layers", "σ_w²", "rate × λ_max"]
    for mode in MODES["tanh"]:
        header += [f"{mode}: gradients", "speed-up", "error"]
    print_row(header)
    print_row(["---"] * len(header))
    trust = preset_only("quick", CONFIG)["trust"]
    digits = bundled.digits()
    for activation in MODES:
        settings = trust[f"descent_{activation}"]
        x, y = images(digits, settings["samples"])
        for depth in settings["depths"][1:]:
            for sigma_w2 in settings["sigma_w2"][::2]:
                widths = [x.shape[1], *[settings["width"]] * (depth - 1), y.shape[1]]
                drawn = initial_stack(("benchmark",), [Draw(sigma_w2, 1.0, 0)], widths, activation)
                cells = measured(*in_span_of_inputs(drawn, x), y, settings)
                print_row([activation, str(depth), f"{sigma_w2:g}", *cells])


def measured(
    stack: FullyConnected, x: torch.Tensor, y: torch.Tensor, settings: Mapping[str, Any]
) -> list[str]:
    """Return the cells of a network: its rate, and three for each mode."""
    single, seconds = timed(stack, x, y, settings, "steps")
    cells = [f"{single.ends[0]['eta_lambda_start']:.4f}"]
    for mode in MODES["tanh"]:
        if mode not in MODES[settings["activation"]]:
            cells += ["–"] * 3
            continue
        result, taken = timed(stack, x, y, settings, mode)
        gradients = settings["steps"] / result.ends[0]["gradients"]
        error = f"{100 * difference(single, result):.2g} %"
        cells += [f"{gradients:.1f}", f"{seconds / taken:.1f}", error]
    return cells


def timed(
    stack: FullyConnected, x: torch.Tensor, y: torch.Tensor, settings: Mapping[str, Any], mode: str
) -> tuple[Descent, float]:
    """Return the result of a descent and its CPU seconds."""
    same = {name: settings[name] for name in ("steps", "cap", "share")}
    plan = DescentPlan(
        rates=(settings["rate"],), times=tuple(settings["times"]), mode=mode, stop=None, **same
    )
    started = time.process_time()
    result = descend(stack, x, y, plan)
    return result, time.process_time() - started


def difference(one: Descent, two: Descent) -> float:
    """Return the largest relative difference of the changes of the kernel after time 0."""
    pairs = zip(one.snapshots, two.snapshots, strict=True)
    return max(abs(b["change"] / a["change"] - 1) for a, b in pairs if a["time"])


def print_row(cells: list[str]) -> None:
    """Print a row of a Markdown table."""
    print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
