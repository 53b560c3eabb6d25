"""Every function of a module leaves what it finds: also after a refusal, an error, or Ctrl-C.

What is compared is the state of the network, of torch and of numpy before and after a call. Errors
are raised in one forward pass after another.
"""

import random
import warnings
from functools import partial

import numpy as np
import pytest
import torch
from torch import nn

import finitewidth as fw
from finitewidth.common.torch_precision import SETTINGS, full_precision

ERRORS = (RuntimeError, KeyboardInterrupt)
LABELS = torch.tensor([0, 1, 0, 1])
SMALL = {"steps": 2, "times": [0, 2], "per_class": 2, "device": "cpu", "progress": False}
requires_newer_settings = pytest.mark.skipif(
    not hasattr(torch._C, "_get_fp32_precision_getter"), reason="settings of torch 2.9 and later"
)


class Network(nn.Module):
    """A network with modes and buffers, whose forward pass number ``fails_at`` raises an error.

    It draws a random number, looks at settings, and may count its calls in a buffer.
    """

    def __init__(self, counts=False):
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.norm = nn.BatchNorm1d(4)
        self.own = nn.Bilinear(4, 4, 2)  # an operation without a rule
        self.register_buffer("calls", torch.zeros(()))
        self.frozen = nn.Parameter(torch.ones(2), requires_grad=False)
        self.counts = counts
        self.calls_so_far = 0
        self.fails_at = None
        self.error = None
        self.seen = []

    def forward(self, x):
        self.calls_so_far += 1
        torch.rand(())
        self.seen.append(settings())
        if self.counts:
            self.calls += 1
        if self.calls_so_far == self.fails_at:
            raise self.error("it fails")
        h = torch.tanh(self.norm(self.first(x)))
        return self.own(h, h) + self.frozen


def settings():
    """Return the settings of torch for products of float32, old and new."""
    found = [torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32]
    if hasattr(torch._C, "_get_fp32_precision_getter"):
        found += [torch._C._get_fp32_precision_getter(*setting) for setting in SETTINGS]
    return found


def surroundings(network):
    """Return what a call must leave as it is."""
    return process_state() | network_state(network)


def process_state():
    """Return the settings and random states of torch, numpy and Python."""
    backends = torch.backends
    return {
        "settings": settings(),
        "backends": (backends.mkldnn.enabled, backends.cudnn.enabled, backends.cudnn.benchmark),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "threads": torch.get_num_threads(),
        "random numbers": torch.get_rng_state().tolist(),
        "random numbers of numpy": np.random.get_state()[1].tolist(),
        "random numbers of Python": random.getstate(),
        "gradients": (torch.is_grad_enabled(), torch.is_inference_mode_enabled()),
        "autocast": torch.is_autocast_enabled("cpu"),
        "dtype": torch.get_default_dtype(),
        "anomalies": torch.is_anomaly_enabled(),
        "filters of warnings": list(warnings.filters),
        "functions": len(torch.overrides._get_current_function_mode_stack()),
    }


def network_state(network):
    """Return modes, hooks, parameters and buffers of a network."""
    modes = []
    hooks = []
    for module in network.modules():
        modes.append(module.training)
        hooks.append(len(module._forward_hooks) + len(module._forward_pre_hooks))
    parameters = {}
    for name, parameter in network.named_parameters():
        parameters[name] = (id(parameter), parameter.requires_grad, parameter.grad)
    state = {}
    for name, tensor in network.state_dict(keep_vars=True).items():
        state[name] = (id(tensor), tensor.tolist())
    return {"modes": modes, "hooks": hooks, "parameters": parameters, "state": state}


def cross(network, x):
    return fw.cross_kernel(network, x[:2], x[2:])


def full_cross(network, x):
    return fw.cross_kernel(network, x[:2], x[2:], kind="full")


def over_training(network, x):
    return fw.kernel_over_training(network, x, lambda: None, [0, 1])


def regression(network, x):
    model = fw.KernelRegression(network, ridge=1.0, from_network=True)
    return model.fit(x, torch.zeros(len(x), 2)).predict(x)


def study(network, x):
    return fw.study(network, (x, LABELS), **SMALL)


CALLS = {
    "traced": fw.traced_kernel,
    "full": fw.full_kernel,
    "terms": fw.kernel_terms,
    "diagonal": fw.kernel_diagonal,
    "norms": fw.output_norms,
    "eigenvalue": fw.largest_eigenvalue,
    "cross": cross,
    "cross, full": full_cross,
    "tiled": partial(fw.tiled_kernel, tile=2),
    "over training": over_training,
    "regression": regression,
    "study": study,
}
CHANGES_MODES = ("over training", "study")  # all others refuse a network in train mode


