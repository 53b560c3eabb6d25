"""What a call of the library takes: inputs, outputs, and the parameters that count."""

from collections import OrderedDict, UserDict, namedtuple
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import finitewidth as fw
from finitewidth.common.errors import ConfigError

N = 5
Fields = namedtuple("Fields", "loss logits")


@dataclass
class Result:
    loss: Any
    hidden: torch.Tensor


class TwoTowers(nn.Module):
    """Words with a mask, and an image."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(9, 4)
        self.image = nn.Linear(3, 4)
        self.head = nn.Linear(4, 2)

    def forward(self, ids, image, mask):
        words = (self.table(ids) * mask[..., None]).sum(1)
        return self.head(torch.tanh(words + self.image(image)))


@pytest.fixture(scope="module")
def towers():
    torch.manual_seed(0)
    network = TwoTowers().double()
    x = {
        "ids": torch.randint(9, (N, 6)),
        "image": torch.randn(N, 3, dtype=torch.float64),
        "mask": torch.rand(N, 6) > 0.3,
    }
    numbers = torch.arange(N)

    def of(at):
        return network(**{name: tensor[at] for name, tensor in x.items()})

    return network, x, fw.full_kernel(network, numbers, of=of)


def unchanged(x):
    return x


def in_another_order(x):
    return dict(reversed(x.items()))


def arrays_by_name(x):
    return {name: tensor.numpy() for name, tensor in x.items()}


def lists_by_name(x):
    return {name: tensor.tolist() for name, tensor in x.items()}


def by_position(x):
    return tuple(x.values())


def arrays_by_position(x):
    return tuple(tensor.numpy() for tensor in x.values())


def gradients_of(outputs, parameters):
    """The gradients of all outputs of each of the N inputs, one after another, as rows."""
    rows = []
    for output in outputs.reshape(-1):
        gradients = torch.autograd.grad(output, parameters, retain_graph=True)
        rows.append(torch.cat([gradient.flatten() for gradient in gradients]))
    return torch.stack(rows).view(N, -1)


FORMS = {
    "mapping": unchanged,
    "another mapping": UserDict,  # as that of a tokeniser
    "another order": in_another_order,
    "arrays by name": arrays_by_name,
    "lists by name": lists_by_name,
    "tuple": by_position,
    "arrays by position": arrays_by_position,
}


@pytest.mark.parametrize("form", FORMS)
def test_several_arguments_are_sliced_by_rows(form, towers):
    network, x, expected = towers
    given = FORMS[form](x)
    tolerance = {"rtol": 1e-12, "atol": 1e-12 * float(expected.abs().max())}
    traced = torch.einsum("kikj->ij", expected)

    torch.testing.assert_close(fw.full_kernel(network, given), expected, **tolerance)
    torch.testing.assert_close(fw.tiled_kernel(network, given, tile=2), traced, **tolerance)
    other = fw.cross_kernel(network, given, given)
    torch.testing.assert_close(other, traced, **tolerance)
    largest = fw.largest_eigenvalue(network, given).value
    exact = torch.linalg.eigvalsh(expected.reshape(2 * N, 2 * N))[-1]
    assert abs(largest - exact) < 1e-8 * exact


IDS = torch.zeros(N, 6, dtype=torch.int64)
IMAGE = torch.zeros(N, 3, dtype=torch.float64)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"image": IMAGE[:4]}, r"x\['image'\]: 4 rows must be 5"),
        ({"mask": None}, r"x\['mask'\]: NoneType must be a tensor"),
        ({"mask": 1.0}, r"x\['mask'\]: shape \(\) holds no inputs"),
        ({"image": IMAGE * torch.nan}, r"x\['image'\]: holds NaN"),
        ({"ids": [[1, 2], [3]]}, r"x\['ids'\]: its lists differ in length; pad"),
    ],
)
def test_an_argument_that_does_not_fit_is_refused_by_name(changes, words, towers):
    network, x, _ = towers
    with pytest.raises(ConfigError, match=words):
        fw.traced_kernel(network, x | changes)


@pytest.mark.parametrize(
    ("x", "words"),
    [
        ({}, "x: holds no inputs"),
        ({3: IDS}, "key 3 must be the name"),
        (
            {"ids": IDS},
            r"TypeError: .*missing 2 required.*by name: network is called as network\(\*\*x\)",
        ),
        (
            (IDS, IMAGE),
            r"TypeError: .*missing 1 required.*by position: network is called as network\(\*x\)",
        ),
    ],
)
def test_inputs_that_do_not_fit_are_refused(x, words, towers):
    network, _, _ = towers
    with pytest.raises(ConfigError, match=words):
        fw.traced_kernel(network, x)


def test_a_function_of_one_argument_is_told_how_a_mapping_is_passed(towers):
    network, x, expected = towers
    with pytest.raises(ConfigError, match=r"write of=lambda \*\*x: \.\.\."):
        fw.full_kernel(network, x, of=lambda batch: network(**batch))
    found = fw.full_kernel(network, x, of=lambda **x: network(**x))
    torch.testing.assert_close(found, expected)


def test_rows_of_numbers_are_one_argument():
    network = nn.Linear(2, 1)
    rows = ((1.0, 0.0), (0.0, 1.0))
    assert torch.equal(fw.traced_kernel(network, rows), fw.traced_kernel(network, torch.eye(2)))


def test_columns_with_other_arguments_are_refused(towers):
    network, x, _ = towers
    with pytest.raises(
        ConfigError, match="other: the arguments ids, image must be ids, image, mask"
    ):
        fw.cross_kernel(network, x, {name: x[name] for name in ("ids", "image")})
    with pytest.raises(ConfigError, match=r"other: inputs of shape \(2,\) must be \(3,\)"):
        fw.cross_kernel(network, x, x | {"image": x["image"][:, :2]})


class Returning(nn.Module):
    """A linear layer, with its outputs in some form."""

    def __init__(self, form):
        super().__init__()
        self.linear = nn.Linear(3, 2, dtype=torch.float64)
        self.form = form

    def forward(self, x):
        return self.form(self.linear(x))


def one_number(h):
    return h[:, 0]


def squeezed(h):
    return h[:, :1].squeeze()


def three_times(h):
    """Outputs with a further axis, (N, 3, 2)."""
    return h[:, None].expand(-1, 3, -1)


ONE_OUTPUT = {"(N,)": one_number, "squeezed": squeezed}
# forms of the outputs h (N, 2) that a function of the user can turn into outputs of a kernel
WITH_A_WAY = {
    "tuple": lambda h: (h, 1),
    "list": lambda h: [h],
    "later in a tuple": lambda h: (h.sum(), h),
    "named tuple": lambda h: Fields(h.sum(), h),
    "dictionary": lambda h: {"a key": h},
    "quotes in a key": lambda h: {"a 'key'": h},
    "ordered dictionary": lambda h: OrderedDict(loss=h.sum(), logits=h),
    "dataclass": lambda h: Result(None, h),
    "object": lambda h: SimpleNamespace(values=h),
    "distribution": lambda h: torch.distributions.Normal(h, 1.0),
    "nested": lambda h: {"of": [h]},
    "(N,) within": lambda h: {"one": h[:, 0]},
    "more axes": three_times,
    "more axes within": lambda h: (three_times(h),),
    "time first": lambda h: h.expand(2, -1, -1),
    "features first": lambda h: h.mT,
    "complex": lambda h: torch.complex(h, h),
    "complex (N,)": lambda h: torch.complex(h, h)[:, 0],
}
WITHOUT = {
    "a number": lambda h: h.sum(),
    "no row for each input": lambda h: h[:1],
    "classes": lambda h: h.argmax(1),
    "nothing": lambda h: None,
    "no gradient": lambda h: (h.detach(),),
}


@pytest.mark.parametrize("form", ONE_OUTPUT)
@pytest.mark.parametrize("samples", [1, 2, N])
def test_one_number_for_each_input_is_one_output(form, samples):
    network = Returning(ONE_OUTPUT[form])
    x = torch.randn(samples, 3, dtype=torch.float64)
    expected = x @ x.mT + 1
    assert fw.full_kernel(network, x).shape == (1, samples, 1, samples)
    torch.testing.assert_close(fw.traced_kernel(network, x), expected)


@pytest.mark.parametrize("form", WITH_A_WAY)
@pytest.mark.parametrize("by_name", [False, True])
def test_the_proposed_function_works(form, by_name):
    """What the message proposes is run as it stands there."""
    network = Returning(WITH_A_WAY[form])
    inputs = torch.randn(N, 3, dtype=torch.float64)
    x = {"x": inputs} if by_name else inputs
    with pytest.raises(ConfigError, match="network: the outputs") as refused:
        fw.traced_kernel(network, x)
    proposed = str(refused.value).partition("Pass of=")[2]
    of = eval(proposed, {"network": network, "torch": torch})
    theta = fw.traced_kernel(network, x, of=of)

    outputs = of(**x) if by_name else of(x)
    columns = outputs.reshape(N, -1).shape[1]
    rows = gradients_of(outputs, list(network.parameters()))
    assert columns * 8 == rows.shape[1]  # 6 weights and 2 biases
    torch.testing.assert_close(theta, rows @ rows.mT)


@pytest.mark.parametrize("form", WITH_A_WAY)
def test_what_of_should_return_is_proposed(form):
    network = Returning(WITH_A_WAY[form])
    x = torch.randn(N, 3, dtype=torch.float64)

    def of(x):
        return network(x)

    with pytest.raises(ConfigError, match="of: the outputs") as refused:
        fw.traced_kernel(network, x, of=of)
    proposed = str(refused.value).partition("Let of return ")[2].partition(" in place of")[0]

    def mended(x):
        return eval(proposed, {"outputs": of(x), "torch": torch})

    assert fw.traced_kernel(network, x, of=mended).shape == (N, N)


@pytest.mark.parametrize("form", WITHOUT)
def test_outputs_without_rows_are_refused_without_a_proposal(form):
    network = Returning(WITHOUT[form])
    with pytest.raises(ConfigError, match="network: the outputs") as refused:
        fw.traced_kernel(network, torch.randn(N, 3, dtype=torch.float64))
    assert "of=" not in str(refused.value)


class StrangeError(Exception):
    """An error of a network's own."""


