"""The study of a user's network: kernels against autograd, training, gates, files, refusals."""

import json

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import torch
from tests.helpers import picture_faults
from tests.helpers.kernels_by_jacobian import jacobian_kernel
from torch import nn

import finitewidth as fw
from finitewidth.cli.main import main
from finitewidth.common.errors import ConfigError
from finitewidth.data.bundled import digits
from finitewidth.data.select import channels_first, scaled
from finitewidth.figures import study as study_figures
from finitewidth.library.study import Study
from finitewidth.library.study_draws import dispersion

SMALL = {
    "draws": 4,
    "steps": 4,
    "times": [0, 1, 4],
    "per_class": 2,
    "rate": 0.005,
    "batch_size": 16,
    "device": "cpu",
    "progress": False,
}


def dense():
    return nn.Sequential(
        nn.Flatten(), nn.Linear(64, 12), nn.ReLU(), nn.Linear(12, 10), nn.ReLU(), nn.Linear(10, 10)
    )


def convolutional():
    return nn.Sequential(
        nn.Conv2d(1, 3, 3),
        nn.BatchNorm2d(3),
        nn.GELU(),
        nn.Dropout(0.2),
        nn.Flatten(),
        nn.Linear(108, 10),
    )


@pytest.fixture(scope="module")
def images():
    """Training and test images of digits, 60 and 40."""
    data = digits()
    return tuple(
        (
            channels_first(scaled(getattr(data, f"{split}_images")[:count])),
            getattr(data, f"{split}_labels")[:count],
        )
        for split, count in (("train", 60), ("test", 40))
    )


def matrix(rows):
    size = int(rows["column"].max()) + 1
    kernel = np.empty((size, size))
    kernel[rows["row"], rows["column"]] = kernel[rows["column"], rows["row"]] = rows["value"]
    return kernel


def by_jacobians(network, x):
    """The traced kernel in float64, by the definition."""
    whole = jacobian_kernel(network.double(), x.double())
    return torch.einsum("kikj->ij", whole).numpy()


def sorted_images(pair, per_class=2):
    """The first images of each class, sorted by class."""
    x, labels = pair
    index = np.concatenate([np.flatnonzero(labels == c)[:per_class] for c in range(10)])
    return torch.from_numpy(x[index]), labels[index]


@pytest.mark.parametrize("make", [dense, convolutional])
def test_kernels_are_those_of_autograd(make, images):
    weights = []

    def kept():
        network = make()
        weights.append({name: value.clone() for name, value in network.state_dict().items()})
        return network

    tables = fw.study(kept, images[0], **SMALL).tables
    x, labels = sorted_images(images[0])
    network = make().eval()
    kernels = []
    for state in weights:  # the first is trained
        network.float().load_state_dict(state)
        kernels.append(by_jacobians(network, x))
    entries = tables["entries"]
    expected = {
        ("tangent kernel", 0): kernels[0],
        ("mean over draws", 0): np.mean(kernels[1:], axis=0),
        ("deviation over draws", 0): np.std(kernels[1:], axis=0, ddof=1),
    }
    for (name, step), kernel in expected.items():
        rows = entries[(entries["kernel"] == name) & (entries["step"] == step)]
        np.testing.assert_allclose(matrix(rows), kernel, rtol=1e-3, atol=1e-4 * kernel.max())
    row = tables["kernels"].query("kernel == 'tangent kernel'").iloc[0]
    assert row["alignment"] == pytest.approx(fw.label_alignment(kernels[0], labels), rel=1e-4)
    drawn = tables["draws"].query("outputs == 'sum over outputs' and image == 3")["theta"]
    np.testing.assert_allclose(drawn, [kernel[3, 3] for kernel in kernels[1:]], rtol=1e-4)


