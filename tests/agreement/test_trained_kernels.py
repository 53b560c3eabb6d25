"""Kernels of torch modules against Jacobians of torch.func, and what is refused."""

import copy
import re
from functools import partial

import pytest
import torch
from tests.helpers.kernels_by_jacobian import jacobian_kernel
from tests.helpers.peak_memory import PeakMemory
from tests.helpers.small_networks import NETWORKS, ResNet, Reused, prepared, vgg
from torch import nn
from torch.nn import functional

import finitewidth as fw
from finitewidth.common.errors import ConfigError
from finitewidth.kernels import trained
from finitewidth.kernels.trained import budget as budget_module
from finitewidth.kernels.trained import contractions, eigenvalue, formed, least, sweeps

pytestmark = [
    pytest.mark.filterwarnings("ignore:Using padding='same':UserWarning"),
    pytest.mark.filterwarnings("ignore:There is a performance drop:UserWarning"),
]
TOLERANCE = 1e-12


@pytest.fixture(autouse=True)
def products(monkeypatch):
    """Products are tested, although the kernels are so small that they would be formed."""
    monkeypatch.setattr(formed, "ROWS", 0)


def agree(found, expected, tolerance=TOLERANCE):
    assert found.dtype == torch.float64
    assert found.shape == expected.shape
    assert (found - expected).abs().max() <= tolerance * expected.abs().max()


def traced(full):
    return torch.einsum("kikj->ij", full)


def as_matrix(full):
    return full.reshape(full.shape[0] * full.shape[1], -1)


def check_all(network, x, expected, **options):
    """Every form of the kernel against the full kernel by Jacobians."""
    agree(trained.full_kernel(network, x, **options), expected)
    agree(trained.traced_kernel(network, x, **options), traced(expected))
    agree(trained.output_norms(network, x, **options), expected.square().sum((1, 3)).sqrt())
    diagonal = as_matrix(expected).diagonal().view(expected.shape[:2])
    agree(trained.kernel_diagonal(network, x, **options), diagonal)


@pytest.fixture(scope="module", params=NETWORKS)
def case(request):
    """A network, its inputs, and its kernel by Jacobians."""
    network, x = prepared(*NETWORKS[request.param])
    return network, x, jacobian_kernel(network, x)


def test_equals_the_jacobian(case):
    check_all(*case)


@pytest.mark.parametrize("structured", [False, True])
def test_both_orders_of_contraction(case, structured, monkeypatch):
    """The order is chosen by cost; each order alone gives the kernel of every layer."""
    network, x, expected = case
    monkeypatch.setattr(contractions, "ELEMENT", 1e9 * (-1 if structured else 1))
    monkeypatch.setattr(contractions, "GRAM_ROWS", 3)  # blocks of symmetric products
    monkeypatch.setattr(contractions, "traced_costs", lambda *_: (1.0, 0.0 if structured else 2.0))
    plans = least.full_plans

    def one_order(unit, samples, outputs):
        direct, other = plans(unit, samples, outputs)
        return direct, (0 if structured else 1e30, other[1])

    monkeypatch.setattr(least, "full_plans", one_order)
    check_all(network, x, expected)


def test_largest_eigenvalue(case):
    network, x, expected = case
    found = trained.largest_eigenvalue(network, x, tolerance=1e-9, products=100)
    largest = torch.linalg.eigvalsh(as_matrix(expected))[-1]
    torch.testing.assert_close(found.value, largest, rtol=1e-12, atol=0)
    assert found.vector.shape == network(x).shape
    again = trained.largest_eigenvalue(network, x, start=found.vector, tolerance=1e-6)
    assert again.products == 1  # at least two are allowed, one suffices
    torch.testing.assert_close(again.value, largest, rtol=1e-12, atol=0)
    per_input = trained.largest_eigenvalue(network, x, start=found.vector, per_input=True)
    torch.testing.assert_close(per_input.value, largest / len(x), rtol=1e-12, atol=0)


def test_the_largest_eigenvalue_of_a_small_kernel_is_that_of_the_formed_one(case, monkeypatch):
    monkeypatch.setattr(formed, "ROWS", 512)
    network, x, expected = case
    found = trained.largest_eigenvalue(network, x)
    values, vectors = torch.linalg.eigh(expected.permute(1, 0, 3, 2).flatten(0, 1).flatten(1))
    torch.testing.assert_close(found.value, values[-1], rtol=1e-12, atol=0)
    assert found.vector.shape == network(x).shape
    assert abs(found.vector.flatten() @ vectors[:, -1]) > 1 - 1e-10
    assert found.residual < 1e-12
    assert found.products == 0
    opposite = trained.largest_eigenvalue(network, x, start=-found.vector, per_input=True)
    torch.testing.assert_close(opposite.vector, -found.vector)
    torch.testing.assert_close(opposite.value, values[-1] / len(x), rtol=1e-12, atol=0)
    single = trained.largest_eigenvalue(copy.deepcopy(network).float(), x.float())
    assert single.value.dtype == single.vector.dtype == torch.float32
    torch.testing.assert_close(single.value.double(), values[-1], rtol=1e-4, atol=0)
    with pytest.raises(ConfigError, match="start: shape"):
        trained.largest_eigenvalue(network, x, start=torch.ones(2, 2))


