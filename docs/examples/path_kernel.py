"""Gated networks and the neural path kernel: does training align the gates with the labels?

A ReLU network is trained to tell two classes of scikit-learn's digits apart. Its gates, which say
which units are active for which image, give the neural path kernel H. The number nu is the energy
of the labels in the inverse of H of unit trace (`npf`, section 6.2): the smaller it is, the better
frozen gates suit the labels. The script prints nu after more and more epochs.
"""

import argparse

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import Tensor

import finitewidth as fw


def images(first: int, second: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the images (n, 64) of two classes, between 0 and 1, and their labels (n,)."""
    digits = load_digits()
    chosen = np.isin(digits.target, (first, second))
    return (digits.data[chosen] / 16).astype("float32"), (digits.target[chosen] == second).astype(
        int
    )


def gates(weights: dict[str, np.ndarray], x: np.ndarray, hidden: int) -> list[Tensor]:
    """Return the gates of a stack of ReLU networks, one tensor (seeds, n, width) per layer."""
    z, found = torch.from_numpy(x), []
    for layer in range(hidden):
        weight = torch.from_numpy(weights[f"value/{layer}.weight"])
        bias = torch.from_numpy(weights[f"value/{layer}.bias"])
        q = z @ weight + bias.reshape(len(weight), 1, -1)
        found.append((q > 0).double())
        z = torch.relu(q)
    return found


def nu_by_epoch(epochs: list[int], width: int, hidden: int, count: int) -> dict[int, np.ndarray]:
    """Train networks and compute nu of their gates.

    Args:
        epochs: numbers of epochs of training, each at least 1.
        width: of the hidden layers.
        hidden: number of hidden layers.
        count: number of images on which the gates are compared.

    Returns:
        Number of epochs -> nu (seeds,).
    """
    x, y = images(4, 7)
    signs = torch.from_numpy(2.0 * y[:count] - 1)
    found = {}
    for number in epochs:
        _, weights = fw.train_gated(
            (x, y), (x, y), architecture=fw.Architecture(dense=(width,) * hidden), epochs=number
        )
        kernel = fw.npk(
            torch.from_numpy(x[:count]).double(),
            gates(weights, x[:count], hidden),
            normalise="trace",
        )
        found[number] = fw.nu(signs, kernel, ridge=1e-8).nu.numpy()
    return found


def main() -> None:
    """Print nu by epoch, mean and standard deviation over three networks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--images", type=int, default=100)
    options = parser.parse_args()
    print(f"nu of {options.images} images")
    for number, nu in nu_by_epoch([1, 5, 20], options.width, 4, options.images).items():
        print(f"  after {number:2} epochs {nu.mean():8.0f} ± {nu.std(ddof=1):.0f}")


if __name__ == "__main__":
    main()
