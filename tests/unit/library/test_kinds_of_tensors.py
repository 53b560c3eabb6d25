"""Tensors that no kernel can be computed of are refused in one line, by every function."""

from functools import partial
from types import SimpleNamespace

import pytest
import torch
from torch import nn

import finitewidth as fw
from finitewidth.kernels.trained.inputs import check_tensor

X = torch.randn(4, 3)
SMALL = {"steps": 1, "per_class": 2, "progress": False}
LABELS = torch.tensor([0, 1, 0, 1])
pytestmark = [
    pytest.mark.filterwarnings("ignore:Sparse CSR:UserWarning"),
    pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors:UserWarning"),
]
# name -> function that makes the tensor, and the message
KINDS = {
    "sparse": (X.to_sparse, r"layout is sparse_coo; convert it with to_dense\(\)"),
    "sparse rows": (
        X.to_sparse_csr,
        r"layout is sparse_csr; convert it with to_dense\(\)",
    ),
    "oneDNN": (X.to_mkldnn, r"layout is mkldnn; convert it with to_dense\(\)"),
    "meta": (partial(X.to, "meta"), "'meta' and has no values"),
    "nested": (lambda: torch.nested.as_nested_tensor([X[0], X[1]]), "nested; pad its rows"),
    "8 bits": (partial(X.to, torch.float8_e4m3fn), r"too few digits; convert it with float\(\)"),
}
CALLS = {
    "traced": fw.traced_kernel,
    "diagonal": fw.kernel_diagonal,
    "eigenvalue": fw.largest_eigenvalue,
    "cross": lambda network, x: fw.cross_kernel(network, x, x),
    "tiled": fw.tiled_kernel,
    "by name": lambda network, x: fw.traced_kernel(network, {"input": x}),
    "over training": lambda network, x: fw.kernel_over_training(network, x, lambda: None, [0]),
    "regression": lambda network, x: fw.KernelRegression(network).fit(x, torch.zeros(4, 2)),
    "targets": lambda network, x: fw.KernelRegression(network).fit(X, x),
    "study": lambda network, x: fw.study(network, (x, LABELS), **SMALL),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("kind", KINDS)
def test_inputs(kind, call):
    make, message = KINDS[kind]
    network = nn.Linear(3, 2)
    x = make()
    with pytest.raises(fw.ConfigError, match=message) as refused:
        CALLS[call](network, x)
    assert "\n" not in str(refused.value)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_quantised_numbers():
    quantised = torch.quantize_per_tensor(X, 0.1, 0, torch.qint8)
    for call in CALLS.values():
        with pytest.raises(fw.ConfigError, match=r"quantised; convert it with dequantize"):
            call(nn.Linear(3, 2), quantised)


@pytest.mark.parametrize("call", [name for name in CALLS if name != "targets"])
def test_networks_without_values(call):
    with pytest.raises(fw.ConfigError, match="'meta' and has no values"):
        CALLS[call](nn.Linear(3, 2, device="meta"), X)


def test_a_device_without_float64():
    with pytest.raises(fw.ConfigError, match=r"x: it is on the device 'mps'.*move network"):
        check_tensor(SimpleNamespace(device=torch.device("mps")), "x")
