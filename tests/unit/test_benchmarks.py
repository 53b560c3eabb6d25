"""The parts of the benchmarks that compute: counts, bounds, ratios, and the page from a table."""

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from benchmarks import draws, networks, page, side_by_side, stacked, trained
from benchmarks.networks import FULL, OURS, TRACED
from benchmarks.timing import Timer, Way, ratio_of
from benchmarks.work import MEMORY, NUMBERS, PRODUCTS, Machine, Work, bound_of, counted_flops
from torch import nn

from finitewidth.kernels.ntk_init import normals, scalar_chain
from finitewidth.kernels.ntk_init.initialisation import constant_width
from finitewidth.kernels.trained import traced_kernel
from finitewidth.networks.architecture import layers_of
from finitewidth.training.gated import train
from finitewidth.training.gated_stack import build_stack

ROOT = Path(__file__).parents[2]
MACHINE = Machine({"float32": 2e9, "float64": 1e9}, bandwidth=1e9, normal=1e-8, gamma=1e-7,
                  uniform=1e-9)  # fmt: skip
TIMER = Timer(device="cpu", clock="cpu", rounds=3, seconds=0.0)


class Counted:
    """A number that counts the operations in which it takes part."""

    operations = 0

    def __init__(self, value):
        self.value = float(value)

    def _do(self, other, function):
        Counted.operations += 1
        return Counted(function(self.value, getattr(other, "value", other)))

    def __add__(self, other):
        return self._do(other, lambda a, b: a + b)

    def __sub__(self, other):
        return self._do(other, lambda a, b: a - b)

    def __mul__(self, other):
        return self._do(other, lambda a, b: a * b)

    def __truediv__(self, other):
        return self._do(other, lambda a, b: a / b)


def counted_by_hand(function):
    Counted.operations = 0
    function()
    return Counted.operations


def random_numbers(rng, *shape):
    return np.vectorize(Counted, otypes=[object])(rng.standard_normal(shape))


def multiplied(a, b):
    """A matrix product by its definition, each entry a sum that starts at zero."""
    out = np.empty((len(a), b.shape[1]), dtype=object)
    for i, j in np.ndindex(out.shape):
        out[i, j] = Counted(0)
        for k in range(len(b)):
            out[i, j] = out[i, j] + a[i, k] * b[k, j]
    return out


def reflected(v, part, scale):
    """Apply 1 - scale v v^T to the columns of a part of a matrix, in place."""
    for j in range(part.shape[1]):
        inner = Counted(0)
        for i in range(len(v)):
            inner = inner + v[i] * part[i, j]
        inner = inner * scale
        for i in range(len(v)):
            part[i, j] = part[i, j] - v[i] * inner


def householder(a):
    """R in place of a, and the reflections."""
    kept = []
    for column in range(a.shape[1]):
        v = a[column:, column].copy()
        norm2 = Counted(0)
        for entry in v:
            norm2 = norm2 + entry * entry
        v[0] = v[0] + np.copysign(norm2.value**0.5, v[0].value)
        new = Counted(0)
        for entry in v:
            new = new + entry * entry
        kept.append((column, v, Counted(2) / new))
        reflected(v, a[column:, column:], kept[-1][2])
    return kept


def orthonormal(shape, reflections):
    q = np.vectorize(Counted, otypes=[object])(np.eye(*shape))
    for column, v, scale in reversed(reflections):
        reflected(v, q[column:, column:], scale)
    return q


def test_products_are_counted_as_by_hand():
    rng = np.random.default_rng(0)
    a, b = random_numbers(rng, 3, 4), random_numbers(rng, 4, 5)
    by_hand = counted_by_hand(lambda: multiplied(a, b))
    assert counted_flops(lambda: torch.ones(3, 4) @ torch.ones(4, 5)) == by_hand
    assert counted_flops(lambda: torch.ones(2, 3, 4) @ torch.ones(2, 4, 5)) == 2 * by_hand
    assert counted_flops(lambda: torch.ones(3, 4) @ torch.ones(4)) == by_hand / 5
    assert counted_flops(lambda: torch.einsum("ij,jk->ik", torch.ones(3, 4), torch.ones(4, 5))) == (
        by_hand
    )


