"""The library: names, kernels of the user's own networks, regression, gated networks, `trust`."""

import doctest
import re
import subprocess
import sys

import numpy as np
import pytest
import torch
from tests.helpers.kernels_by_jacobian import jacobian_kernel
from tests.helpers.peak_memory import PeakMemory
from torch import nn

import finitewidth as fw
from finitewidth.kernels.ntk_init.moments import log_moments
from finitewidth.library import modules
from finitewidth.library.tiles import budget_in_mib

PUBLIC = sorted({*dir(fw)} - {"__version__"})


def small(outputs=2, seed=0):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(3, 20), nn.Tanh(), nn.Linear(20, outputs)).double()


def test_the_import_loads_nothing_that_takes_time():
    code = (
        "import sys, finitewidth; print(sorted(m for m in sys.modules if m.split('.')[0] in "
        "('torch', 'numpy', 'scipy', 'pandas', 'matplotlib', 'sklearn')))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


@pytest.mark.parametrize("name", PUBLIC)
def test_names_in_docstrings_are_public(name):
    thing = getattr(fw, name)
    parts = vars(thing).values() if isinstance(thing, type) else ()
    text = " ".join(part.__doc__ or "" for part in (thing, *parts) if hasattr(part, "__doc__"))
    for word in re.findall(r"(?<!`)`([A-Za-z_.]+)`(?!`)", text):
        first = word.split(".")[0]
        assert first in (*PUBLIC, "torch", "sklearn") or hasattr(thing, first), word


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_is_documented_with_an_example_that_runs(name):
    thing = getattr(fw, name)
    assert thing.__doc__
    (found,) = doctest.DocTestFinder(recurse=False).find(thing, name)
    assert found.examples or name.endswith("Error")
    assert doctest.DocTestRunner().run(found).failed == 0


@pytest.mark.parametrize("kind", ["traced", "full"])
@pytest.mark.parametrize("fewest", [1, 100])
@pytest.mark.parametrize("budget", [20_000, 2**20])
def test_a_kernel_between_two_sets_is_that_of_the_jacobian(kind, fewest, budget, monkeypatch):
    """Whatever the groups of rows, and the pieces of a closed form."""
    monkeypatch.setattr(modules, "FEWEST_ROWS", fewest)
    network = small()
    x = torch.randn(5, 3).double()
    other = torch.randn(4, 3).double()
    found = fw.cross_kernel(network, x, other, kind=kind, budget=budget)
    whole = jacobian_kernel(network, torch.cat([x, other]))
    block = whole[:, :5, :, 5:]
    expected = block if kind == "full" else torch.einsum("kikj->ij", block)
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-12)


FUNCTIONS = {
    "traced_kernel": fw.traced_kernel,
    "full_kernel": fw.full_kernel,
    "kernel_diagonal": fw.kernel_diagonal,
    "tiled_kernel": fw.tiled_kernel,
    "cross_kernel": lambda network, x: fw.cross_kernel(network, x, x, kind="full"),
    "largest_eigenvalue": lambda network, x: fw.largest_eigenvalue(network, x).value,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_arrays_and_lists_are_inputs_and_bad_ones_are_refused(name):
    function = FUNCTIONS[name]
    network = small()
    words = nn.Sequential(nn.Embedding(5, 3), nn.Flatten(), nn.Linear(6, 2))
    x = torch.randint(-3, 4, (4, 3)).double()
    expected = function(network, x)
    for same in (x.numpy(), x.tolist(), x.long().tolist(), x.numpy().astype("float32")):
        assert torch.equal(function(network, same), expected)
    assert torch.equal(
        function(words, [[1, 2], [3, 4]]), function(words, torch.tensor([[1, 2], [3, 4]]))
    )
    damaged = x.clone()
    damaged[2, 0] = torch.nan
    for bad, message in (
        (damaged, "x: holds NaN, first in input 2"),
        (np.full((4, 3), np.inf), "x: holds infinite numbers"),
        ([], "holds no inputs"),
        ([[1.0], [2.0, 3.0]], "x: its lists differ in length; pad them"),
        (None, "x: NoneType must be"),
        (torch.zeros(4, 7).double(), r"fails with inputs of shape \(7,\) and type float64"),
        (torch.zeros(4, 3), "fails with inputs of shape .* and type float32"),
    ):
        with pytest.raises(fw.ConfigError, match=message):
            function(network, bad)
    with pytest.raises(fw.ConfigError, match="must be FullyConnected or a torch module"):
        function([3, 20, 2], x)
    network[0].weight.data[0, 0] = torch.nan
    with pytest.raises(fw.ConfigError, match="network: some outputs are not finite"):
        function(network, x)


def test_gates_labels_and_images_may_be_arrays_and_lists():
    gates = [torch.tensor([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0]]).double()]
    x = torch.tensor([[1.0, 2.0], [3.0, -1.0]]).double()
    y = torch.tensor([1.0, -1.0]).double()
    images = torch.rand(3, 1, 4, 4).double()
    network = fw.Architecture(channels=(2,), dense=(3,))
    kernel = fw.npk(x, gates)
    for convert in (torch.Tensor.numpy, torch.Tensor.tolist):
        same = [convert(gate) for gate in gates]
        assert torch.equal(fw.npk(convert(x), same), kernel)
        assert torch.equal(fw.overlap(same), fw.overlap(gates))
        assert torch.equal(fw.nu(convert(y), convert(kernel)).nu, fw.nu(y, kernel).nu)
        assert torch.equal(
            fw.cntk(convert(images), architecture=network), fw.cntk(images, architecture=network)
        )
    for call in (lambda: fw.overlap(["a"]), lambda: fw.nu(None, kernel), lambda: fw.npk(x, [None])):
        with pytest.raises(fw.ConfigError, match="must be a tensor or an array of numbers"):
            call()


