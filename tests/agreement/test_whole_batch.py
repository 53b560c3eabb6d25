"""Kernels of the outputs of a batch as one function, for networks that mix inputs on purpose."""

import pytest
import torch
from tests.helpers.peak_memory import PeakMemory
from tests.helpers.small_networks import NETWORKS, prepared
from torch import nn
from torch.nn import functional

import finitewidth as fw

pytestmark = [
    pytest.mark.filterwarnings("ignore:Using padding='same':UserWarning"),
    pytest.mark.filterwarnings("ignore:There is a performance drop:UserWarning"),
]


def by_definition(network, x, of=None):
    """The full kernel from one backward pass of the batch for each output."""
    outputs = (of or network)(x.clone())
    parameters = list(network.parameters())
    rows = []
    for output in outputs.mT.flatten():
        found = torch.autograd.grad(output, parameters, retain_graph=True, materialize_grads=True)
        rows.append(torch.cat([part.flatten() for part in found]).double())
    J = torch.stack(rows)
    N, K = outputs.shape
    return (J @ J.mT).view(K, N, K, N)


def agrees(network, x, expected, tolerance=1e-12, **options):
    K, N = expected.shape[:2]
    traced = torch.einsum("kikj->ij", expected)
    for found, right in (
        (fw.full_kernel(network, x, whole_batch=True, **options), expected),
        (fw.traced_kernel(network, x, whole_batch=True, **options), traced),
        (
            fw.kernel_diagonal(network, x, whole_batch=True, **options),
            expected.reshape(K * N, -1).diagonal().view(K, N),
        ),
        (sum(fw.kernel_terms(network, x, whole_batch=True, **options).values()), traced),
    ):
        assert found.dtype == torch.float64
        assert found.shape == right.shape
        assert (found - right).abs().max() <= tolerance * right.abs().max()


def with_batch_norms():
    torch.manual_seed(0)
    layers = [nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.Flatten()]
    layers += [nn.Linear(64, 6), nn.BatchNorm1d(6, track_running_stats=False), nn.Tanh()]
    return nn.Sequential(*layers, nn.Linear(6, 3)).double(), torch.randn(5, 2, 6, 6).double()


class Contrastive(nn.Module):
    """Similarities of all inputs of a batch, and distances of inputs."""

    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(4, 6)

    def forward(self, x):
        z = functional.normalize(torch.tanh(self.encoder(x)), dim=1)
        return torch.cat([(z @ z.mT).log_softmax(1), torch.cdist(z, z.detach() + 1)], dim=1)


