"""Types of the public functions, as a type checker of the user's sees them."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.helpers.python_blocks import ELSEWHERE, PAGES, blocks

RIGHT = """
import numpy as np
import torch
from torch import Tensor, nn

import finitewidth as fw


def make(width: int) -> nn.Module:
    return nn.Sequential(nn.Linear(3, width), nn.ReLU(), nn.Linear(width, 2))


def step() -> None: ...


network = make(8)
x = torch.randn(5, 3)
y = np.ones((5, 2))
theta: Tensor = fw.traced_kernel(network, x, parameters="0", check=False)
of_lists: Tensor = fw.full_kernel(network, [[1.0, 2.0, 3.0]])
of_arrays: Tensor = fw.kernel_diagonal(network, np.ones((5, 3)))
by_name: Tensor = fw.output_norms(network, {"input": x})
by_position: Tensor = fw.cross_kernel(network, (x,), (x,), kind="full")
terms: dict[str, Tensor] = fw.kernel_terms(network, x, kernel="diagonal")
largest: Tensor = fw.largest_eigenvalue(network, x).value
tiles: Tensor = fw.tiled_kernel(network, x, tile=2, budget=10**9)
times: Tensor = fw.kernel_over_training(network, x, step, [0, 10], kernel=fw.full_kernel)
wide: Tensor = fw.wide_kernel(network, x, sigma_w2={"0": 1.0, "2": 2.0}, sigma_b2="torch")
late: Tensor = fw.linearised(network, x, y, loss="cross_entropy", rate=0.1).outputs(x, [1, 2])
model = fw.KernelRegression(network, kind="wide", sigma_w2="torch").fit(x, y)
mean, spread = model.predict(x, return_std=True)
error: Tensor = (model.predict(x) - mean) / spread
losses = fw.study(lambda: make(8), (x, [0, 1, 0, 1, 0]), optimiser="sgd").tables["training"]
draws = fw.draw_ntk(fw.constant_width(20, 100, sigma_w2=2.0), np.eye(20), activation="tanh")
ratio: float = fw.dispersion([20] * 20 + [1], draws=100).low
deviation: float = fw.trust([784, 500, 10], inputs=8).relative_deviation
slope = fw.trust(make, x, y, width=64, steps=10).slope
history, weights = fw.train_gated((x, y), (x, y), architecture=fw.Architecture(dense=(16, 16)))
title: str = fw.load("npf_fig3", run="laptop").columns["nu"].meaning
same: float = float(fw.block_means(theta, [0, 1, 0, 1, 0]).same_class)
"""
GIVEN = """
import numpy as np
import torch
from torch import Tensor, nn

import finitewidth as fw

network: nn.Module
x: Tensor
y: Tensor
images: Tensor
labels: Tensor
test_images: Tensor
test_labels: Tensor
targets: Tensor


def make_network() -> nn.Module:
    return network