def test_the_kernel_over_a_training_is_that_of_each_time():
    network = small()
    x = torch.randn(5, 3).double()
    network.insert(1, nn.Dropout(0.5))
    network[2].eval()
    descent = torch.optim.SGD(network.parameters(), lr=0.1)

    def step():
        assert network[1].training
        assert not network[2].training
        descent.zero_grad()
        network(x).square().mean().backward()
        descent.step()

    kernels = fw.kernel_over_training(network, x.numpy(), step, [0, 2, 5])
    assert torch.equal(kernels[2], fw.traced_kernel(network.eval(), x))
    assert not torch.equal(kernels[1], kernels[2])
    with pytest.raises(fw.ConfigError, match="must ascend"):
        fw.kernel_over_training(network, x, step, [3, 1])


def test_widths_stand_for_a_network_at_the_border():
    widths = [10, 30, 30, 2]
    assert fw.trust(widths) == fw.trust(fw.network(widths, sigma_w2=2.0))
    assert fw.dispersion(widths).value == fw.trust(widths).dispersion
    drawn = fw.dispersion(widths, activation="tanh", draws=5000)
    assert abs(fw.dispersion(widths, activation="tanh", seed=1).value - drawn.value) < 0.05
    assert drawn.standard_error > 0
    for function in (fw.trust, fw.dispersion, fw.draw_ntk, fw.ntk_moments):
        with pytest.raises(fw.ConfigError, match="for a torch module, traced_kernel"):
            function(small())


class Inside(torch.nn.Module):
    """A dense network inside another module, which has no closed form."""

    def __init__(self):
        super().__init__()
        self.inner = small()

    def forward(self, x):
        return self.inner(x)


@pytest.mark.parametrize("kind", ["traced", "full"])
@pytest.mark.parametrize("make", [small, Inside])
def test_a_block_takes_the_memory_of_a_block(make, kind):
    """Five rows and 1,000 columns take less than half of the kernel of all columns."""
    torch.manual_seed(0)
    x = torch.randn(5, 3).double()
    other = torch.randn(1000, 3).double()
    network = make().double()
    with PeakMemory() as memory:
        memory.reset()
        fw.cross_kernel(network, x, other, kind=kind)
    whole = 8 * (1000 * (1 if kind == "traced" else 2)) ** 2
    assert memory.extra < whole / 2


def test_a_regression_fits_and_predicts_in_less_memory_than_its_kernel():
    x = torch.randn(400, 3).double()  # a kernel of 1.3 MB
    model = fw.KernelRegression(small(), ridge=1.0, budget=2**20).fit(x, x[:, :1])
    found = model.predict(torch.randn(100, 3, generator=torch.Generator().manual_seed(1)).double())
    assert found.shape == (100, 1)