@pytest.mark.parametrize(
    "error",
    [
        AssertionError("images must have 224 pixels"),
        AttributeError("no such attribute"),
        KeyError("key"),
        ZeroDivisionError("division by zero"),
        NotImplementedError(),
        OSError("no file"),
        StopIteration("end"),
        StrangeError("several\nlines"),
    ],
)
def test_whatever_a_network_raises_is_one_error_with_its_cause(error):
    def fails(h):
        raise error

    network = Returning(fails)
    x = torch.randn(N, 3, dtype=torch.float64)
    for function in (fw.traced_kernel, fw.full_kernel, fw.largest_eigenvalue, fw.tiled_kernel):
        with pytest.raises(ConfigError, match="network: it fails with inputs of shape") as refused:
            function(network, x)
        assert refused.value.__cause__ is error
        assert type(error).__name__ in str(refused.value)


def test_an_interrupt_is_not_an_error_of_the_network():
    def fails(h):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fw.traced_kernel(Returning(fails), torch.randn(N, 3, dtype=torch.float64))


CHOSEN = {
    "a module": ("head", ["head.weight", "head.bias"]),
    "a parameter": ("head.bias", ["head.bias"]),
    "several": (["table", "head.bias"], ["table.weight", "head.bias"]),
    "a tuple": (("image",), ["image.weight", "image.bias"]),
    "a function": (lambda name: "bias" in name, ["image.bias", "head.bias"]),
}