def test_which_kernels_are_formed_for_the_largest_eigenvalue(monkeypatch):
    monkeypatch.setattr(formed, "ROWS", 512)
    torch.manual_seed(0)
    plain = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3)).double()
    x = torch.randn(200, 4).double()
    for network in (plain, nn.ModuleList([plain])[0], nn.Sequential(plain, nn.Identity())):
        small = trained.largest_eigenvalue(network, x[:10], tolerance=1e-9)
        assert small.products == 0
        assert trained.largest_eigenvalue(network, x).products > 0
        many = nn.Sequential(network, nn.Linear(3, 41).double())
        assert trained.largest_eigenvalue(many, x[:4]).products > 0
        monkeypatch.setattr(formed, "ROWS", 0)
        expected = trained.largest_eigenvalue(network, x[:10], tolerance=1e-9)
        monkeypatch.setattr(formed, "ROWS", 512)
        torch.testing.assert_close(small.value, expected.value, rtol=1e-10, atol=0)
    stack = fw.FullyConnected([torch.randn(4, 3).double()], None, "relu")
    assert trained.largest_eigenvalue(stack, x[:10]).products > 0


class CountedSweep(torch.autograd.Function):
    """The identity; counts its backward passes."""

    sweeps = 0

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        CountedSweep.sweeps += 1
        return gradient


FUNCTIONS = [
    trained.traced_kernel,
    trained.full_kernel,
    trained.kernel_diagonal,
    trained.output_norms,
]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("budget", [2**20, 2**29])
def test_one_sweep_for_each_output_and_not_one_more(function, budget, monkeypatch):
    monkeypatch.setattr(sweeps, "AT_ONCE", 0)
    network, x = prepared(lambda: ResNet(outputs=7), (3, 7, 6))
    batches = []

    def counted(images):
        batches.append(len(images))
        return CountedSweep.apply(network(images))

    CountedSweep.sweeps = 0
    found = function(network, x, of=counted, budget=budget)
    assert CountedSweep.sweeps == 7 + 2  # the others for the check: all inputs, and two of them
    # two inputs together, one alone, all in reverse, and all
    assert batches == [2, 1, len(x), len(x)]
    agree(found, function(network, x))
    CountedSweep.sweeps = 0
    batches.clear()
    agree(function(network, x, of=counted, budget=budget, check=False), found)
    assert batches == [2, len(x)]
    assert CountedSweep.sweeps == 7
    monkeypatch.setattr(sweeps, "AT_ONCE", 2**30)
    CountedSweep.sweeps = 0
    agree(function(network, x, of=counted), found)
    assert CountedSweep.sweeps == 1 + 1


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(
    "make", [(partial(ResNet, (6, 8), 1, 3, 12), (3, 12, 12)), (partial(Reused, 20), (5,))]
)
def test_stays_within_the_budget(function, make, monkeypatch):
    """The tensors beside the network, its graph and the result need no more than the budget."""
    network, x = prepared(*make, samples=6)
    expected = function(network, x)
    peaks = {}
    recorded = sweeps.record
    for budget in (2**k for k in (*range(12, 24), 27)):
        memory = PeakMemory()

        def record(*arguments, memory=memory, **settings):
            found = recorded(*arguments, **settings)
            memory.reset()
            return found

        monkeypatch.setattr(sweeps, "record", record)
        try:
            with memory:
                found = function(network, x, budget=budget)
        except ConfigError as error:
            assert "budget: " in str(error)  # noqa: PT017
            assert not peaks  # a larger budget never fails
            continue
        agree(found, expected)
        peaks[budget] = memory.extra - 8 * found.numel()
    assert all(peak <= budget for budget, peak in peaks.items()), peaks
    assert peaks[min(peaks)] < 0.7 * max(peaks.values()), peaks  # a budget makes a difference