@pytest.mark.parametrize("kind", ["traced", "full"])
def test_regression_interpolates_and_is_the_linear_system(kind):
    network = small()
    x = torch.randn(8, 3).double()
    y = torch.randn(8, 2).double()
    test = torch.randn(3, 3).double()
    model = fw.KernelRegression(network, kind=kind, from_network=True).fit(x, y)
    torch.testing.assert_close(model.predict(x), y, rtol=1e-6, atol=1e-6)
    theta = jacobian_kernel(network, torch.cat([x, test]))
    start = network(torch.cat([x, test])).detach()
    if kind == "traced":
        mean = torch.einsum("kikj->ij", theta) / 2
        expected = start[8:] + mean[8:, :8] @ torch.linalg.solve(mean[:8, :8], y - start[:8])
    else:
        square = theta[:, :8, :, :8].reshape(16, 16)
        coefficients = torch.linalg.solve(square, (y - start[:8]).T.reshape(16))
        expected = start[8:] + (theta[:, 8:, :, :8].reshape(6, 16) @ coefficients).reshape(2, 3).T
    torch.testing.assert_close(model.predict(test), expected, rtol=1e-6, atol=1e-8)


def test_a_singular_kernel_names_the_remedy():
    x = torch.randn(1, 3).double().expand(4, 3)
    with pytest.raises(fw.ConfigError, match="larger ridge"):
        fw.KernelRegression(small()).fit(x, torch.zeros(4, 2))
    fw.KernelRegression(small(), ridge=1e-3).fit(x, torch.zeros(4, 2))


def test_the_command_names_its_option_for_a_budget_in_mib():
    x = torch.randn(200, 3).double()
    with (
        pytest.raises(fw.ConfigError, match=r"--budget: .* set --budget (\d+) or more") as refused,
        budget_in_mib(),
    ):
        fw.traced_kernel(small(), x, budget=10)
    named = int(re.search(r"set --budget (\d+)", str(refused.value))[1])
    assert fw.traced_kernel(small(), x, budget=named * 2**20).shape == (200, 200)


def test_trust_is_exact_for_relu_and_agrees_with_draws():
    net = fw.network([10, 30, 30, 30, 1], sigma_w2=2.0)
    answer = fw.trust(net)
    moments = log_moments(net)
    assert answer.draws == 0
    assert answer.mean == pytest.approx(np.exp(moments.mean))
    assert answer.dispersion == pytest.approx(moments.dispersion)
    theta = fw.draw_ntk(net, draws=40_000, seed=1)
    distance = np.sqrt(np.mean((theta / answer.infinite - 1) ** 2))
    assert distance == pytest.approx(answer.distance, rel=0.03)
    assert answer.depth_over_width == pytest.approx(4 / 30)


def test_trust_of_other_networks_states_errors():
    net = fw.network([10, 20, 20, 3], sigma_w2=2.0, sigma_b2=0.1)
    answer = fw.trust(net, activation="tanh", draws=4000, inputs=5)
    other = fw.trust(net, activation="tanh", draws=4000, inputs=5, seed=7)
    assert answer.mean_error > 0
    assert abs(answer.mean - other.mean) < 5 * np.hypot(answer.mean_error, other.mean_error)
    assert answer.phase == "chaotic"
    assert "(4,000 draws)" in str(answer)
    assert set(answer.to_frame().columns) == {"quantity", "value"}


def test_trained_weights_have_the_shapes_that_are_stated():
    x = np.random.default_rng(0).standard_normal((32, 1, 6, 6)).astype("float32")
    y = np.arange(32) % 2
    architecture = fw.Architecture(channels=(3,), dense=(4,))
    history, weights = fw.train_gated(
        (x, y), (x, y), architecture=architecture, seeds=(0, 1), epochs=1
    )
    assert len(history) == 2
    assert all(len(array) == 2 for array in weights.values())
    with pytest.raises(fw.ConfigError, match="inputs with 4 axes"):
        fw.train_gated((x[:, 0], y), (x, y), architecture=architecture)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("optimiser", "sdg"),
        ("epochs", 0),
        ("batch_size", 0),
        ("step_size", -1.0),
        ("eps", -0.1),
        ("beta", 0.0),
    ],
)
def test_arguments_of_a_gated_training_are_refused_by_name(name, value):
    x = np.zeros((4, 3), "float32")
    y = np.arange(4) % 2
    with pytest.raises(fw.ConfigError, match=f"^{name}"):
        fw.train_gated((x, y), (x, y), architecture=fw.Architecture(dense=(4,)), **{name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("channels", (0,)),
        ("dense", (4, -1)),
        ("dense", (2.5,)),
        ("stride", 0),
        ("padding", "x"),
        ("init", "glorot"),
    ],
)
def test_an_architecture_is_refused_by_the_name_of_what_no_network_has(name, value):
    with pytest.raises(fw.ConfigError, match=f"^{name}: "):
        fw.Architecture(**{"dense": (4,), name: value})
