"""Kernel regression with your own torch module, beside the network itself after training.

The tangent kernel of a network at its start predicts what training would reach if the kernel did
not change. The script takes one module and scikit-learn's digits, computes the prediction of the
kernel at the start and at the end of training, and trains the module by Adam on squared errors.
"""

import argparse
import copy

import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn

import finitewidth as fw

CLASSES = 10


def data(train: int, test: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return images (n, 64) of unit mean square and labels (n,), for training and testing."""
    digits = load_digits()
    order = torch.randperm(len(digits.target), generator=torch.Generator().manual_seed(0))
    x = torch.from_numpy(digits.data).float()[order]
    y = torch.from_numpy(digits.target).long()[order]
    x = x / x.square().mean(1, keepdim=True).sqrt()
    return x[:train], y[:train], x[train : train + test], y[train : train + test]


def trained(network: nn.Module, x: Tensor, y: Tensor, steps: int) -> nn.Module:
    """Return a copy of a network after full-batch steps of Adam on squared errors."""
    network = copy.deepcopy(network)
    optimiser = torch.optim.Adam(network.parameters(), lr=0.003)
    targets = nn.functional.one_hot(y, CLASSES).float()
    for _ in range(steps):
        optimiser.zero_grad()
        nn.functional.mse_loss(network(x), targets).backward()
        optimiser.step()
    return network


def accuracies(width: int, train: int, test: int, steps: int) -> dict[str, float]:
    """Compute the test accuracy of the network and of two kernels, as fractions."""
    torch.manual_seed(0)
    network = nn.Sequential(
        nn.Linear(64, width),
        nn.ReLU(),
        nn.Linear(width, width),
        nn.ReLU(),
        nn.Linear(width, CLASSES),
    )
    x, y, x_test, y_test = data(train, test)
    after = trained(network, x, y, steps)
    targets = nn.functional.one_hot(y, CLASSES)
    found = {"trained network": after(x_test)}
    for name, module in (("kernel at the start", network), ("kernel after training", after)):
        found[name] = fw.KernelRegression(module, ridge=1e-6).fit(x, targets).predict(x_test)
    return {name: float((f.argmax(1) == y_test).double().mean()) for name, f in found.items()}


def main() -> None:
    """Print the test accuracies."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--width", type=int, default=200)
    parser.add_argument("--train", type=int, default=200)
    parser.add_argument("--steps", type=int, default=300)
    options = parser.parse_args()
    found = accuracies(options.width, options.train, test=500, steps=options.steps)
    print(f"test accuracy after training on {options.train} images")
    for name, accuracy in found.items():
        print(f"  {name:22}{accuracy:7.1%}")


if __name__ == "__main__":
    main()