def test_training_follows_plain_torch(images):
    torch.manual_seed(0)
    network = dense()
    settings = {**SMALL, "optimiser": "sgd", "batch_size": 1000}
    before = {name: value.clone() for name, value in network.state_dict().items()}
    result = fw.study(network, *images[:1], test=images[1], **settings)
    assert result.left_out == {
        "dispersion": "the network is a module; give a function that makes one"
    }
    assert all(torch.equal(before[name], value) for name, value in network.state_dict().items())
    x = torch.from_numpy(images[0][0])
    y = torch.from_numpy(images[0][1])
    for _ in range(4):  # a batch of all images does not depend on their order
        network.zero_grad()
        (0.5 * (network(x) - torch.eye(10)[y]).square().sum(1).mean()).backward()
        with torch.no_grad():
            for parameter in network.parameters():
                parameter -= settings["rate"] * parameter.grad
    few, _ = sorted_images(images[0])
    row = result.tables["training"].iloc[-1]
    assert row["train_accuracy"] == float((network(x).argmax(1) == y).double().mean())
    full = fw.full_kernel(network, few).flatten(2).flatten(0, 1)
    largest = float(torch.linalg.eigvalsh(full).max()) / len(few)
    assert row["eigenvalue"] == pytest.approx(largest, rel=1e-3)
    kernel = result.tables["entries"].query("kernel == 'tangent kernel' and step == 4")
    np.testing.assert_allclose(matrix(kernel), by_jacobians(network, few), rtol=1e-3)


def test_gates_are_counted_as_by_hand(images):
    torch.manual_seed(1)
    network = dense()
    tables = fw.study(network, images[0], **SMALL).tables
    x, _ = sorted_images(images[0])
    first = network[:3](x)
    on = [(network[1](x.flatten(1)) > 0).double(), (network[3](first) > 0).double()]
    rows = tables["layers"].query("step == 0")
    np.testing.assert_allclose(rows["active"], [float(layer.mean()) for layer in on], atol=1e-6)
    assert (rows["changed"] == 0).all()
    flat = x.flatten(1).double()
    kernel = (flat @ flat.T) * (on[0] @ on[0].T) * (on[1] @ on[1].T)
    entries = tables["entries"].query("kernel == 'neural path kernel' and step == 0")
    expected = (kernel / kernel.trace()).numpy()
    np.testing.assert_allclose(matrix(entries), expected, atol=1e-12)


def test_intervals_of_a_study_contain_the_truth_or_are_bounds():
    """One image; of 100 intervals, 9 or more miss above with a probability of .001."""
    init = fw.constant_width(6, 12, sigma_w2=2.0)
    truth = fw.ntk_moments(init).dispersion
    theta = fw.draw_ntk(init, draws=100 * 60, seed=2).reshape(100, 60, 1)
    found = [dispersion(each, 0) for each in theta]
    assert sum(row["high"] < truth for row in found) < 9
    assert sum(row["low"] > truth for row in found) < 9
    few = next(row for row in found if np.isinf(row["high"]))
    assert np.isnan(few["standard_error"])
    assert few["enough"] > 60
    known = next(row for row in found if np.isfinite(row["high"]))
    assert known["enough"] == 60


def test_too_few_draws_have_an_arrow(images):
    """The bar of a bound ends at the value, and the axis shows it."""
    tables = fw.study(dense, images[0], **SMALL).tables
    rows = tables["dispersion"]
    rows.loc[0, "high"] = np.inf
    with mpl.rc_context():
        figure = study_figures.dispersion(tables)
    axis = figure.axes[1]
    arrows = [text for text in axis.texts if text.arrow_patch is not None]
    assert len(arrows) == 1
    assert arrows[0].xyann == (0, rows.loc[0, "r"])
    assert axis.get_ylim()[0] < rows["low"].min() < rows["r"].max() < axis.get_ylim()[1]


def test_the_dispersion_of_a_two_layer_network_is_that_of_the_exact_sampler():
    init = fw.network([16, 5, 1], sigma_w2=2.0)
    drawn = fw.draw_ntk(init, draws=2000, seed=1)
    own = dispersion(drawn[:, None], 0)
    library = fw.dispersion(drawn)
    assert own["r"] == pytest.approx(library.value)
    assert own["standard_error"] == pytest.approx(library.standard_error, rel=0.2)
    exact = fw.ntk_moments(init).dispersion
    assert own["low"] < exact < own["high"]


