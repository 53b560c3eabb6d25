"""The examples of the documentation run, and show what they say."""

import runpy
import sys

import pytest
import torch
from tests.helpers.project import ROOT

FOLDER = ROOT / "docs/examples"


PRINTED = {
    "dispersion": ["--width", "20", "--draws", "200"],
    "kernel_regression": ["--width", "16", "--train", "50", "--steps", "5"],
    "linearised_network": ["--widths", "8", "16", "--steps", "3"],
    "path_kernel": None,  # its parts are tested below
    "trained_kernel": ["--inputs", "2", "--size", "32"],
}


def example(name):
    return runpy.run_path(str(FOLDER / f"{name}.py"))


@pytest.mark.parametrize("name", sorted(file.stem for file in FOLDER.glob("*.py")))
def test_an_example_prints_what_it_found(name, capsys, monkeypatch):
    script = str(FOLDER / f"{name}.py")
    arguments = PRINTED[name]
    if arguments is not None:
        monkeypatch.setattr(sys, "argv", [script, *arguments])
        runpy.run_path(script, run_name="__main__")
        assert len(capsys.readouterr().out.splitlines()) > 3


def test_kernel_of_a_resnet_of_torchvision():
    theta, by_layer, largest = example("trained_kernel")["kernels"](2, 32, outputs=2)
    assert theta.shape == (2, 2)
    assert {"conv1", "bn1", "layer4.1.conv2", "fc"} <= set(by_layer)
    torch.testing.assert_close(sum(by_layer.values()), theta, rtol=1e-10, atol=0)
    values = torch.linalg.eigvalsh(theta)
    assert values[0] > 0
    # the traced kernel is the sum of the K blocks on the diagonal of the full kernel
    assert values[-1] / 2 <= largest <= theta.trace()


def test_dispersion_grows_with_depth_over_width():
    found = example("dispersion")["rows"](50, [0.1, 0.2, 0.4], draws=5000)
    exact = [row[1] for row in found]
    assert 1 < exact[0] < exact[1] < exact[2]
    for depth, value, limit, drawn in found:
        assert abs(drawn.value - value) < 5 * drawn.standard_error, depth
        assert value == pytest.approx(limit, rel=0.2)


def test_kernels_and_the_trained_network_learn_the_digits():
    found = example("kernel_regression")["accuracies"](64, train=100, test=200, steps=100)
    assert set(found) == {"trained network", "kernel at the start", "kernel after training"}
    assert min(found.values()) > 0.75  # chance is 0.1


def test_a_wide_network_stays_near_its_linearisation():
    narrow, wide = example("linearised_network")["gaps"]([16, 256], steps=30, seeds=3)
    assert wide < narrow / 2  # the distance is of order 1/sqrt(width)


def test_nu_falls_while_a_relu_network_learns():
    found = example("path_kernel")["nu_by_epoch"]([1, 20], width=32, hidden=3, count=60)
    assert found[20].shape == (3,)
    assert found[20].mean() < found[1].mean()