@pytest.mark.parametrize("way", CHOSEN)
def test_parameters_are_chosen_by_name(way, towers):
    network, x, _ = towers
    chosen, names = CHOSEN[way]
    found = fw.traced_kernel(network, x, parameters=chosen)
    outputs = network(**x)
    rows = gradients_of(outputs, [p for name, p in network.named_parameters() if name in names])
    torch.testing.assert_close(found, rows @ rows.mT)


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ("heads", "parameters: 'heads' is no parameter of the network.*did you mean 'head'"),
        (["head", "table.weights"], "'table.weights' is no parameter.*did you mean 'table.weight'"),
        ("hea", "'hea' is no parameter"),
        ([], "no parameter is counted"),
        (lambda name: False, "no parameter is counted"),
    ],
)
def test_names_that_no_parameter_has_are_refused(chosen, words, towers):
    network, x, _ = towers
    with pytest.raises(ConfigError, match=words):
        fw.traced_kernel(network, x, parameters=chosen)


def test_outputs_of_another_network_are_refused():
    network = nn.Linear(3, 2)
    other = nn.Linear(3, 2)
    for function in (fw.traced_kernel, fw.largest_eigenvalue):
        with pytest.raises(ConfigError, match="of: its outputs depend on no counted parameter"):
            function(network, np.eye(3), of=other)
    assert fw.traced_kernel(other, np.eye(3), of=other).shape == (3, 3)
