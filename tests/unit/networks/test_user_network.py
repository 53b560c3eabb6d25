"""The file of a user's network: what is executed, fresh weights, and what is refused."""

import os
import sys
from functools import partial

import pytest
import torch
from torch import nn

from finitewidth.common.errors import ConfigError
from finitewidth.networks.user_network import draw, read_user_network

HEAD = "from torch import nn\n\ndef make(input_shape, classes):\n    return "
NETWORK = HEAD + "nn.Sequential(nn.Flatten(), nn.Linear(30, classes))\n"
X = torch.rand(2, 1, 6, 5)


def made(folder, text, function="make", name="net.py"):
    (folder / name).write_text(text, encoding="utf-8")
    make = read_user_network(f"{folder}/{name}:{function}").factory()
    return make((1, 6, 5), 3)


def test_the_code_is_compiled_from_the_bytes_that_were_digested(tmp_path):
    file = tmp_path / "net.py"
    file.write_text(NETWORK, encoding="utf-8")
    first = read_user_network(f"{file}:make")
    times = file.stat()
    changed = NETWORK.replace("classes))", "7      ))")  # of equal size
    file.write_text(changed, encoding="utf-8")
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    second = read_user_network(f"{file}:make")
    assert first.digest != second.digest
    assert first.factory()((1, 6, 5), 3)(X).shape == (2, 3)
    assert second.factory()((1, 6, 5), 3)(X).shape == (2, 7)
    assert os.listdir(tmp_path) == ["net.py"]


def test_the_file_may_import_its_neighbours_and_define_dataclasses(tmp_path):
    (tmp_path / "neighbour_of_net.py").write_text("width = 4\n", encoding="utf-8")
    text = (
        "from dataclasses import dataclass\nfrom torch import nn\n"
        "from neighbour_of_net import width\n"
        "@dataclass\nclass Sizes:\n    width: int = width\n"
        "def make(input_shape, classes):\n    return nn.Linear(Sizes().width, classes)\n"
    )
    path = list(sys.path)
    assert made(tmp_path, text).in_features == 4
    assert sys.path == path


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def make(:\n", r"net.py cannot be executed: SyntaxError: .* \(net.py, line 1\)"),
        ("import no_such_module\n", "cannot be executed: ModuleNotFoundError: .*no_such_module"),
        ("import sys\nsys.exit(0)\n", r"cannot be executed: SystemExit: 0 \(net.py, line 2\)"),
        (HEAD + "1 / 0\n", r"net.py:make.* fails: ZeroDivisionError: .*\(net.py, line 4\)"),
        ("def make(*_):\n    raise SystemExit\n", "fails: SystemExit: no message"),
        (HEAD + "3\n", "net.py:make returns int; it must be a function .input_shape, classes."),
        ("make = 3\n", "net.py:make is int; it must be a function"),
        (NETWORK.replace("make", "mke"), "net.py has no function 'make'; did you mean 'mke'?"),
        ("other = print\n", "has no function 'make'; it has other"),
    ],
)
def test_one_message_names_file_line_and_remedy(text, message, tmp_path):
    with pytest.raises(ConfigError, match=message):
        made(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("no.py:make", "no.py cannot be opened .*; give the path of your network's file"),
        ("net.py", "'net.py' names no function in a Python file; write my_net.py:make"),
        ("net.yaml", "names no function in a Python file"),
        ("net.py:a b", "names no function in a Python file"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused(text, message):
    with pytest.raises(ConfigError, match=message):
        read_user_network(text)


def linear(outputs=3, inputs=30):
    return nn.Sequential(nn.Flatten(), nn.Linear(inputs, outputs))


def test_equal_seeds_give_equal_weights_and_the_random_numbers_of_the_caller_stay():
    torch.manual_seed(3)
    before = torch.get_rng_state()
    one = draw(linear, X, 3, 5)[1].weight
    same = draw(linear, X, 3, 5)[1].weight
    other = draw(linear, X, 3, 6)[1].weight
    assert torch.equal(one, same)
    assert not torch.equal(one, other)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: 3, "the function returns int, not a torch.nn.Module"),
        (partial(linear, 2), "it has 2 outputs for 3 classes"),
        (partial(linear, inputs=31), r"does not take inputs of shape \(2, 1, 6, 5\): RuntimeError"),
        (partial(nn.Conv2d, 1, 3, 3), r"\(2, 3, 4, 3\); the outputs must be \(2, 3\)"),
        (lambda: linear().requires_grad_(False), "no parameter is trainable"),
    ],
)
def test_a_network_without_a_kernel_is_refused(make, message):
    with pytest.raises(ConfigError, match=message):
        draw(make, X, 3, 0)
