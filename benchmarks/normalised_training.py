"""Time of the training of networks with BatchNorm: in a stack, and one by one in plain torch.

Run ``python benchmarks/normalised_training.py [--threads 1]``. Times are milliseconds of CPU time
per network and step with batches of 60 images of 8×8 pixels. They are medians over steps in which
the candidates alternate:

- plain: one module under ``torch.optim.SGD`` with Nesterov momentum and weight decay;
- stack: a step of `finitewidth.training.normalised`;
- share: the part of this step that is not the forward and the backward pass of the networks.
"""

import argparse
import platform
import statistics
import time
from collections.abc import Callable

import torch
import torch.nn.functional as F  # noqa: N812

from finitewidth.common.provenance import environment
from finitewidth.common.torch_setup import prepare_torch
from finitewidth.data.bundled import digits
from finitewidth.networks.normalised.initial import initial_state
from finitewidth.networks.normalised.plain import build
from finitewidth.networks.normalised.specs import Network
from finitewidth.networks.normalised.stacked import StackedNetwork
from finitewidth.training.balanced import BalancedImages, balanced_images
from finitewidth.training.normalised import NormalisedPlan, _Training

NETWORKS = {
    "VGG": Network(kind="vgg", convolutions=(8, "M", 16, "M", 32, "M"), dense=(64, 32)),
    "ResNet": Network(kind="resnet", channels=(8, 16, 32), blocks=(1, 1, 1)),
    "DenseNet": Network(kind="densenet", growth=8, blocks=(2, 2), stem=16, pooled_stem=True),
}
RATE, DECAY, PER_CLASS = 0.1, 0.005, 6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--replicas", type=int, nargs="+", default=[1, 4, 12])
    parser.add_argument("--steps", type=int, default=60)
    options = parser.parse_args()
    prepare_torch(options.threads)
    machine = environment()["machine"]
    print(f"{machine['processor']}, {platform.system()}, torch {torch.__version__}")
    print("network    replicas  plain  stack  ratio  share")
    images = balanced_images(digits())
    for name, network in NETWORKS.items():
        for replicas in options.replicas:
            plain, stack, bare = timed(network, images, replicas, options.steps)
            print(
                f"{name:10s} {replicas:8d} {1e3 * plain:6.2f} {1e3 * stack / replicas:6.2f} "
                f"{plain * replicas / stack:6.2f} {1 - bare / stack:6.1%}"
            )


def timed(
    network: Network, images: BalancedImages, replicas: int, steps: int
) -> tuple[float, float, float]:
    """Median seconds of a plain step, a step of the stack, and its passes alone."""
    states = [
        initial_state(build(network, images.shape, images.classes), "lecun", f"benchmark {number}")
        for number in range(replicas)
    ]
    stack = StackedNetwork.from_states(network, images.shape, images.classes, states)
    plan = NormalisedPlan(
        rates=(RATE,) * replicas,
        epochs=1,
        batch_per_class=PER_CLASS,
        order="benchmark",
        decay=DECAY,
    )
    training = _Training(stack, images, plan, lambda *_: [])
    batch = torch.arange(PER_CLASS * images.classes)
    x = images.train_x[batch]
    module = build(network, images.shape, images.classes)
    module.load_state_dict(states[0])
    candidates = (
        plain_step(module, x, training.labels),
        lambda: training._step(batch),
        lambda: passes(stack, x),
    )
    seconds = [[], [], []]
    for number in range(steps + 5):
        for candidate, found in zip(candidates, seconds, strict=True):
            started = time.process_time()
            candidate()
            if number >= 5:
                found.append(time.process_time() - started)
    return tuple(map(statistics.median, seconds))


def plain_step(module: torch.nn.Module, x: torch.Tensor, y: torch.Tensor) -> Callable[[], None]:
    groups = [
        {"params": [p for p in module.parameters() if p.dim() > 1], "weight_decay": DECAY},
        {"params": [p for p in module.parameters() if p.dim() <= 1]},
    ]
    optimiser = torch.optim.SGD(groups, lr=RATE, momentum=0.9, nesterov=True)
    target = F.one_hot(y, 10).float()

    def step() -> None:
        loss = F.mse_loss(module(x), target) / 2
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()

    return step


def passes(stack: StackedNetwork, x: torch.Tensor) -> None:
    _, outputs = stack.forward(x, training=True)
    torch.autograd.grad(outputs.square().mean(), list(stack.parameters.values()))


if __name__ == "__main__":
    main()
