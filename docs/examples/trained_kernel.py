"""Tangent kernel of torchvision's ResNet-18 with random weights: whole, by layer, and its norm.

Run ``python docs/examples/trained_kernel.py --inputs 16 --size 64``. Nothing is downloaded.
"""

import argparse

import torch
from torch import Tensor
from torchvision.models import resnet18

from finitewidth.kernels.trained import kernel_terms, largest_eigenvalue, traced_kernel


def kernels(inputs: int, size: int, outputs: int = 10) -> tuple[Tensor, dict[str, Tensor], float]:
    """Compute kernels of a ResNet-18 of random weights on random images.

    Args:
        inputs: number of images, N.
        size: their height and width in pixels.
        outputs: number of outputs of the network, K.

    Returns:
        The traced kernel (N, N), its parts by layer, and the largest eigenvalue of the full kernel
        of all outputs, (N K, N K).
    """
    torch.manual_seed(0)
    network = resnet18(num_classes=outputs).eval()  # batch norms use running statistics
    images = torch.randn(inputs, 3, size, size)
    theta = traced_kernel(network, images)
    by_layer = kernel_terms(network, images)  # {"conv1": (N, N), ..}; their sum is theta
    largest = largest_eigenvalue(network, images, tolerance=1e-4)
    return theta, by_layer, float(largest.value)


def main() -> None:
    """Print some numbers of the kernels of a ResNet-18."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=16)
    parser.add_argument("--size", type=int, default=64)
    options = parser.parse_args()
    theta, by_layer, largest = kernels(options.inputs, options.size)
    print(f"trace of the kernel: {theta.trace():.4g}")
    print(f"largest eigenvalue of the kernel of all outputs: {largest:.4g}")
    print("layers with the largest share of the trace:")
    shares = {name: float(part.trace() / theta.trace()) for name, part in by_layer.items()}
    for name in sorted(shares, key=shares.get, reverse=True)[:5]:
        print(f"  {name:24}{shares[name]:8.1%}")


if __name__ == "__main__":
    main()
