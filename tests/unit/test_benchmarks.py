"""The parts of the benchmarks that compute: counts, bounds, ratios, and the page from a table."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from benchmarks import draws, networks, page, side_by_side, trained
from benchmarks.networks import FULL, OURS, TRACED
from benchmarks.timing import Way, ratio_of
from benchmarks.work import MEMORY, NUMBERS, PRODUCTS, Machine, Work, bound_of

from finitewidth.kernels.ntk_init import normals, scalar_chain
from finitewidth.kernels.ntk_init.initialisation import constant_width
from finitewidth.kernels.trained import traced_kernel

ROOT = Path(__file__).parents[2]
MACHINE = Machine({"float32": 2e9, "float64": 1e9}, bandwidth=1e9, normal=1e-8, gamma=1e-7,
                  uniform=1e-9)  # fmt: skip


class Stream:
    """Numpy's generator, which counts what it draws."""

    def __init__(self, stream, drawn):
        self.stream, self.drawn = stream, drawn

    def __getattr__(self, name):
        def draw(*arguments, **named):
            numbers = getattr(self.stream, name)(*arguments, **named)
            kind = {"standard_normal": "normals", "standard_gamma": "gammas", "random": "uniforms"}
            self.drawn[kind[name]] = self.drawn.get(kind[name], 0) + np.size(numbers)
            return numbers

        return draw


@pytest.mark.parametrize(("inputs", "width", "depth"), [(1, 7, 4), (3, 5, 3), (6, 4, 2)])
def test_random_numbers_are_those_that_the_samplers_draw(monkeypatch, inputs, width, depth):
    init, x = constant_width(depth, width, sigma_w2=2.0), torch.randn(inputs, width)
    ways = [draws.matrices(init, x)]
    ways += [draws.chain(init), draws.vectors(init, x)] if inputs == 1 else []
    for way in ways:
        drawn = {}
        for module in (normals, scalar_chain.streams):
            original = module.generator
            monkeypatch.setattr(
                module, "generator", lambda *a, f=original, d=drawn: Stream(f(*a), d)
            )
        way.run()
        monkeypatch.undo()
        wanted = {name: getattr(way.work, name) * way.units
                  for name in ("normals", "gammas", "uniforms")}  # fmt: skip
        assert drawn == {name: count for name, count in wanted.items() if count}, way.name


def test_torch_func_draws_kernels_of_the_networks_that_it_draws():
    init, x = constant_width(3, 6, sigma_w2=2.0), torch.randn(2, 6)
    draw, networks, size = draws.jacobian_draws(init, x)
    module = draws.module(init)
    torch.manual_seed(5)
    found = draw()
    torch.manual_seed(5)
    drawn = {name: torch.randn(networks, *p.shape) for name, p in module.named_parameters()}
    module = module.to_empty(device="cpu")
    for name, parameter in module.named_parameters():
        scale = (2 / parameter.shape[-1]) ** 0.5 if parameter.dim() == 2 else 0
        parameter.data = scale * drawn[name][1]
    assert torch.allclose(found[1].double(), traced_kernel(module, x), rtol=1e-4)
    assert size == sum(p.numel() for p in module.parameters())


@pytest.mark.parametrize("name", ["dense", "VGG"])
def test_ways_to_the_kernel_of_a_network_agree_and_a_wrong_one_is_refused(name):
    network, shape = trained.network_of(name, quick=True)
    x = torch.randn(3, *shape).to(next(network.parameters()).dtype)
    ours = trained.traced(name, network, x)
    ways = [make(network, x) for make in (trained.by_input, trained.by_pair)]
    trained.check(ours, ways, x.dtype)
    wrong = Way("wrong", lambda: 1.01 * ways[0].run(), 1, Work())
    with pytest.raises(SystemExit, match="wrong"):
        trained.check(ours, [wrong], x.dtype)


@pytest.mark.parametrize("kernel", [TRACED, FULL])
@pytest.mark.parametrize("name", ["transformer", "resnet_small", "cnn", "mlp"])
def test_the_jacobian_gives_the_kernels_of_users_networks(monkeypatch, name, kernel):
    small = replace(networks.CASES["cnn"], make=lambda: networks.cnn(8, 3), shape=(3, 8, 8))
    monkeypatch.setitem(networks.CASES, "cnn", small)
    case = replace(networks.CASES[name], inputs=3)
    network, x = networks.drawn(case)
    ours = networks.way_of(OURS, case, network, x, kernel)()
    whole = networks.by_jacobian(network, x, kernel == FULL, chunk=2)
    assert whole.shape == ours.shape
    side_by_side.apart(name, {"values": ours.numpy()}, {"values": whole.numpy()})


def test_the_bound_is_the_longest_time():
    work = Work(flops=4e9, bytes=1e9, normals=1e7, gammas=1e6, uniforms=1e8)
    assert bound_of(work, MACHINE, "float32") == (bound := bound_of(work, MACHINE, "float32"))
    assert (bound.name, bound.seconds) == (PRODUCTS, 2.0)
    assert bound_of(work, MACHINE, "float64").seconds == 4.0
    bound = bound_of(Work(flops=1e6, bytes=5e9), MACHINE, "float32")
    assert (bound.name, bound.seconds) == (MEMORY, 5.0)
    bound = bound_of(Work(normals=1e8, gammas=2e7, uniforms=3e9), MACHINE, "float32")
    assert (bound.name, bound.seconds) == (NUMBERS, pytest.approx(6.0))


def test_ratios_are_those_of_single_rounds():
    ratio = ratio_of([1.0, 2.0, 4.0, 1.0, 1.0], [3.0, 2.0, 40.0, 2.0, 4.0])
    assert (ratio.low, ratio.median, ratio.high) == (2.0, 3.0, 4.0)


def test_the_page_of_the_documentation_is_that_of_the_stored_tables(tmp_path):
    written = page.write(ROOT / "benchmarks/results", tmp_path)
    stored = (ROOT / "docs/benchmarks.md").read_text(encoding="utf-8")
    assert written.read_text(encoding="utf-8") == stored
    assert all((ROOT / "docs" / picture.name).is_file() for picture in tmp_path.glob("*.png"))