@pytest.mark.parametrize("groups", [1, 2])
def test_convolutions_and_their_gradients_are_counted_as_by_hand(groups):
    x = torch.randn(3, 4, 6, 6, requires_grad=True)
    weight = torch.randn(8, 4 // groups, 3, 3, requires_grad=True)
    entries = 3 * 8 * 4 * 4  # of the output
    by_hand = 2 * entries * (4 // groups) * 9

    def forward():
        return nn.functional.conv2d(x, weight, groups=groups)

    assert counted_flops(forward) == by_hand
    # each product of the forward pass occurs once in each gradient
    assert counted_flops(lambda: forward().sum().backward()) == 3 * by_hand


def test_a_factorisation_is_counted_as_by_hand_to_leading_order():
    height, columns = 100, 25
    a = random_numbers(np.random.default_rng(1), height, columns)
    kept = []
    for_r = counted_by_hand(lambda: kept.extend(householder(a)))
    for_q = counted_by_hand(lambda: orthonormal((height, columns), kept))
    matrix = torch.randn(height, columns)
    assert counted_flops(lambda: torch.linalg.qr(matrix, mode="r")) == pytest.approx(
        for_r, rel=0.15
    )
    both = counted_flops(lambda: torch.linalg.qr(matrix))
    assert both == pytest.approx(for_r + for_q, rel=0.15)


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


def test_flop_of_the_matrix_sampler_follow_from_its_products():
    S, M, L = 3, 8, 4
    init, x = constant_width(L, M, sigma_w2=2.0), torch.randn(S, M)
    widths, expected = init.layer_widths, 0
    for number, (m, n) in enumerate(itertools.pairwise(widths), start=1):
        qr = 2 * S**2 * (m - S / 3)
        expected += 2 * round(qr) + 2 * n * S * S + 2 * m * S * S  # basis, W x, Gram matrix
        expected += 2 * n * S * S  # Gram matrix of the errors
        if number > 1:
            short, long = sorted((n, S))
            expected += round(2 * short**2 * (long - short / 3))  # factor of the errors
            expected += 2 * m * short * S + 2 * S * n * S + 2 * S * m * S + 2 * m * S * S
    assert draws.matrices(init, x).work.flops == pytest.approx(expected, rel=1e-3)


def test_flop_of_the_plain_products_are_those_of_both_passes():
    init, x = constant_width(4, 8, sigma_w2=2.0), torch.randn(3, 8)
    entries = [m * n for m, n in itertools.pairwise(init.layer_widths)]
    assert draws.products(init, x).work.flops == 2 * 3 * (sum(entries) + sum(entries[1:]))


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


def test_flop_of_backward_passes_by_input_and_by_pair():
    network, x = nn.Sequential(nn.Linear(4, 3), nn.Linear(3, trained.OUTPUTS)), torch.randn(5, 4)
    K, N, P = trained.OUTPUTS, 5, 4 * 3 + 3 + 3 * trained.OUTPUTS + trained.OUTPUTS
    forward = 2 * (4 * 3 + 3 * K)
    backward = K * 2 * (2 * 3 * K + 4 * 3)  # signals below the output; weights of both layers
    by_input = trained.by_input(network, x).work
    assert by_input.flops == N * (forward + backward) + 2 * N**2 * K * P
    pairs = trained.by_pair(network, x)
    assert pairs.units == 2 / N**2
    assert pairs.work.flops == pytest.approx(N**2 / 2 * 2 * (forward + backward))


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


def test_a_large_jacobian_is_computed_for_some_parameters_after_another(monkeypatch):
    network, x = networks.small("ResNet").eval(), torch.randn(3, 1, networks.SIDE, networks.SIDE)
    whole = networks.by_jacobian(network, x, full=True, chunk=2)
    monkeypatch.setattr(networks, "STORED", 4 * 3 * networks.OUTPUTS * 1000)  # 1000 parameters
    parts = networks.groups(network, 3)
    assert len(parts) > 1
    assert [*itertools.chain(*parts)] == [name for name, _ in network.named_parameters()]
    assert torch.allclose(networks.by_jacobian(network, x, full=True, chunk=3), whole, rtol=1e-4)


def test_a_stack_and_the_loop_train_the_same_networks_and_plain_torch_such_ones(monkeypatch):
    for architecture, shape, optimiser in stacked.CASES.values():
        data = stacked.images(shape, "cpu", 64)
        run = stacked.description(architecture, optimiser, 2)
        layers = layers_of(architecture, data.shape, stacked.OUTPUTS)
        stack = build_stack(run, layers, None, "cpu")
        plain = stacked.modules(layers, data)
        ours = sum(tensor[0].numel() for tensor in stack.trained())
        assert sum(p.numel() for p in plain.parameters()) == ours
        assert plain(data.train_x).shape == (64, stacked.OUTPUTS)
        together, alone = train(run, data).history, []
        monkeypatch.setattr(
            stacked, "train", lambda *a, found=alone: found.extend(train(*a).history)
        )
        stacked.one_by_one(run, data)()
        assert len(together) == len(alone) == 2
        for one, two in zip(together, alone, strict=True):
            assert one["train_loss"] == pytest.approx(two["train_loss"], rel=1e-4)


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


def test_ways_take_turns_and_times_are_per_unit(monkeypatch):
    now, calls = [0.0], []

    def taking(name, seconds):
        def run():
            calls.append(name)
            now[0] += seconds

        return run

    monkeypatch.setattr("benchmarks.timing.time.process_time", lambda: now[0])
    ways = [Way("a", taking("a", 1.0), 2, Work()), Way("b", taking("b", 3.0), 1, Work())]
    assert TIMER.in_turn(ways) == [[0.5] * 3, [3.0] * 3]
    assert calls == [*"aabb", *"ab", *"ba", *"ab"]
    repeated = Timer(device="cpu", clock="cpu", rounds=1, seconds=4.0)
    calls.clear()
    assert repeated.in_turn(ways) == [[0.5], [3.0]]
    assert calls == [*"aabb", *"aaaa", "b"]


def test_the_page_of_the_documentation_is_that_of_the_stored_tables(tmp_path):
    written = page.write(ROOT / "benchmarks/results", tmp_path)
    stored = (ROOT / "docs/benchmarks.md").read_text(encoding="utf-8")
    assert written.read_text(encoding="utf-8") == stored
    assert all((ROOT / "docs" / picture.name).is_file() for picture in tmp_path.glob("*.png"))
