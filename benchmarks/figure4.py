"""One network of Figure 4 of `beyond`: number of images, random start, precision and rate of Adam.

``FINITEWIDTH_DATA=DATA python benchmarks/figure4.py --images 60000 --steps 100`` prints a row for
some steps. It has streams and code of its own, so that it also checks the job `beyond_training`.
``--precision tf32`` and ``bf16`` round both factors of each product of matrices, as graphics cards
do by default; the weights and Adam stay in float32. docs/laptop.md has what it printed.
"""

import argparse
import itertools
from typing import Any

import numpy as np
import torch
from torch import Tensor

from finitewidth.data.original import load_original
from finitewidth.data.places import data_root
from finitewidth.data.select import first_per_class
from finitewidth.kernels.trained import FullyConnected, traced_kernel
from finitewidth.measures.blocks import BlockMeans, block_means

HIDDEN, WIDTH, CLASSES = 20, 300, 10
PER_CLASS = 10  # images of each class in the kernel
PIECE = 3000  # images of which a gradient is computed at once
TEST_IMAGES = 2000
SHOWN = (0, 1, 2, 5, 10, 20, 50, 100, 200, 300, 500, 700, 1000, 1300, 1600, 2000, 2500, 3000)


def rounded(values: Tensor, precision: str) -> Tensor:
    """Round float32 numbers to the mantissa of ``tf32``, 10 bits, or ``bf16``, 7 bits."""
    if precision == "bf16":
        return values.bfloat16().float()
    if precision == "tf32":
        bits = values.contiguous().view(torch.int32)
        half_to_even = 0xFFF + ((bits >> 13) & 1)
        return ((bits + half_to_even) & ~0x1FFF).view(torch.float32)
    return values


class Product(torch.autograd.Function):
    """A product of matrices, (S, n) times (n, m), whose factors are rounded, backward too."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, weights: Tensor, precision: str) -> Tensor:
        """Multiply the rounded factors."""
        inputs = rounded(inputs, precision)
        weights = rounded(weights, precision)
        ctx.save_for_backward(inputs, weights)
        ctx.precision = precision
        return inputs @ weights

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor, None]:
        """Multiply the rounded gradient, (S, m), with the rounded factors."""
        inputs, weights = ctx.saved_tensors
        gradient = rounded(gradient, ctx.precision)
        back = gradient @ weights.mT if ctx.needs_input_grad[0] else None
        return back, inputs.mT @ gradient, None


def outputs(x: Tensor, weights: list[Tensor], biases: list[Tensor], precision: str) -> Tensor:
    """Outputs (S, 10) of the ReLU network on inputs (S, 784)."""
    for weight, bias in zip(weights[:-1], biases[:-1], strict=True):
        x = torch.relu(Product.apply(x, weight, precision) + bias)
    return Product.apply(x, weights[-1], precision) + biases[-1]


def start(sigma_w2: float, seed: int, dtype: torch.dtype) -> tuple[list[Tensor], list[Tensor]]:
    """Normal weights of variance sigma_w2 over fan-in, and biases of 0."""
    generator = torch.Generator().manual_seed(1000 + seed)
    widths = [28 * 28, *[WIDTH] * HIDDEN, CLASSES]
    weights = []
    biases = []
    for fan_in, fan_out in itertools.pairwise(widths):
        normal = torch.randn(fan_in, fan_out, generator=generator)
        weights.append((normal * (sigma_w2 / fan_in) ** 0.5).to(dtype).requires_grad_())
        biases.append(torch.zeros(fan_out, dtype=dtype, requires_grad=True))
    return weights, biases


def tensors(images: np.ndarray, labels: np.ndarray, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Pixels in [0, 1], (S, 784), and one-hot labels, (S, 10)."""
    x = torch.tensor(images.reshape(len(images), -1) / 255.0, dtype=dtype)
    y = torch.nn.functional.one_hot(torch.tensor(labels.astype(np.int64)), CLASSES)
    return x, y.to(dtype)


def loss(predicted: Tensor, targets: Tensor, images: int) -> Tensor:
    """Half the squared errors over a number of images."""
    return (predicted - targets).square().sum() / 2 / images


def gradients(
    x: Tensor, y: Tensor, weights: list[Tensor], biases: list[Tensor], precision: str
) -> float:
    """Add the gradients of the training loss to those of all parameters; return the loss."""
    total = 0.0
    for inputs, targets in zip(x.split(PIECE), y.split(PIECE), strict=True):
        predicted = outputs(inputs, weights, biases, precision)
        part = loss(predicted, targets, len(x))
        part.backward()
        total += float(part.detach())
    return total


def kernel_means(
    x: Tensor, labels: np.ndarray, weights: list[Tensor], biases: list[Tensor]
) -> BlockMeans:
    """Means of the traced kernel: on its diagonal, of a class, and of two classes."""
    stack = FullyConnected(
        [weight.detach()[None] for weight in weights],
        [bias.detach()[None] for bias in biases],
        "relu",
    )
    kernel = traced_kernel(stack, x)[0]  # (S, S)
    return block_means(kernel.double().numpy(), labels)


def chosen_images(count: int, images: int, seed: int) -> np.ndarray:
    """Indices of a random choice of images, or of all of them in order."""
    if images >= count:
        return np.arange(count)
    return np.random.default_rng(seed).permutation(count)[:images]


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--precision", default="f32", choices=["f32", "f64", "tf32", "bf16"])
    options.add_argument("--sigma-w2", type=float, default=2.2)
    options.add_argument("--images", type=int, default=1000)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--rate", type=float, default=1e-4)
    options.add_argument("--steps", type=int, default=3000)
    return options


def main(arguments: list[str] | None = None) -> None:
    """Train, and print a row for each step of `SHOWN`."""
    options = parser().parse_args(arguments)
    torch.set_num_threads(1)
    precision = options.precision
    dtype = torch.float64 if precision == "f64" else torch.float32
    data = load_original("mnist", data_root({}), download=False)
    chosen = chosen_images(len(data.train_images), options.images, options.seed)
    labels = data.train_labels[chosen]
    x, y = tensors(data.train_images[chosen], labels, dtype)
    x_test, y_test = tensors(data.test_images[:TEST_IMAGES], data.test_labels[:TEST_IMAGES], dtype)
    in_kernel = first_per_class(labels, range(CLASSES), PER_CLASS)
    weights, biases = start(options.sigma_w2, options.seed, dtype)
    adam = torch.optim.Adam([*weights, *biases], lr=options.rate)
    for step in range(options.steps + 1):
        adam.zero_grad()
        training_loss = gradients(x, y, weights, biases, precision)
        if step in SHOWN:
            with torch.no_grad():
                predicted = outputs(x_test, weights, biases, precision)
                test_loss = float(loss(predicted, y_test, len(x_test)))
            means = kernel_means(x[in_kernel], labels[in_kernel], weights, biases)
            same = means.same_class / means.diagonal
            other = means.other_class / means.diagonal
            print(
                f"step {step}: diagonal {means.diagonal:.4g}, same class {same:.3f}, other class "
                f"{other:.3f}, training loss {training_loss:.3g}, test loss {test_loss:.3g}",
                flush=True,
            )
        adam.step()


if __name__ == "__main__":
    main()
