"""The examples of the documentation run, and show what they say."""

import runpy
import sys
from pathlib import Path

import pytest
import torch

EXAMPLE = Path(__file__).parents[2] / "docs/examples/trained_kernel.py"


@pytest.mark.usefixtures("one_thread")
def test_kernel_of_a_resnet_of_torchvision():
    theta, by_layer, largest = runpy.run_path(str(EXAMPLE))["kernels"](2, 32, outputs=2)
    assert theta.shape == (2, 2)
    assert {"conv1", "bn1", "layer4.1.conv2", "fc"} <= set(by_layer)
    torch.testing.assert_close(sum(by_layer.values()), theta, rtol=1e-10, atol=0)
    values = torch.linalg.eigvalsh(theta)
    assert values[0] > 0
    # the traced kernel is the sum of the K blocks on the diagonal of the full kernel
    assert values[-1] / 2 <= largest <= theta.trace()


@pytest.mark.usefixtures("one_thread")
def test_what_it_prints(capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", [str(EXAMPLE), "--inputs", "2", "--size", "32"])
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith("trace of the kernel: ")
    assert len(printed) == 8
    assert all(line.endswith("%") for line in printed[3:])