def drawn(name, counts=False):
    torch.manual_seed(1)
    network = Network(counts)
    x = torch.randn(4, 3)
    network.first.weight.grad = torch.ones(4, 3)
    network.train(name in CHANGES_MODES)
    return network, x


@pytest.fixture(scope="module", autouse=True)
def imported():
    """What is imported at the first call of a function stays, such as filters of warnings."""
    for name, call in CALLS.items():
        call(*drawn(name))


@pytest.fixture
def other_settings():
    """Settings that a caller may have: products of few digits, and no gradients."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium")
    yield
    torch.set_float32_matmul_precision(before)


@pytest.mark.parametrize("name", CALLS)
def test_a_call_leaves_what_it_finds(name, other_settings):
    network, x = drawn(name)
    before = surroundings(network)
    CALLS[name](network, x)
    assert surroundings(network) == before


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("name", CALLS)
def test_a_call_that_fails_leaves_what_it_finds(name, error, other_settings):
    network, x = drawn(name)
    CALLS[name](network, x)
    passes = network.calls_so_far or 6  # a study works on a copy
    # a pass of several inputs by vmap, in the middle, may fail: single inputs then follow
    for at in sorted({1, 2, passes - 1, passes}):
        network, x = drawn(name)
        network.fails_at = at
        network.error = error
        before = surroundings(network)
        with pytest.raises((fw.ConfigError, error)):
            CALLS[name](network, x)
        assert surroundings(network) == before, at


@pytest.mark.parametrize("error", [None, *ERRORS])
@pytest.mark.parametrize("name", [name for name in CALLS if name != "study"])
def test_buffers_come_back(name, error):
    """A network that counts its calls is refused; an error is not hidden by that."""
    network, x = drawn(name, counts=True)
    network.fails_at = None if error is None else 1
    network.error = error
    before = surroundings(network)
    expected = KeyboardInterrupt if error is KeyboardInterrupt else fw.ConfigError
    with pytest.raises(expected):
        CALLS[name](network, x)
    assert surroundings(network) == before


class Replacing(Network):
    """A network that puts another tensor in place of a buffer, with another shape."""

    def forward(self, x):
        self.calls = torch.ones(3)
        return super().forward(x)


def test_a_buffer_that_is_replaced_comes_back():
    network = Replacing().eval()
    held = network.calls
    with pytest.raises(fw.ConfigError, match="changes its buffer 'calls'"):
        fw.traced_kernel(network, torch.randn(4, 3))
    assert network.calls is held


def test_a_buffer_of_nan_is_no_change():
    network, x = drawn("traced")
    network.calls.fill_(torch.nan)
    assert torch.isfinite(fw.traced_kernel(network, x)).all()


@pytest.mark.parametrize("name", CALLS)
def test_products_have_all_digits(name, other_settings):
    """Inside a call no setting for fewer digits is in force, in any forward pass."""
    network, x = drawn(name)
    seen = []
    network.seen = seen
    if name == "study":
        network.__deepcopy__ = lambda memo: network
    CALLS[name](network, x)
    assert seen
    for matmul, tf32, *newer in seen:
        assert (matmul, tf32) == ("highest", False)
        assert set(newer) <= {"ieee"}


@pytest.mark.parametrize("precision", ["high", "medium"])
def test_numbers_do_not_depend_on_the_setting(precision, other_settings):
    """With "medium", a CPU with such instructions rounds the factors to 8 bits."""
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(64, 64), nn.LayerNorm(64), nn.Linear(64, 3))
    x = torch.randn(20, 64)
    torch.set_float32_matmul_precision("highest")
    expected = fw.traced_kernel(network, x)
    torch.set_float32_matmul_precision(precision)
    assert torch.equal(fw.traced_kernel(network, x), expected)


@requires_newer_settings
@pytest.mark.parametrize(
    ("setting", "value"),
    [
        (None, None),
        (("generic", "all"), "bf16"),
        (("mkldnn", "conv"), "bf16"),
        (("mkldnn", "all"), "tf32"),
        (("cuda", "matmul"), "tf32"),
        (("cuda", "conv"), "ieee"),
    ],
)
def test_newer_settings_come_back(setting, value):
    """Also where the older ones can no longer be read, and those that follow another one."""
    read = torch._C._get_fp32_precision_getter
    write = torch._C._set_fp32_precision_setter
    first = {each: read(*each) for each in SETTINGS}
    try:
        if setting:
            write(*setting, value)
        before = [read(*each) for each in SETTINGS]
        with full_precision():
            assert {read(*each) for each in SETTINGS} == {"ieee"}
        assert [read(*each) for each in SETTINGS] == before
        write("generic", "all", "none")
        followed = [read(*each) for each in SETTINGS[1:]]
        if setting == ("generic", "all"):
            assert "bf16" not in followed
    finally:
        for each, held in first.items():
            write(*each, held)
