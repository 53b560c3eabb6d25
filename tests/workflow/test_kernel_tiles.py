"""``finitewidth kernel``: the tangent kernel of a user's network in tiles, as jobs of Snakemake."""

import io
import os
import shutil

import numpy as np
import pytest
import torch
from PIL import Image
from tests.helpers.project import ROOT

import finitewidth as fw
from finitewidth.cli import tiles as command
from finitewidth.cli.main import main
from finitewidth.library import tiles
from finitewidth.networks.user_network import read_user_network

from .fork_server import FOLDER

pytestmark = pytest.mark.workflow
FACTORY = """
from torch import nn

def make(input_shape, classes):
    return nn.Sequential(nn.Conv2d(input_shape[0], 4, 3), nn.BatchNorm2d(4), nn.ReLU(),
                         nn.Flatten(), nn.Linear(4 * 6 * 6, classes))
"""
LOST = ("kernel.npy", "tiles/0-8_8-12.npy")


@pytest.fixture(scope="module", autouse=True)
def forks(fork_server):
    """The command starts Python in the environment of the test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(FOLDER), prepend=os.pathsep)
        yield


@pytest.fixture(scope="module")
def user_folder(tmp_path_factory):
    """A folder of a user: my_net.py, and pictures of two classes."""
    folder = tmp_path_factory.mktemp("user")
    (folder / "my_net.py").write_text(FACTORY, encoding="utf-8")
    stream = np.random.default_rng(0)
    for split, count in (("train", 5), ("test", 1)):
        for label in ("circle", "square"):
            class_folder = folder / "shapes" / split / label
            class_folder.mkdir(parents=True)
            for number in range(count):
                pixels = stream.integers(0, 256, (8, 8), np.uint8)
                Image.fromarray(pixels).save(class_folder / f"{number}.png")
    return folder


def kernel(*words, network="my_net.py:make", images="shapes", tile="8"):
    """Run the command in the current folder; return its exit status."""
    return main(
        [
            "--project",
            str(ROOT),
            "kernel",
            network,
            "--images",
            images,
            "--test",
            "2",
            "--tile",
            tile,
            "--float64",
            "--cores",
            "2",
            *words,
        ]
    )


@pytest.fixture(scope="module")
def finished_run(user_folder):
    """The folder of a finished run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(user_folder)
        assert kernel() == 0
    return user_folder / "my_net_shapes_kernel"


@pytest.fixture
def copied_run(finished_run, user_folder, tmp_path, monkeypatch):
    """A copy of the finished run, and of the network, that a test may change."""
    shutil.copytree(finished_run, tmp_path / finished_run.name)
    shutil.copytree(user_folder / "shapes", tmp_path / "shapes")
    shutil.copy2(user_folder / "my_net.py", tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path / finished_run.name


def times(folder):
    files = [*folder.glob("*.npy"), *folder.glob("*.pt"), *folder.glob("tiles/*")]
    return {str(file.relative_to(folder)): file.stat().st_mtime_ns for file in files}


def test_the_file_is_the_kernel_and_has_the_bytes_of_one_process(finished_run, user_folder):
    make = read_user_network(f"{user_folder}/my_net.py:make").factory()
    network = make((1, 8, 8), 2).double().eval()
    network.load_state_dict(torch.load(finished_run / "weights.pt", weights_only=True))
    x = torch.from_numpy(np.load(finished_run / "images.npy"))
    assert sorted(np.load(finished_run / "labels.npy")[:10]) == [0] * 5 + [1] * 5
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        kernel_matrix = fw.tiled_kernel(network, x, tile=8).numpy()
    finally:
        torch.set_num_threads(threads)
    expected = fw.traced_kernel(network, x).numpy()
    np.testing.assert_allclose(kernel_matrix, expected, rtol=1e-12, atol=0)
    assert np.array_equal(kernel_matrix, kernel_matrix.T)
    stream = io.BytesIO()
    np.save(stream, kernel_matrix)
    assert (finished_run / "kernel.npy").read_bytes() == stream.getvalue()


def test_only_what_is_missing_is_computed_again(copied_run):
    before = times(copied_run)
    content = (copied_run / "kernel.npy").read_bytes()
    for name in LOST:
        (copied_run / name).unlink()
    # a run that is killed leaves its lock
    (copied_run / ".snakemake/locks").mkdir(parents=True, exist_ok=True)
    (copied_run / ".snakemake/locks/0.output.lock").write_text("kernel.npy\n", encoding="utf-8")
    assert kernel() == 0
    after = times(copied_run)
    assert {name for name in before if after[name] != before[name]} == set(LOST)
    assert (copied_run / "kernel.npy").read_bytes() == content


def test_another_network_makes_all_tiles_out_of_date(copied_run, capfd):
    file = copied_run.parent / "my_net.py"
    file.write_text(FACTORY.replace("ReLU", "Tanh"), encoding="utf-8")  # with the same weights
    assert kernel("-n") == 0
    assert "tile          3" in capfd.readouterr().out


def test_a_kernel_of_other_weights_does_not_stay_but_in_a_dry_run(copied_run, monkeypatch):
    monkeypatch.chdir(ROOT)
    folder = copied_run.parent
    options = command.Kernel(images=folder / "shapes", test=2, tile=8, float64=True, seed=1)
    command.prepare(folder / "my_net.py:make", options)  # all that a dry run does itself
    assert (copied_run / "kernel.npy").is_file()
    command._remove_outdated(copied_run)
    assert not (copied_run / "kernel.npy").exists()


@pytest.mark.parametrize(
    ("words", "options", "message"),
    [
        ([], {"network": "my_net.py:mak"}, "no function 'mak'; did you mean 'make'?"),
        ([], {"images": "nowhere"}, "nowhere is no folder; a folder of images contains train/"),
        ([], {"tile": "0"}, "tile = 0: must be an integer of at least 1"),
        (["--train", "11"], {}, "train = 11: shapes (your images) has 10 train images"),
        (["--output", "shapes"], {}, "this folder has other files; name a new one"),
        (["--output", "k.npy"], {}, "name a folder; the kernel is kernel.npy in it"),
    ],
)
def test_mistakes_are_refused_before_a_job(
    user_folder, words, options, message, monkeypatch, capsys
):
    monkeypatch.chdir(user_folder)
    assert kernel(*words, **options) == 1
    assert message in capsys.readouterr().err
    assert not (user_folder / "shapes/run.yaml").exists()


def test_the_command_and_the_function_have_the_same_defaults():
    options = command.Kernel()
    assert (options.tile, options.budget * 2**20) == (tiles.TILE, tiles.BUDGET)
