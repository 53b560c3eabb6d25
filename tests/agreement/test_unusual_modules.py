"""Kernels of unusual torch modules: right, or refused with a reason."""

import copy
import warnings

import pytest
import torch
from tests.helpers.kernels_by_jacobian import jacobian_kernel, made, parameters_by_module
from tests.helpers.unusual_modules import RIGHT, WORDS, Completing, OtherType, Remembering
from torch import nn
from torch.nn import functional

import finitewidth as fw
from finitewidth.common.errors import ConfigError
from finitewidth.kernels import trained
from finitewidth.kernels.trained import formed

pytestmark = [
    pytest.mark.filterwarnings("ignore:There is a performance drop:UserWarning"),
    pytest.mark.filterwarnings("ignore:None of the inputs have requires_grad:UserWarning"),
    pytest.mark.filterwarnings("ignore:.*torch.jit.trace.* is deprecated:DeprecationWarning"),
]


@pytest.fixture(autouse=True)
def products(monkeypatch):
    """Products are tested, although the kernels are so small that they would be formed."""
    monkeypatch.setattr(formed, "ROWS", 0)


def agrees(network, x, of=None, tolerance=1e-11, **options):
    expected = jacobian_kernel(network, x, of)
    before = x.clone()
    held = parameters_by_module(network)
    if of is not None:
        options["of"] = of
    traced = torch.einsum("kikj->ij", expected)
    squares = torch.einsum("kiki->ki", expected)
    for found, right in (
        (trained.full_kernel(network, x, **options), expected),
        (trained.traced_kernel(network, x, **options), traced),
        (trained.kernel_diagonal(network, x, **options), squares),
        (trained.output_norms(network, x, **options), expected.square().sum((1, 3)).sqrt()),
        (sum(trained.kernel_terms(network, x, **options).values()), traced),
    ):
        assert (found - right).abs().max() <= tolerance * right.abs().max()
    largest = torch.linalg.eigvalsh(expected.flatten(0, 1).flatten(1))[-1]
    found = trained.largest_eigenvalue(network, x, tolerance=1e-9, **options).value
    assert abs(found - largest) <= max(tolerance, 1e-10) * largest
    assert torch.equal(x, before)
    assert parameters_by_module(network) == held


@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.parametrize("samples", [5, 1])
def test_right_without_a_warning(name, samples):
    make, shape = RIGHT[name]
    network = made(make)
    x = torch.randn(samples, *shape, dtype=torch.float64)
    network(x.clone())  # lazy modules get their shapes
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*do not agree")
        agrees(network, x)


@pytest.mark.parametrize("name", WORDS)
def test_words(name):
    network = made(WORDS[name])
    x = torch.tensor([[1, 2, 2], [2, 5, 8], [3, 3, 3], [0, 1, 2]])
    agrees(network, x)


@pytest.mark.parametrize(
    ("dtype", "inside"), [(torch.float64, torch.float32), (torch.float32, torch.float64)]
)
def test_a_layer_in_another_type(dtype, inside):
    network = made(lambda: OtherType(inside), dtype)
    x = torch.randn(3, 2, 4, dtype=dtype)
    agrees(network, x, tolerance=1e-5)


def test_what_a_network_keeps_in_eval_mode_is_dropped_during_a_training():
    network = made(Remembering)
    x = torch.randn(5, 4, dtype=torch.float64)

    def step():
        with torch.no_grad():
            network.scale.add_(0.5)

    for training in (True, False):
        network.train(training)
        with torch.no_grad():
            network(x)
        _, later = fw.kernel_over_training(network, x, step, [0, 1], kernel=fw.full_kernel)
        fresh = made(Remembering)
        fresh.load_state_dict(network.state_dict())
        torch.testing.assert_close(later, jacobian_kernel(fresh, x))
        assert network.training == training
    copy.deepcopy(network)


def test_a_buffer_that_is_made_at_the_first_input():
    network = made(Completing)
    x = torch.randn(5, 4, dtype=torch.float64)
    fw.traced_kernel(network, x)
    assert torch.equal(network.places, torch.linspace(1, 2, 5, dtype=torch.float64))
    for function in (fw.largest_eigenvalue, fw.full_kernel):
        function(made(Completing), x)
    agrees(made(Completing), x)


def test_buffers_that_change_at_each_pass_get_their_values_and_shapes_back():
    class Growing(nn.Module):
        def __init__(self):
            super().__init__()
            self.head = nn.Linear(4, 2)
            self.register_buffer("seen", torch.zeros(1))

        def forward(self, x):
            self.seen = torch.cat([self.seen, torch.ones(1)])
            return self.head(x) * len(self.seen)

    network = made(Growing)
    before = network.seen
    with pytest.raises(ConfigError, match="'seen'"):
        fw.traced_kernel(network, torch.randn(5, 4, dtype=torch.float64))
    assert network.seen is before
    assert before.tolist() == [0.0]


def test_a_network_without_modes_that_does_not_use_a_parameter():
    class Exported(nn.Module):
        """Its modes cannot be set, as those of ``torch.export.export(...).module()``."""

        def __init__(self):
            super().__init__()
            self.head = nn.Linear(4, 2)
            self.unused = nn.Parameter(torch.ones(2))
            self.training = False

        def train(self, mode=True):
            raise NotImplementedError("Calling train() is not supported yet.")

        def forward(self, x):
            return self.head(x)

    network = Exported().double()
    x = torch.randn(5, 4, dtype=torch.float64)
    torch.testing.assert_close(fw.full_kernel(network, x), jacobian_kernel(network, x))