def test_equal_seeds_give_equal_files(images, tmp_path, monkeypatch):
    monkeypatch.setattr(Study, "figures", lambda _: {})  # they take seconds
    contents = []
    for seed, folder in ((3, "one"), (3, "two"), (4, "other")):
        result = fw.study(convolutional, images[0], test=images[1], seed=seed, **SMALL)
        result.write(tmp_path / folder, network="here")
        files = (tmp_path / folder).iterdir()
        contents.append({file.name: file.read_bytes() for file in files})
    assert contents[0] == contents[1]
    assert contents[0]["training.csv"] != contents[2]["training.csv"]
    about = json.loads(contents[0]["study.json"])
    assert (about["network"], about["settings"]["seed"]) == ("here", 3)


def test_figures_have_no_faults_and_leave_the_settings_of_matplotlib(images, monkeypatch):
    monkeypatch.setitem(mpl.rcParams, "lines.linewidth", 7.5)
    figures = fw.study(convolutional, images[0], test=images[1], **SMALL).figures()
    assert mpl.rcParams["lines.linewidth"] == 7.5
    assert list(figures) == ["training", "dispersion", "gates"]
    for name, figure in figures.items():
        assert not picture_faults.faults(figure), name


def test_a_network_without_gates_has_no_figure_of_gates(images):
    result = fw.study(nn.Sequential(nn.Flatten(), nn.Linear(64, 10)), images[0], **SMALL)
    assert "no activation that has gates" in result.left_out["gates"]
    assert list(result.figures()) == ["training"]


def fixed():
    torch.manual_seed(0)
    return dense()


@pytest.mark.parametrize(
    ("make", "settings", "message"),
    [
        (fixed, {}, "the same weights at every call; make a new module in the function"),
        (dense, {"rate": 1e30, "optimiser": "sgd"}, "rate: the loss is not finite; choose a small"),
        (dense, {"optimiser": "adamm"}, "optimiser = 'adamm': must be one of adam, sgd"),
        (dense, {"draws": 1}, "draws: 1 network has no dispersion"),
        (dense, {"steps": 0}, "steps = 0: must be an integer of at least 1"),
        (dense, {"times": [1, 2]}, r"times: \[1, 2\] must ascend from 0 to at most steps = 4"),
        (dense, {"times": [0, 5]}, "must ascend from 0"),
        (dense, {"per_class": 50}, "per_class = 50: class 0 has"),
        (dense, {"device": "tpu"}, "device: 'tpu' is not here"),
    ],
)
def test_what_is_refused_is_named(make, settings, message, images):
    with pytest.raises(ConfigError, match=message):
        fw.study(make, images[0], **{**SMALL, **settings})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda x, y: ((255 * x).astype(np.uint8), y), "images: inputs of type .*; divide pixels"),
        (lambda x, y: (x, y[:-1]), r"labels of shape \(59,\) must be"),
        (lambda x, y: (x, y.astype(float)), "labels must be integers from 0"),
    ],
)
def test_bad_images_are_refused(change, message, images):
    with pytest.raises(ConfigError, match=message):
        fw.study(dense, change(*images[0]), **SMALL)


FACTORY = """
from torch import nn

def make(input_shape, classes):
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 5), nn.ReLU(), nn.Linear(5, classes))
"""
WORDS = ("--draws", "3", "--steps", "3", "--per-class", "2", "--train", "60", "--device", "cpu")


