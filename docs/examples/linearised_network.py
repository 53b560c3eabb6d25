"""A network in training beside its linearisation: they part less, the wider the network is.

The linearised network f_0(x) + J(x) (theta - theta_0) has a training in closed form. The script
trains networks of several widths by gradient descent, each layer scaled so that its kernel has a
limit, and prints how far their test outputs are from those of their linearisations after as many
steps, as a share of how far training moved them.
"""

import argparse
import copy
from collections.abc import Sequence

import torch
from torch import Tensor, nn

import finitewidth as fw

INPUTS = 16


class Scaled(nn.Linear):
    """A layer whose weights are standard normal, and its outputs divided by sqrt(fan-in)."""

    def __init__(self, fan_in: int, fan_out: int):
        super().__init__(fan_in, fan_out, bias=False)
        nn.init.normal_(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        """Return the outputs (N, fan_out)."""
        return super().forward(x) / self.in_features**0.5


def descended(network: nn.Module, x: Tensor, y: Tensor, rate: float, steps: int) -> nn.Module:
    """Return a copy of a network after steps of gradient descent, with the loss of linearised."""
    network = copy.deepcopy(network)
    descent = torch.optim.SGD(network.parameters(), lr=rate)
    for _ in range(steps):
        descent.zero_grad()
        ((network(x) - y).square().sum() / (2 * len(x))).backward()
        descent.step()
    return network


def gaps(widths: Sequence[int], steps: int, seeds: int = 5) -> list[float]:
    """Return the median distance from the linearised network, for each width."""
    stream = torch.Generator().manual_seed(0)
    x, test = (torch.randn(40, INPUTS, generator=stream) for _ in range(2))
    y = x[:, :1].sign()
    found = []
    for width in widths:
        distances = []
        for seed in range(seeds):
            torch.manual_seed(seed)
            network = nn.Sequential(Scaled(INPUTS, width), nn.Tanh(), Scaled(width, 1))
            flow = fw.linearised(network, x, y)
            rate = 1 / float(flow.eigenvalues[-1])  # half of the largest stable one
            line = fw.linearised(network, x, y, rate=rate)
            before, after = line.outputs(test, 0), line.outputs(test, steps)
            trained = descended(network, x, y, rate, steps)(test).detach()
            distances.append(float((trained - after).norm() / (after - before).norm()))
        found.append(float(torch.tensor(distances).median()))
    return found


def main() -> None:
    """Print the distances."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--widths", type=int, nargs="+", default=[32, 128, 512, 2048])
    parser.add_argument("--steps", type=int, default=100)
    options = parser.parse_args()
    print(f"test outputs after {options.steps} steps: distance of the network from its")
    print("linearisation, as a share of the change by training")
    for width, distance in zip(options.widths, gaps(options.widths, options.steps), strict=True):
        print(f"  width {width:5}  {distance:7.1%}")


if __name__ == "__main__":
    main()
