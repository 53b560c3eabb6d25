"""``trust`` of torch modules: numbers by definition, coverage of intervals, refusals, command."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn

import finitewidth as fw
from finitewidth.cli.main import main
from finitewidth.library.drawn_networks import Draws
from finitewidth.library.intervals import mean_interval, median_interval, slope_interval
from finitewidth.library.module_trust import NetworkTrust
from finitewidth.library.study_draws import dispersion

X = torch.randn(4, 6, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
Y = torch.eye(2).repeat(2, 1)
MAKE = """
from torch import nn
def make(shape, classes, width=4):
    return nn.Sequential(
        nn.Flatten(), nn.Linear(shape[0], width), nn.ReLU(), nn.Linear(width, classes)
    )
"""


def make(width: int = 16) -> nn.Module:
    return nn.Sequential(nn.Linear(6, width), nn.ReLU(), nn.Linear(width, 2))


def critical() -> nn.Module:
    """ReLU layers of one fan-in without biases, with weights N(0, 2 / fan-in)."""
    layers = [nn.Linear(12, 12, bias=False), nn.ReLU(), nn.Linear(12, 1, bias=False)]
    for layer in layers[::2]:
        nn.init.normal_(layer.weight, std=(2 / 12) ** 0.5)
    return nn.Sequential(*layers)


def normalised() -> nn.Module:
    return nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))


@cache
def answer() -> NetworkTrust:
    return fw.trust(make, X, Y, draws=12, steps=10)


@cache
def diagonals() -> np.ndarray:
    """Theta(x, x) of 1500 critical networks at one input of length 1, in groups of 30."""
    x = torch.eye(12)[:1].double()
    return Draws(critical, x, 3).kernels(1500).kernels.reshape(50, 30)


def test_numbers_are_those_of_the_definitions():
    found = answer()
    draws = Draws(make, X, 0)
    kernels = []  # of the first output
    steps = []
    for network in draws.networks(12):
        full = fw.full_kernel(network, X)
        kernels.append(full[0, :, 0].numpy())
        largest = np.linalg.eigvalsh(full.reshape(8, 8).numpy())[-1]
        steps.append(2 * len(X) / largest)
    assert found.mean_kernel == pytest.approx(np.mean(kernels, axis=0), rel=1e-10)
    limit = fw.wide_kernel(
        make(), X, sigma_w2="torch", sigma_b2="torch", parametrisation="standard"
    ).numpy()
    assert found.limit == pytest.approx(limit)
    distances = [np.linalg.norm(kernel - limit) / np.linalg.norm(limit) for kernel in kernels]
    assert found.distance.value == pytest.approx(np.median(distances))
    assert found.largest_step.value == pytest.approx(np.median(steps), rel=1e-6)


def test_the_limit_is_the_mean_of_wide_networks():
    found = fw.trust(make, X, width=256, draws=40)
    ratio = found.over_limit
    # uniform weights of the first layer leave about 1 %
    assert ratio.low - 0.01 < 1 < ratio.high + 0.01
    assert found.growth["width"].tolist() == [128, 256, 512, 1024]
    assert found.growth["distance"].is_monotonic_decreasing
    assert -0.6 < found.slope.value < -0.3


def test_intervals_cover_what_is_known_exactly():
    # each misses with probability 0.05; of 50, more than 8 do with probability 0.002
    # E |grad f|^2 is 1 for each of two layers: 12 (2 / 12) / 2
    mean = 2.0
    # parts A and B of the layers: var A = var B = 12 (1 / 24 - 1 / 144), cov(A, B) = 1 / 12
    r = 1 + 1 / mean**2
    missed_mean = missed_r = 0
    for number, theta in enumerate(diagonals()):
        found = mean_interval(theta)
        missed_mean += not found.low <= mean <= found.high
        ratio = dispersion(theta[:, None], number)
        missed_r += not ratio["low"] <= r <= ratio["high"]
    assert missed_mean <= 8
    assert missed_r <= 8


def test_medians_and_slopes_are_covered():
    draw = np.random.default_rng(0)
    missed_median = missed_slope = 0
    for _ in range(400):
        values = np.exp(draw.standard_normal(20))
        found = median_interval(values)
        missed_median += not found.low <= 1 <= found.high
        groups = [width**-0.5 * np.exp(0.4 * draw.standard_normal(20)) for width in (1, 2, 4)]
        slope = slope_interval([1, 2, 4], groups)
        missed_slope += not slope.low <= -0.5 <= slope.high
    # 20 expected; above 36 with probability 0.0003
    assert missed_median <= 36
    assert missed_slope <= 36


@pytest.mark.parametrize(("count", "ends"), [(6, (0, 5)), (20, (5, 14)), (50, (17, 32))])
def test_ends_of_the_interval_of_a_median(count, ends):
    found = median_interval(np.arange(count)[::-1])
    assert (found.low, found.high) == ends


def test_a_network_without_a_limit_is_answered_without_it():
    found = fw.trust(normalised, X, draws=6)
    assert found.limit is None
    assert found.distance is None
    assert "BatchNorm1d" in found.no_limit
    assert found.no_limit in str(found)
    assert "distance" not in set(found.to_frame()["quantity"])


def test_a_training_moves_the_kernel():
    table = answer().training
    assert table["step"].tolist() == [0, 1, 10]
    assert table["change"].iloc[0] == 0
    assert table["change"].iloc[-1] > 0


def test_random_numbers_of_the_caller_stay_and_equal_seeds_give_equal_answers():
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    first = fw.trust(make, X, draws=6, seed=1)
    assert torch.equal(torch.rand(3), expected)
    second = fw.trust(make, X, draws=6, seed=1)
    pd.testing.assert_frame_equal(first.to_frame(), second.to_frame())
    assert first.mean != fw.trust(make, X, draws=6, seed=2).mean


def test_the_answer_in_words_and_as_files(tmp_path):
    text = str(answer())
    for words in ("mean over limit", "distance at 64", "change in training", "describes such"):
        assert words in text
    answer().write(tmp_path / "new")
    assert {each.name for each in (tmp_path / "new").iterdir()} == {
        "answer.txt",
        "answer.csv",
        "answer.png",
        "answer.pdf",
    }
    assert len(answer().figure().axes) == 4


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((make,), {}, "x: give the inputs"),
        (([6, 4, 1], X), {}, "x: a law of networks takes none"),
        ((make(), X), {}, "make_network: it is a module"),
        ((lambda: 3, X), {}, "make_network: it returns int"),
        ((lambda width: make(width), X), {}, "width: make_network takes a width"),
        ((normalised, X), {"width": 4}, "width: make_network takes none"),
        ((make, X), {"draws": 5}, "draws"),
        ((critical, torch.rand(2, 12)), {}, "sigma_w2: the weights of '0' times the fan-in"),
        ((make, X), {"sigma_b2": 0.0}, "sigma_b2: the biases of '0'"),
        ((make, X), {"sigma_w2": -1.0}, "sigma_w2"),
        ((make, X, Y), {"rate": 1e6, "draws": 6}, "rate: the training diverges"),
    ],
)
def test_bad_arguments_are_refused(arguments, options, message):
    with pytest.raises(fw.ConfigError, match=message):
        fw.trust(*arguments, **options)


def test_given_variances_are_taken():
    found = fw.trust(critical, torch.rand(2, 12), sigma_w2=2.0, draws=6)
    assert found.distance is not None


def test_the_command_writes_what_it_prints(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_net.py").write_text(MAKE)
    np.save("x.npy", X.numpy())
    np.save("y.npy", Y.numpy())
    words = ["trust", "my_net.py:make", "--inputs", "x.npy"]
    assert main([*words, "--targets", "y.npy", "--draws", "6", "--steps", "5"]) == 0
    said = capsys.readouterr().out
    folder = tmp_path / "my_net_x_limit"
    assert (folder / "answer.txt").read_text() in said
    assert "change in training" in said
    assert (folder / "answer.png").is_file()
    for options, message in (
        (["--sigma-w2", "two"], "--sigma-w2 two: must be a number or torch"),
        (["--sigma-w2", "2"], "sigma_w2: the weights of '1'"),
        (["--targets", "none.npy"], "--targets"),
    ):
        assert main([*words, *options]) == 1
        said = capsys.readouterr().err
        assert message in said
        assert said.count("\n") == 1