def test_gradients_that_do_not_fit_are_made_from_kept_signals(monkeypatch):
    """The direct order costs less here, and all gradients take more than half of the budget."""
    layer = nn.Conv2d(8, 64, 3, padding=1, groups=2)
    network, x = prepared(
        lambda: nn.Sequential(layer, nn.Tanh(), nn.Flatten(), nn.Linear(1024, 6)), (8, 4, 4)
    )
    expected = jacobian_kernel(network, x)
    made = []
    formed = contractions.SignalStore._add_gradients

    def watched(store, *arguments):
        made.append(store.name)
        formed(store, *arguments)

    monkeypatch.setattr(contractions.SignalStore, "_add_gradients", watched)
    agree(trained.full_kernel(network, x), expected)
    assert made == []
    agree(trained.full_kernel(network, x, budget=700_000), expected)
    assert set(made) == {"0"}


def proposed(function, network, x, **options):
    """Return the budget that the message of a refusal names, and the message."""
    with pytest.raises(ConfigError, match=r"set budget=\d+") as refused:
        function(network, x, budget=10, **options)
    message = str(refused.value)
    return int(re.search(r"set budget=(\d+)", message)[1]), message


@pytest.mark.parametrize(("function", "samples"), [*zip(FUNCTIONS, (1, 5, 5, 1), strict=True)])
def test_the_budget_that_a_message_names_suffices(case, function, samples):
    network, x, _ = case
    some = x[:samples]
    budget, message = proposed(function, network, some)
    agree(function(network, some, budget=budget), function(network, some))
    assert ("use fewer inputs" in message) == (len(some) > 3)  # three are computed anyway
    with pytest.raises(ConfigError, match="budget: "):
        function(network, some, budget=budget - budget // 8)


def test_the_budget_that_a_message_names_suffices_elsewhere():
    """Closed forms, parameters without rules, blocks, tiles, and regressions."""
    free, x = prepared(Ruleless, (4,))
    inner = {"parameters": lambda name: name == "inner.weight"}
    budget, message = proposed(trained.traced_kernel, free, x, **inner)
    assert "Jacobian of one output by inner.weight" in message
    trained.traced_kernel(free, x, budget=budget, **inner)
    network, images = prepared(ResNet, (3, 7, 6))
    dense, rows = prepared(lambda: nn.Sequential(nn.Linear(4, 5), nn.ReLU()), (4,))

    def fitted(module, inputs, **options):
        y = torch.arange(len(inputs)).double()
        return fw.KernelRegression(module, ridge=1.0, **options).fit(inputs, y)

    for module, inputs in ((network, images), (dense, rows)):
        for function in (
            lambda module, inputs, **options: fw.cross_kernel(module, inputs, inputs, **options),
            lambda module, inputs, **options: fw.tiled_kernel(module, inputs, tile=2, **options),
            fitted,
        ):
            budget, _ = proposed(function, module, inputs)
            function(module, inputs, budget=budget)


@pytest.mark.parametrize("function", [*FUNCTIONS, trained.largest_eigenvalue])
def test_the_default_budget_follows_free_memory(function, monkeypatch):
    """The default is enough for one input; a budget that is given is never exceeded."""
    network, x = prepared(ResNet, (3, 7, 6))
    monkeypatch.setattr(eigenvalue, "_is_product", lambda *_: False)
    budget, _ = proposed(function, network, x[:1])
    monkeypatch.setattr(budget_module, "DEFAULT_BUDGET", 10)
    monkeypatch.setattr(budget_module, "free_bytes", lambda _: 2 * budget)
    function(network, x[:1])
    monkeypatch.setattr(budget_module, "free_bytes", lambda _: 2 * budget - 1)
    with pytest.raises(ConfigError, match=f"set budget={budget} "):
        function(network, x[:1])


def test_large_results_are_refused_only_where_the_free_memory_is_known(monkeypatch):
    """On macOS the free memory is not known, and is told as 0."""
    monkeypatch.setattr(budget_module, "free_bytes", lambda _: 2**30)
    budget_module.check_result((8192, 8192), 2, torch.device("cpu"))
    with pytest.raises(ConfigError, match=r"3 kernels .* and 1,024 MiB are free"):
        budget_module.check_result((8192, 8192), 3, torch.device("cpu"))
    monkeypatch.setattr(budget_module, "free_bytes", lambda _: 0)
    budget_module.check_result((8192, 8192), 3, torch.device("cpu"))


def test_the_budget_of_a_kernel_that_has_to_be_formed(monkeypatch):
    """Where a product is none, the kernel is formed within the budget."""
    network, x = prepared(ResNet, (3, 7, 6))
    monkeypatch.setattr(eigenvalue, "_is_product", lambda *_: False)
    expected = trained.largest_eigenvalue(network, x).value
    budget, message = proposed(trained.largest_eigenvalue, network, x)
    assert "cannot be differentiated twice" in message
    found = trained.largest_eigenvalue(network, x, budget=budget).value
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=0)


