"""A network of the user: YAML and factories, fresh weights, gates, and what is refused."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from finitewidth.common.errors import ConfigError
from finitewidth.networks import own
from finitewidth.networks.own_file import own_file
from finitewidth.networks.own_yaml import read_own_yaml
from finitewidth.networks.recorded_gates import gates_of

SHAPE, CLASSES = (1, 6, 5), 3
SAME = """
from torch import nn

def make(input_shape, classes):
    channels, height, width = input_shape
    return nn.Sequential(
        nn.Flatten(), nn.Linear(channels * height * width, 7), nn.Tanh(), nn.Linear(7, classes))
"""
YAML = "kind: fully_connected\nwidths: [7]\nactivation: tanh\ninit: torch\n"


def written(folder, name, text):
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def made(text, seed=0, shape=SHAPE):
    found = own_file(str(text))
    return own.draw(found, own.factory_of(found), shape, CLASSES, seed)


def test_yaml_and_the_same_factory_give_the_same_network(tmp_path):
    from_yaml = made(written(tmp_path, "net.yaml", YAML), seed=5)
    from_python = made(f"{written(tmp_path, 'net.py', SAME)}:make", seed=5)
    x = torch.rand(4, *SHAPE)
    assert torch.equal(from_yaml(x), from_python(x))
    assert not torch.equal(from_yaml(x), made(tmp_path / "net.yaml", seed=6)(x))


def test_drawing_leaves_the_random_numbers_of_the_caller_as_they_are(tmp_path):
    torch.manual_seed(3)
    before = torch.get_rng_state()
    made(written(tmp_path, "net.yaml", YAML))
    assert torch.equal(torch.get_rng_state(), before)


def test_the_variances_of_yaml_are_those_of_the_weights(tmp_path):
    file = written(tmp_path, "net.yaml", "kind: fully_connected\nwidths: [400]\n"
                   "init: {sigma_w2: 3.0, sigma_b2: 0.5}\n")  # fmt: skip
    network = made(file, shape=(1, 20, 20))
    assert network[1].weight.var().item() * 400 == pytest.approx(3.0, rel=0.02)
    assert network[1].bias.var().item() == pytest.approx(0.5, rel=0.3)


@pytest.mark.parametrize("text", ["padding: valid\n", "stride: 2\n",
                                  "global_average_pooling: true\ndense: []\n", ""])  # fmt: skip
def test_convolutional_networks_take_images_that_are_no_squares(text, tmp_path):
    yaml = f"kind: convolutional\nchannels: [3, 4]\ndense: [5]\nactivation: gelu\n{text}"
    file = written(tmp_path, "net.yaml", yaml.replace("dense: [5]\n", "") if "dense: []" in text
                   else yaml)  # fmt: skip
    network = made(file)
    assert network(torch.rand(2, *SHAPE)).shape == (2, CLASSES)
    assert not network.training


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing.yaml", "own.network: .*missing.yaml cannot be opened.*give the path"),
        ("net.py", "names no function; write .*net.py:NAME"),
        ("net.txt", "neither a YAML file .* nor a function in a Python file"),
        ("net.py:mke", "has no function 'mke'; did you mean 'make'?"),
        ("bad.py:make", "bad.py, line 1: .*; correct the file"),
        ("raising.py:make", r"ZeroDivisionError: .*\(raising.py, line 4\)"),
        ("importing.py:make", "cannot be executed: ModuleNotFoundError: .*no_such_module"),
        ("number.py:make", "returns int, not a torch.nn.Module"),
        ("constant.py:make", "is int; it must be a function"),
        ("outputs.py:make", r"to \(2, 4\); the outputs must be \(2, 3\), one for each class"),
        ("images.py:make", r"does not take images of shape \(N, 1, 6, 5\): RuntimeError"),
        ("frozen.py:make", "has no trainable parameter"),
    ],
)
def test_what_is_refused_is_named_with_file_and_remedy(name, message, tmp_path):
    head = "from torch import nn\n\ndef make(input_shape, classes):\n    return "
    for file, text in {
        "net.py": SAME, "net.txt": "", "bad.py": "def make(:\n", "raising.py": head + "1 / 0\n",
        "importing.py": "import no_such_module\n" + head + "1\n", "number.py": head + "3\n",
        "constant.py": "make = 3\n",
        "outputs.py": head + "nn.Sequential(nn.Flatten(), nn.Linear(30, 4))\n",
        "images.py": head + "nn.Linear(31, 3)\n",
        "frozen.py": head + "nn.Sequential(nn.Flatten(), nn.Linear(30, 3)).requires_grad_(False)\n",
    }.items():  # fmt: skip
        written(tmp_path, file, text)
    with pytest.raises(ConfigError, match=message):
        made(f"{tmp_path}/{name}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kind: dense\n", "net.yaml: kind: 'dense' must be one of fully_connected, convolutional"),
        ("[1]\n", "kind: None must be one of"),
        ("a: [\n", "net.yaml: cannot be read as YAML"),
        (YAML + "width_: 3\n", r"width_: unknown key \(did you mean width\?\)"),
        ("kind: fully_connected\nhidden: 2\n", "width: None is refused; write hidden and width"),
        ("kind: convolutional\n", "channels: is missing"),
        (YAML.replace("tanh", "tanhh"), "activation: 'tanhh' is refused"),
        (YAML.replace("torch", "{sigma_w2: -1}"), "init.sigma_w2: -1 is refused"),
        (YAML + "hidden: 1\nwidth: 7\n", "write widths, or hidden and width"),
        (YAML + "kind: convolutional\n", "the key kind is given twice"),
        ("kind: [a]\n", "kind: .'a'. must be one of"),
        (YAML.replace("[7]", "[7.5]"), "widths.0: 7.5 is refused"),
    ],
)
def test_a_mistake_in_yaml_is_named_with_its_key(text, message, tmp_path):
    with pytest.raises(ConfigError, match=message):
        read_own_yaml(written(tmp_path, "net.yaml", text))


def test_the_digest_is_that_of_the_content(tmp_path):
    file = written(tmp_path, "net.yaml", YAML)
    before = own_file(str(file)).digest
    assert own_file(str(written(tmp_path, "copy.yaml", YAML))).digest == before
    written(tmp_path, "net.yaml", YAML + "bias: false\n")
    assert own_file(str(file)).digest != before


class Mixed(nn.Module):
    """Activations as modules, as functions, in place, as a clamp, and one that is smooth."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(5))
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        x = self.relu(self.layers[0](x))
        x = functional.relu(self.layers[1](x))
        x = self.layers[2](x).clamp(min=0)
        x = torch.relu(self.layers[3](x))
        return functional.gelu(self.layers[4](x))


def test_gates_are_the_signs_of_what_is_given_to_activations():
    network, x = Mixed(), torch.randn(6, 4)
    found = gates_of(network, x)
    assert [layer.activation for layer in found] == ["relu", "relu", "relu", "relu", "gelu"]
    for layer, one in zip(network.layers, found, strict=True):
        before = layer(x)
        assert torch.equal(one.on, before > 0)
        x = functional.relu(before)


def test_a_network_without_gates_is_told_what_to_do():
    with pytest.raises(ConfigError, match=r"no activation that has gates.*own_extra_dispersion"):
        gates_of(nn.Linear(4, 2), torch.randn(3, 4))


def test_gates_need_the_axis_of_the_inputs():
    network = nn.Sequential(nn.Flatten(0), nn.ReLU())
    with pytest.raises(ConfigError, match=r"activation 1 .relu. is given 12 rows for 3 inputs"):
        gates_of(network, torch.randn(3, 4))