"""
# lines that are refused, each with a word of the refusal
MISSPELT = {
    "fw.traced_kernel(network, x, chek=False)": "chek",
    "fw.full_kernel(network, x, parameter='0')": "parameter",
    "fw.largest_eigenvalue(network, x, per_inputs=True)": "per_inputs",
    "fw.cross_kernel(network, x, x, kinds='full')": "kinds",
    "fw.tiled_kernel(network, x, tiles=2)": "tiles",
    "fw.wide_kernel(network, x, sigma_w=2.0)": "sigma_w",
    "fw.linearised(network, x, y, rates=0.1)": "rates",
    "fw.KernelRegression(network, rigde=0.1)": "rigde",
    "fw.study(network, (x, labels), step=5)": "step",
    "fw.draw_ntk([784, 500, 10], draw=10)": "draw",
    "fw.dispersion([784, 500, 10], seeds=1)": "seeds",
    "fw.trust([784, 500, 10], input=8)": "No overload",
    "fw.trust(make_network, x, widht=64)": "No overload",
    "fw.train_gated((x, y), (x, y), architecture=fw.Architecture(), epoch=2)": "epoch",
    "fw.load('npf_fig3', preset='quick')": "preset",
}
OF_ANOTHER_TYPE = {
    "fw.traced_kernel(network, x, budget='1 GiB')": "budget",
    "fw.traced_kernel(network, None)": "traced_kernel",
    "fw.cross_kernel(network, x, x, kind='ful')": "kind",
    "fw.kernel_terms(network, x, kernel='trace')": "kernel",
    "fw.tiled_kernel(network, x, tile='many')": "tile",
    "fw.wide_kernel(network, x, sigma_w2='he')": "sigma_w2",
    "fw.linearised(network, x, y, loss='square')": "loss",
    "fw.KernelRegression(network, kind='width')": "kind",
    "fw.study(network, (x, labels), optimiser='adm')": "optimiser",
    "fw.network([784, 10], sigma_w2='2')": "sigma_w2",
    "fw.network([784, 10], sigma_w2=2.0, parametrisation='mup')": "parametrisation",
    "fw.draw_ntk([784, 500, 10], activation=3)": "activation",
    "fw.dispersion([784, 500, 10], estimator='naiv')": "estimator",
    "fw.trust(make_network, x, width='64')": "No overload",
    "fw.train_gated((x, y), (x, y), architecture='dense')": "architecture",
    "fw.load('npf_fig3', run=3)": "run",
}
MISSING = {
    "fw.traced_kernel(network, x).misspelt": "misspelt",
    "fw.largest_eigenvalue(network, x).values": "values",
    "fw.linearised(network, x, y).output": "output",
    "fw.KernelRegression(network).fit(x, y).predict(x).mode_of": "mode_of",
    "fw.study(network, (x, labels)).table": "table",
    "fw.dispersion([784, 500, 10]).lower": "lower",
    "fw.trust([784, 500, 10]).deviation": "deviation",
    "fw.trust(make_network, x).distances": "distances",
    "fw.nu(y, x).values": "values",
    "fw.block_means(x, labels).same": "same",
    "fw.load('npf_fig3').columns['nu'].meening": "meening",
    "fw.trace_kernel": "trace_kernel",
}
REFUSED = {**MISSPELT, **OF_ANOTHER_TYPE, **MISSING}
CHECKED_PAGES = [page for page in PAGES if page not in ELSEWHERE and blocks(page)]
# a page defines functions without types, and uses a name again for something else
SETTINGS = """
[mypy]
strict = true
ignore_missing_imports = true
[mypy-pages.*]
disallow_untyped_defs = false
disallow_untyped_calls = false
disallow_incomplete_defs = false
allow_redefinition = true
disable_error_code = no-redef
"""


def file_of(page: str) -> str:
    """The module with the blocks of a page."""
    return f"pages/{Path(page).stem}.py"


@pytest.fixture(scope="module")
def errors(tmp_path_factory):
    """File -> line -> errors, of one call of mypy for all files."""
    folder = tmp_path_factory.mktemp("types")
    (folder / "pages").mkdir()
    sources = {
        "right.py": RIGHT,
        "wrong.py": GIVEN + "\n".join(REFUSED) + "\n",
        "pages/__init__.py": "",
    }
    for page in CHECKED_PAGES:
        sources[file_of(page)] = GIVEN + "\n".join(blocks(page))
    for file, source in {**sources, "mypy.ini": SETTINGS}.items():
        (folder / file).write_text(source, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--no-error-summary", *sources]
    answer = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert not answer.stderr
    found = {file: {} for file in sources}
    for line in answer.stdout.splitlines():
        file, number, kind, text = line.split(":", 3)
        if kind == " error":
            found[file].setdefault(int(number), []).append(text)
    return found


def test_right_calls_are_accepted(errors):
    assert errors["right.py"] == {}


def test_only_wrong_lines_are_refused(errors):
    first = GIVEN.count("\n") + 1
    assert sorted(errors["wrong.py"]) == list(range(first, first + len(REFUSED)))


@pytest.mark.parametrize("line", REFUSED)
def test_a_misspelt_word_or_another_type_is_refused(line, errors):
    number = GIVEN.count("\n") + 1 + list(REFUSED).index(line)
    assert REFUSED[line] in " ".join(errors["wrong.py"][number])


@pytest.mark.parametrize("page", CHECKED_PAGES)
def test_types_of_the_examples_in_a_page(page, errors):
    assert errors[file_of(page)] == {}
