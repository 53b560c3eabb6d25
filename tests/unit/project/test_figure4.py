"""`benchmarks/figure4.py` at a smoke size: rounding, products, and the rows that it prints."""

import re

import numpy as np
import pytest
import torch
from benchmarks import figure4
from torch import nn

from finitewidth.data.store import Dataset

ROW = re.compile(
    r"step (\d+): diagonal (\S+), same class (\S+), other class (\S+), "
    r"training loss (\S+), test loss (\S+)"
)
MANTISSA = {"tf32": 10, "bf16": 7}  # bits
IMAGES = 40
PER_CLASS = 4
SIGMA_W2 = 2.2
RATE = 1e-2


@pytest.mark.parametrize("precision", MANTISSA)
def test_numbers_are_rounded_to_the_nearest_with_half_to_even(precision):
    bits = MANTISSA[precision]
    halves = 1 + (torch.arange(2**8) + 0.5) * 2.0**-bits  # between two neighbours
    values = torch.cat([torch.randn(1000), halves.float(), -halves.float()])
    mantissa, exponent = np.frexp(values.double().numpy())
    expected = np.ldexp(np.round(mantissa * 2 ** (bits + 1)), exponent - bits - 1)
    assert (figure4.rounded(values, precision).double().numpy() == expected).all()


@pytest.mark.parametrize("precision", ["f32", "f64"])
def test_other_precisions_round_nothing(precision):
    values = torch.randn(100, dtype=torch.float64)
    assert figure4.rounded(values, precision) is values


def test_gradients_of_a_product_are_those_of_autograd():
    x = torch.randn(5, 4, dtype=torch.float64, requires_grad=True)
    weights = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x, w: figure4.Product.apply(x, w, "f64"), (x, weights))


def test_both_factors_of_a_product_are_rounded_backward_too():
    x = torch.randn(5, 4, requires_grad=True)
    weights = torch.randn(4, 3, requires_grad=True)
    cotangent = torch.randn(5, 3)
    product = figure4.Product.apply(x, weights, "bf16")
    product.backward(cotangent)
    rounded_x = x.detach().bfloat16().float()
    rounded_weights = weights.detach().bfloat16().float()
    rounded_cotangent = cotangent.bfloat16().float()
    assert torch.equal(product, rounded_x @ rounded_weights)
    assert torch.equal(x.grad, rounded_cotangent @ rounded_weights.mT)
    assert torch.equal(weights.grad, rounded_x.mT @ rounded_cotangent)


def made_up_mnist():
    stream = np.random.default_rng(0)
    labels = np.arange(2 * IMAGES) % 10
    images = stream.integers(0, 256, (2 * IMAGES, 28, 28, 1), dtype=np.uint8)
    return Dataset(
        name="mnist",
        title="made up",
        class_names=tuple("0123456789"),
        origin="random numbers",
        train_images=images[:IMAGES],
        train_labels=labels[:IMAGES],
        test_images=images[IMAGES:],
        test_labels=labels[IMAGES:],
    )


def plain_network():
    """The network of `figure4.start`, as modules of torch."""
    weights, biases = figure4.start(SIGMA_W2, 0, torch.float64)
    layers = []
    for weight, bias in zip(weights, biases, strict=True):
        layer = nn.Linear(*weight.shape).double()
        layer.weight.data = weight.detach().mT.clone()
        layer.bias.data = bias.detach().clone()
        layers += [layer, nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def half_squared_error(network, x, labels):
    targets = nn.functional.one_hot(torch.tensor(labels), 10).double()
    return (network(x) - targets).square().sum(1).mean() / 2


def block_means(network, x, labels):
    """Mean of the diagonal of the traced kernel, and of both kinds of pairs over it, by loops."""
    rows = []
    for image in x:
        of_image = []
        for output in network(image[None])[0]:
            gradients = torch.autograd.grad(output, list(network.parameters()), retain_graph=True)
            of_image.append(torch.cat([gradient.flatten() for gradient in gradients]))
        rows.append(torch.cat(of_image))
    jacobian = torch.stack(rows)
    kernel = (jacobian @ jacobian.mT).numpy()
    same = labels[:, None] == labels
    diagonal = np.eye(len(x), dtype=bool)
    mean = kernel[diagonal].mean()
    return mean, kernel[same & ~diagonal].mean() / mean, kernel[~same].mean() / mean


def test_rows_are_those_of_plain_torch(monkeypatch, capsys):
    data = made_up_mnist()
    monkeypatch.setattr(figure4, "load_original", lambda *_, **__: data)
    monkeypatch.setattr(figure4, "HIDDEN", 3)
    monkeypatch.setattr(figure4, "WIDTH", 12)
    monkeypatch.setattr(figure4, "PIECE", 15)
    monkeypatch.setattr(figure4, "PER_CLASS", PER_CLASS)
    figure4.main(["--precision", "f64", "--steps", "2", "--rate", str(RATE)])
    rows = [[float(word) for word in row] for row in ROW.findall(capsys.readouterr().out)]
    assert [row[0] for row in rows] == [0, 1, 2]

    network = plain_network()
    x = torch.tensor(data.train_images.reshape(IMAGES, -1) / 255.0)
    x_test = torch.tensor(data.test_images.reshape(IMAGES, -1) / 255.0)
    adam = torch.optim.Adam(network.parameters(), lr=RATE)
    for row in rows:
        loss = half_squared_error(network, x, data.train_labels)
        test_loss = half_squared_error(network, x_test, data.test_labels)
        diagonal, same, other = block_means(network, x, data.train_labels)
        expected = [diagonal, same, other, loss.item(), test_loss.item()]
        assert row[1:] == pytest.approx(expected, rel=6e-3)  # three digits are printed
        adam.zero_grad()
        loss.backward()
        adam.step()
    assert rows[2][4] < rows[0][4]


def test_some_images_are_drawn_and_all_stay_in_order():
    assert (figure4.chosen_images(5, 9, seed=0) == np.arange(5)).all()
    some = figure4.chosen_images(50, 9, seed=3)
    assert len(set(some)) == 9
    assert (some == figure4.chosen_images(50, 9, seed=3)).all()
    assert (some != figure4.chosen_images(50, 9, seed=4)).any()