def test_features():
    network, x = prepared(ResNet, (3, 7, 6))
    theta_h = trained.full_kernel(network, x, of=network.features)
    expected = jacobian_kernel(network, x, network.features)
    agree(theta_h, expected)
    agree(trained.full_kernel(network.features, x), expected)
    assert "head" not in trained.kernel_terms(network, x, of=network.features)


def test_frozen_parameters_are_not_counted():
    network, x = prepared(ResNet, (3, 7, 6))
    parts = trained.kernel_terms(network, x)
    for parameter in network.features.parameters():
        parameter.requires_grad_(False)
    agree(trained.traced_kernel(network, x), parts["head"])


def test_float32_is_close_and_added_in_float64():
    network, x = prepared(vgg, (3, 8, 8))
    expected = trained.traced_kernel(network, x)
    found = trained.traced_kernel(network.float(), x.float())
    assert 0 < (found - expected).norm() / expected.norm() < 1e-5
    assert found.dtype == torch.float64


def test_the_network_is_left_as_it_was():
    network, x = prepared(vgg, (3, 8, 8))
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    trained.traced_kernel(network, x)
    assert all(torch.equal(before[name], now) for name, now in network.state_dict().items())
    assert all(parameter.grad is None for parameter in network.parameters())
    assert not any(module._forward_hooks for module in network.modules())
    with pytest.raises(ConfigError):
        trained.traced_kernel(network, x, budget=10)
    assert not any(module._forward_hooks for module in network.modules())


class Ruleless(nn.Module):
    """A parameter for whose operation there is no rule."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Bilinear(4, 4, 2)

    def forward(self, x):
        return self.inner(x, torch.sin(x))


def in_train_mode(network, kind):
    for module in network.modules():
        module.train(isinstance(module, kind))
    return network


class Changed(nn.Module):
    """A linear layer, something around it, and an output."""

    def __init__(self, around):
        super().__init__()
        self.inner = nn.Linear(3, 3)
        self.head = nn.Linear(3, 2)
        self.around = around

    def forward(self, x):
        return self.head(self.around(self.inner, torch.tanh(x)))


def changed_input(layer, x):
    y = layer(x)
    x.mul_(2)
    return y + x


def dropped_out(layer, x):
    return functional.dropout(layer(x), 0.5)


def infinite(layer, x):
    return layer(x) * torch.inf


def changed(around):
    return Changed(around).eval()


def with_batch_statistics():
    return in_train_mode(vgg(), nn.BatchNorm2d)


def without_running_statistics():
    norm = nn.BatchNorm1d(3, track_running_stats=False)
    return nn.Sequential(nn.Linear(3, 3), norm).eval()


def with_dropout():
    return in_train_mode(vgg(), nn.Dropout)


def lazy():
    return nn.Sequential(nn.LazyLinear(2))


def of_three_axes():
    return nn.Sequential(nn.Linear(3, 6), nn.Unflatten(1, (2, 3)))


def without_parameters():
    return nn.Sequential(nn.ReLU())


REFUSED = {
    "statistics of the batch": with_batch_statistics,
    "without running statistics": without_running_statistics,
    "draws random numbers": with_dropout,
    "Transformer|Attention.* draws": partial(nn.MultiheadAttention, 4, 2, dropout=0.1),
    "mixes inputs or is random": partial(changed, dropped_out),
    "changed in place": partial(changed, changed_input),
    "has no shape yet": lazy,
    r"network: the outputs of 2 inputs are a tensor \(2, 2, 3\)": of_three_axes,
    "no parameter is counted": without_parameters,
    "not finite": partial(changed, infinite),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_refused_with_a_reason(reason):
    torch.manual_seed(0)
    network = REFUSED[reason]()
    x = torch.randn(4, 3, 8, 8) if len(list(network.children())) > 5 else torch.randn(4, 3)
    with pytest.raises(ConfigError, match=reason):
        trained.traced_kernel(network, x)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"budgt": 3}, "budgt"),
        ({"parameters": lambda name: False}, "no parameter"),
    ],
)
def test_wrong_options(options, word):
    with pytest.raises(ConfigError, match=word):
        trained.traced_kernel(nn.Sequential(nn.Linear(2, 2)), torch.zeros(3, 2), **options)
    with pytest.raises(ConfigError, match="network: str"):
        trained.traced_kernel("resnet", torch.zeros(3, 2))
    with pytest.raises(ConfigError, match="kernel: 'half'"):
        trained.kernel_terms(nn.Linear(2, 2), torch.zeros(3, 2), kernel="half")