def test_the_command_writes_a_folder_beside_the_file(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.py").write_text(FACTORY, encoding="utf-8")
    assert main(["network", "net.py:make", *WORDS]) == 0
    assert capsys.readouterr().out == "net_digits_study\n"
    about = json.loads((tmp_path / "net_digits_study/study.json").read_text(encoding="utf-8"))
    assert (about["network"], about["data"]) == ("net.py:make", "digits 8×8")
    assert (about["settings"]["steps"], about["settings"]["images"]) == (3, 60)
    assert len(about["sha256"]) == 64
    kinds = [file.suffix for file in (tmp_path / "net_digits_study").iterdir()]
    assert {kind: kinds.count(kind) for kind in kinds} == {
        ".csv": 6,
        ".png": 3,
        ".pdf": 3,
        ".json": 1,
    }
    assert sorted(file.name for file in tmp_path.iterdir()) == ["net.py", "net_digits_study"]


def test_the_command_names_the_network_that_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = FACTORY.replace("nn.ReLU()", "nn.BatchNorm1d(5, track_running_stats=False)")
    (tmp_path / "net.py").write_text(text, encoding="utf-8")
    assert main(["network", "net.py:make", *WORDS]) == 1
    assert "net.py:make: module '2' (BatchNorm1d)" in capsys.readouterr().err


def test_inputs_may_be_words():
    def make():
        return nn.Sequential(nn.Embedding(7, 4), nn.Flatten(), nn.Linear(12, 2))

    words = torch.randint(7, (20, 3))
    labels = torch.arange(20) % 2
    result = fw.study(make, (words, labels), **SMALL)
    assert result.tables["kernels"]["step"].tolist() == [0, 1, 4]


class Joined(nn.Module):
    """Takes one tensor, or its two halves as arguments ``left`` and ``right``."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Dropout(0.2), nn.Linear(8, 2))

    def forward(self, left, right=None):
        return self.body(left if right is None else torch.cat([left, right], dim=1))


class Masked(nn.Module):
    """Means of embeddings where a mask is 1; ids and mask may be the channels of one tensor."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(7, 4)
        self.body = nn.Linear(4, 2)

    def forward(self, ids, mask=None):
        if mask is None:
            ids, mask = ids.unbind(1)
        shares = mask / mask.sum(1, keepdim=True)
        return self.body((self.words(ids) * shares[:, :, None]).sum(1).relu())


HALVES = torch.rand(24, 6, generator=torch.Generator().manual_seed(0)).split(3, dim=1)
IDS = torch.arange(72).reshape(24, 3) % 7
MASK = (torch.arange(72).reshape(24, 3) % 4 > 0).long()


@pytest.mark.parametrize(
    ("make", "several", "one"),
    [
        (Joined, HALVES, torch.cat(HALVES, dim=1)),
        (Joined, {"right": HALVES[1], "left": HALVES[0].numpy()}, torch.cat(HALVES, dim=1)),
        (Masked, {"ids": IDS, "mask": MASK}, torch.stack([IDS, MASK], dim=1)),
        (Masked, {"ids": IDS, "mask": MASK.bool()}, torch.stack([IDS, MASK], dim=1)),
    ],
)
def test_a_network_of_several_inputs_is_studied_as_one_of_a_single_input(make, several, one):
    labels = torch.arange(24) // 2 % 2
    found = fw.study(make, (several, labels), test=(several, labels), **SMALL)
    expected = fw.study(make, (one, labels), test=(one, labels), **SMALL)
    assert found.settings == expected.settings
    assert found.left_out == expected.left_out
    assert set(found.tables) == {"training", "kernels", "entries", "layers", "draws", "dispersion"}
    for name, table in expected.tables.items():
        pd.testing.assert_frame_equal(found.tables[name], table, rtol=1e-5)


@pytest.mark.parametrize(
    ("several", "message"),
    [
        ({"ids": IDS, "mask": MASK[:-1]}, r"inputs of shape \(23, 3\) and labels of shape \(24,\)"),
        ({"ids": IDS, "mask": MASK / 0}, "must be finite real numbers"),
        ({"ids": IDS, "other": MASK}, r"it does not take inputs of shape \(2, 3\), \(2, 3\)"),
    ],
)
def test_bad_inputs_of_several_are_refused(several, message):
    with pytest.raises(ConfigError, match=message):
        fw.study(Masked, (several, torch.arange(24) % 2), **SMALL)


def test_a_kernel_over_a_training_takes_several_inputs():
    torch.manual_seed(0)
    network = Joined().eval()
    x = {"left": HALVES[0], "right": HALVES[1]}
    descent = torch.optim.SGD(network.parameters(), lr=0.1)

    def step():
        descent.zero_grad()
        network(**x).square().mean().backward()
        descent.step()

    found = fw.kernel_over_training(network, x, step, [0, 2])
    torch.testing.assert_close(found[1], fw.traced_kernel(network, torch.cat(HALVES, dim=1)))
    assert not torch.equal(found[0], found[1])
    largest = fw.kernel_over_training(
        network, x, step, [0], kernel=lambda net, x: fw.largest_eigenvalue(net, x).value
    )
    assert largest.shape == (1,)