class Messages(nn.Module):
    """Messages from each input to the next."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 5)
        self.message = nn.Linear(5, 5)
        self.head = nn.Linear(5, 2)

    def forward(self, x):
        h = torch.tanh(self.inner(x))
        return self.head(torch.tanh(h + self.message(h.roll(1, 0))))


def mixing(name):
    if name == "batch norms":
        return with_batch_norms()
    torch.manual_seed(0)
    network = {"contrastive": Contrastive, "messages": Messages}[name]()
    return network.double(), torch.randn(4, 4).double()


@pytest.mark.parametrize("name", ["batch norms", "contrastive", "messages"])
def test_networks_that_mix_inputs(name):
    network, x = mixing(name)
    expected = by_definition(network, x)
    agrees(network, x, expected)
    if name != "contrastive":  # vmap of cdist is wrong, which the check sees
        agrees(network, x, expected, check=False)
    first = fw.traced_kernel(network, x, whole_batch=True)
    other = fw.traced_kernel(network, torch.cat([x[:3], 1 + x[3:]]), whole_batch=True)
    assert (first - other)[:3, :3].abs().max() > 1e-3  # it depends on the batch


@pytest.mark.parametrize("name", ["resnet", "norms", "unreachable", "transformer"])
def test_without_mixing_it_is_the_usual_kernel(name):
    network, x = prepared(*NETWORKS[name], samples=3)
    agrees(network, x, fw.full_kernel(network, x))
    parts = fw.kernel_terms(network, x, whole_batch=True)
    expected = fw.kernel_terms(network, x)
    assert {key for key, part in expected.items() if part.any()} <= parts.keys()
    for key, part in parts.items():
        torch.testing.assert_close(part, expected[key], rtol=1e-10, atol=1e-12)


def test_buffers_modes_random_state_and_gradients_are_left_as_they_are():
    network, x = with_batch_norms()
    network(x)  # running statistics that are not those at the start
    network[5].eval()
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    modes = [module.training for module in network.modules()]
    state = torch.get_rng_state()
    fw.traced_kernel(network, x, whole_batch=True)
    for refused in ({"budget": 1000}, {"of": lambda x: network(x)[:, 0, 0]}):
        with pytest.raises(fw.ConfigError):
            fw.traced_kernel(network, x, whole_batch=True, **refused)
    after = network.state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert [module.training for module in network.modules()] == modes
    assert torch.equal(torch.get_rng_state(), state)
    assert all(p.grad is None for p in network.parameters())


def test_random_networks_are_refused():
    network, x = with_batch_norms()
    with pytest.raises(fw.ConfigError, match=r"\(Dropout\) is in train mode and draws random"):
        fw.traced_kernel(nn.Sequential(network, nn.Dropout(0.5)), x, whole_batch=True)
    state = torch.get_rng_state()

    def noise(x):
        return functional.dropout(network(x), 0.5)

    with pytest.raises(fw.ConfigError, match="differ from call to call; it is random"):
        fw.traced_kernel(network, x, whole_batch=True, of=noise)
    assert torch.equal(torch.get_rng_state(), state)
    switched = nn.Sequential(network, nn.Dropout(0.5).eval())
    agrees(switched, x, by_definition(network, x))


def test_where_it_is_proposed_and_where_it_is_refused():
    network, x = with_batch_norms()
    proposal = r"fw\.traced_kernel\(network, x, whole_batch=True\)"
    fw.traced_kernel(network, x, whole_batch=True)  # the remedy
    for function in (fw.traced_kernel, fw.largest_eigenvalue, fw.tangent_operator):
        with pytest.raises(fw.ConfigError, match=f"statistics of the batch.*{proposal}"):
            function(network, x)
    for function in (fw.largest_eigenvalue, fw.tangent_operator, fw.output_norms, fw.tiled_kernel):
        with pytest.raises(fw.ConfigError, match="whole_batch: unknown option"):
            function(network, x, whole_batch=True)
    for kind in ("traced", "full"):
        with pytest.raises(fw.ConfigError, match="whole_batch: unknown option"):
            fw.cross_kernel(network, x, x, kind=kind, whole_batch=True)
    stack = fw.FullyConnected([torch.randn(4, 2)], None, "relu")
    with pytest.raises(fw.ConfigError, match="whole_batch: it is for torch modules"):
        fw.traced_kernel(stack, torch.randn(3, 4), whole_batch=True)


def test_stays_within_the_budget():
    """Rows of the Jacobian are made in blocks, and parameters are taken in groups."""
    torch.manual_seed(0)
    layers = [nn.Linear(20, 60), nn.BatchNorm1d(60), nn.Tanh(), nn.Linear(60, 60), nn.Tanh()]
    network = nn.Sequential(*layers, nn.Linear(60, 4))
    x = torch.randn(12, 20)
    expected = by_definition(network, x)
    peaks = []
    for budget in (2**17, 2**19, 2**22):
        agrees(network, x, expected, 1e-5, budget=budget)
        memory = PeakMemory()
        with memory:
            found = fw.full_kernel(network, x, whole_batch=True, budget=budget)
        peaks.append(memory.extra - 3 * found.numel() * found.element_size())
        assert peaks[-1] <= budget + 2**17  # the graph of the forward pass is not counted
    assert peaks[0] < 0.7 * peaks[-1]
    with pytest.raises(fw.ConfigError, match=r"set budget=\d+") as refused:
        fw.full_kernel(network, x, whole_batch=True, budget=1000)
    enough = int(str(refused.value).split("set budget=")[1].split()[0])
    agrees(network, x, expected, 1e-5, budget=enough)