def test_a_kernel_after_an_evaluation_of_a_network_that_keeps_something_in_eval_mode():
    network = made(Remembering)
    x = torch.randn(5, 4, dtype=torch.float64)
    expected = jacobian_kernel(network.train().eval(), x)
    for function in (fw.full_kernel, fw.largest_eigenvalue):
        network.train().eval()
        with torch.no_grad():
            network(x)  # leaves a scale without a gradient
        found = function(network, x)
        if function is fw.full_kernel:
            torch.testing.assert_close(found, expected)
        else:
            largest = torch.linalg.eigvalsh(expected.reshape(10, 10))[-1]
            torch.testing.assert_close(found.value, largest)


def test_a_study_of_a_network_that_keeps_something_in_eval_mode():
    network = made(Remembering)
    x = torch.randn(4, 4, dtype=torch.float64)
    labels = torch.tensor([0, 0, 1, 1])
    network(x)
    found = fw.study(network, (x, labels), steps=1, per_class=2, device="cpu", progress=False)
    rows = found.tables["entries"]
    rows = rows[(rows["kernel"] == "tangent kernel") & (rows["step"] == 0)]
    expected = torch.einsum("kikj->ij", jacobian_kernel(network, x))
    assert rows["value"].tolist() == pytest.approx(expected[*torch.triu_indices(4, 4)].tolist())


@pytest.mark.parametrize("inside", [True, False])
def test_autocast(inside):
    """(F6) a weight that its module and functional.linear use, in bfloat16."""

    class Cast(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(4, 4)
            self.head = nn.Linear(4, 2)

        def forward(self, x):
            with torch.autocast("cpu", enabled=inside or torch.is_autocast_enabled("cpu")):
                h = torch.tanh(self.inner(x))
                return self.head(functional.linear(h, self.inner.weight.mT)).float()

    network = made(Cast, torch.float32)
    x = torch.randn(5, 4)
    with torch.autocast("cpu", enabled=not inside):
        expected = jacobian_kernel(network, x)
        found = trained.full_kernel(network, x)
        plain = nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 2))
        other = trained.full_kernel(plain, x)
        right = jacobian_kernel(plain, x)
    assert (found - expected).abs().max() < 2e-2 * expected.abs().max()
    assert (other - right).abs().max() < 2e-2 * right.abs().max()


def test_half_precision():
    for dtype in (torch.float16, torch.bfloat16):
        network = made(
            lambda: nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.LayerNorm(8), nn.Linear(8, 2))
        )
        x = torch.randn(5, 4, dtype=torch.float64)
        half = copy.deepcopy(network).to(dtype)
        expected = jacobian_kernel(half.double(), x.to(dtype).double())
        half = half.to(dtype)
        found = trained.full_kernel(half, x.to(dtype))
        assert (found - expected).abs().max() < 6e-2 * expected.abs().max()
        largest = torch.linalg.eigvalsh(expected.flatten(0, 1).flatten(1))[-1]
        assert abs(trained.largest_eigenvalue(half, x.to(dtype)).value / largest - 1) < 6e-2


@pytest.mark.parametrize("name", ["tokens and attention", "frames on the axis of inputs", "GRU"])
@pytest.mark.parametrize("rows", [1, 3])
def test_blocks_between_two_sets_of_inputs(name, rows):
    make, shape = RIGHT[name]
    network = made(make)
    x = torch.randn(rows + 4, *shape, dtype=torch.float64)
    with torch.no_grad():
        network(x)
    for some in (x, x[: rows + 1]):
        left = some[:rows]
        right = some[rows:]
        for kernel, whole in (("traced", trained.traced_kernel), ("full", trained.full_kernel)):
            theta = whole(network, some)
            expected = theta[..., :rows, rows:] if kernel == "traced" else theta[:, :rows, :, rows:]
            found = trained.kernel_block(network, left, right, kernel)
            assert found.shape == expected.shape
            assert (found - expected).abs().max() < 1e-12 * expected.abs().max()


class Centred(nn.Module):
    """A network less its initial value, whose outputs are rounding errors."""

    def __init__(self):
        super().__init__()
        layers = [nn.Linear(4, 300), nn.ReLU(), nn.Linear(300, 300), nn.ReLU(), nn.Linear(300, 2)]
        self.net = nn.Sequential(*layers)
        self.first = copy.deepcopy(self.net).requires_grad_(False)

    def forward(self, x):
        return self.net(x) - self.first(x * (1 + 1e-7))


def test_outputs_that_are_rounding_errors():
    network = made(Centred, torch.float32)
    x = torch.randn(40, 4)
    expected = jacobian_kernel(network, x, parameters=lambda name: name.startswith("net"))
    found = trained.full_kernel(network, x)
    assert (found - expected).abs().max() < 1e-5 * expected.abs().max()


def test_outputs_of_different_size():
    layers = [nn.Linear(4, 60), nn.GELU(), nn.Linear(60, 2)]
    network = made(lambda: nn.Sequential(*layers), torch.float32)
    x = torch.randn(20, 4)

    def shrunk(x):
        return network(x) - (x[:, :1] > 0) * network(x).detach() * (1 - 1e-5)

    expected = jacobian_kernel(network, x, shrunk)
    found = trained.full_kernel(network, x, of=shrunk)
    assert (found - expected).abs().max() < 1e-5 * expected.abs().max()
