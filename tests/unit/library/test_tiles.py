"""Kernels in tiles that are files: resumed, refused for another kernel, safe on a full disk."""

import errno
import io
import json
import os
import re

import numpy as np
import pytest
import torch
from tests.helpers.kernels_by_jacobian import jacobian_kernel
from torch import nn

import finitewidth as fw
from finitewidth.library import tile_files, tiles

COUNT, TILE = 7, 3  # three blocks, six tiles


class Shifted(nn.Module):
    """Tanh of a product and a buffer; ``power`` is a code that no parameter shows."""

    def __init__(self, power=1):
        super().__init__()
        self.first = nn.Linear(3, 5)
        self.last = nn.Linear(5, 2)
        self.register_buffer("shift", torch.ones(5))
        self.power = power

    def forward(self, x):
        return self.last((self.first(x) + self.shift).tanh() ** self.power)


def shifted(power=1):
    torch.manual_seed(0)
    return Shifted(power).double()


X = torch.randn(COUNT, 3, generator=torch.Generator().manual_seed(1)).double()


@pytest.fixture(autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def computed(monkeypatch):
    """The tiles that are computed, by the first rows and columns, in the order of time."""
    seen = []

    def counting(network, x, pair, **options):
        seen.append((pair[0].start, pair[1].start))
        return tile_of(network, x, pair, **options)

    tile_of = tiles.tile_of
    monkeypatch.setattr(tiles, "tile_of", counting)
    return seen


def kernel(folder=None, network=None, x=X, tile=TILE, **options):
    return fw.tiled_kernel(network or shifted(), x, tile=tile, folder=folder, **options)


def contents(folder):
    return {file.name: file.read_bytes() for file in folder.glob("tiles/*")}


def test_the_file_has_the_bytes_of_the_kernel_in_memory(tmp_path):
    found = kernel(tmp_path / "new/folder")
    expected = kernel()
    assert torch.equal(found, expected)
    assert torch.equal(found, found.mT)
    definition = torch.einsum("kikj->ij", jacobian_kernel(shifted(), X))
    torch.testing.assert_close(found, definition, rtol=1e-12, atol=1e-12)
    stream = io.BytesIO()
    np.save(stream, expected.numpy())
    assert (tmp_path / "new/folder/kernel.npy").read_bytes() == stream.getvalue()
    found[0, 0] = 1e9  # does not reach the file
    assert torch.equal(kernel(tmp_path / "new/folder"), expected)


def test_only_what_is_missing_is_computed(tmp_path, computed, monkeypatch):
    class KilledError(BaseException):
        """What ends a process: no handler of exceptions sees it."""

    save = np.save

    def killed(file, array):
        save(file, array)
        if len(computed) == 3:
            raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr(np, "save", killed)
        with pytest.raises(KilledError):
            kernel(tmp_path)
    assert len(contents(tmp_path)) == 2  # the third is not put in its place
    assert not (tmp_path / "kernel.npy").exists()
    for name in ("tiles/.3-6_6-7-new.npy", ".kernel-new.npy"):
        (tmp_path / name).write_bytes(b"half")  # what a kill leaves
    found = kernel(tmp_path)
    assert not list(tmp_path.rglob(".*"))
    assert computed == [(0, 3), (0, 6), (3, 6), (3, 6), (0, 0), (3, 3), (6, 6)]
    assert torch.equal(found, kernel())
    computed.clear()
    assert torch.equal(kernel(tmp_path, budget=2**20), found)  # a finished kernel is read
    assert not computed


class TwoTowers(nn.Module):
    """A network of two arguments, which are given by position or by name."""

    def __init__(self):
        super().__init__()
        self.left = shifted()
        self.right = shifted(power=2)

    def forward(self, left, right):
        return self.left(left) * self.right(right)


@pytest.mark.parametrize("names", [("left", "right"), None])
def test_mappings_and_tuples_of_tensors_are_inputs(tmp_path, names, computed):
    tensors = (X, X.flip(0))
    x = dict(zip(names, tensors, strict=True)) if names else tensors
    network = TwoTowers()
    expected = kernel(None, network, x)
    assert torch.equal(kernel(tmp_path, network, x), expected)
    torch.testing.assert_close(expected, fw.traced_kernel(network, x), rtol=1e-12, atol=1e-12)
    (tmp_path / "kernel.npy").unlink()
    (tmp_path / "tiles/0-3_6-7.npy").unlink()
    computed.clear()
    assert torch.equal(kernel(tmp_path, network, x), expected)
    assert computed == [(0, 6)]
    other = dict(zip(names, tensors[::-1], strict=True)) if names else tensors[::-1]
    with pytest.raises(fw.ConfigError, match="the inputs are others"):
        kernel(tmp_path, network, other)


def damaged_copies(content):
    yield b""
    yield content[:-8]
    yield content[:20]
    yield b"no array"
    for array in (np.zeros((3, 2)), np.zeros((3, 3), np.float32)):
        stream = io.BytesIO()
        np.save(stream, array)
        yield stream.getvalue()


def test_a_damaged_tile_is_computed_again_and_no_other(tmp_path, computed):
    expected = kernel(tmp_path).clone()  # whose file is changed below
    before = contents(tmp_path)
    for damaged in damaged_copies(before["0-3_3-6.npy"]):
        computed.clear()
        (tmp_path / "tiles/0-3_3-6.npy").write_bytes(damaged)
        (tmp_path / "kernel.npy").write_bytes(b"")
        with pytest.warns(RuntimeWarning, match="made again: .* is damaged") as warned:
            assert torch.equal(kernel(tmp_path), expected)
        assert [each.filename for each in warned] == [__file__] * 2
        assert computed == [(0, 3)]
        assert contents(tmp_path) == before


def test_a_job_that_joins_names_the_damaged_tile(tmp_path):
    kernel(tmp_path)
    files = tile_files.TileFiles(tmp_path, tile_files.blocks(COUNT, TILE))
    for name, damaged, message in (
        ("0-3_6-7", b"no array", "is damaged .*; delete it and run again"),
        ("3-6_3-6", None, "is missing; run again"),
    ):
        file = tmp_path / f"tiles/{name}.npy"
        content = file.read_bytes()
        file.unlink() if damaged is None else file.write_bytes(damaged)
        with pytest.raises(fw.FinitewidthError, match=rf"{re.escape(str(file))} {message}"):
            files.join()
        file.write_bytes(content)


NETWORK = shifted()


def squares(x):
    return NETWORK(x).square()


def changed(change):
    network = shifted()
    with torch.no_grad():
        change(network)
    return network


OTHER_KERNELS = {
    "inputs": ({"x": X + 1e-12}, "the inputs are others"),
    "fewer inputs": ({"x": X[:-1]}, "the inputs are others"),
    "float32": ({"x": X.float(), "network": shifted().float()}, "the inputs are others"),
    "weights": (
        {"network": changed(lambda net: net.last.bias.add_(1e-12))},
        "the parameters have other values",
    ),
    "buffers": ({"network": changed(lambda net: net.shift.add_(1e-12))}, "the buffers have other"),
    "frozen": (
        {"network": changed(lambda net: net.last.bias.requires_grad_(False))},
        "other parameters are counted",
    ),
    "chosen": ({"parameters": lambda name: name != "last.bias"}, "other parameters are counted"),
    "code": ({"network": shifted(power=2)}, "the network computes something else"),
    "of": ({"network": NETWORK, "of": squares}, "of= is another"),
    "chosen by name": ({"parameters": "first"}, "other parameters are counted"),
    "tile": ({"tile": 4}, "tile= is another"),
    "check": ({"check": False}, "check= is another"),
}


@pytest.mark.parametrize("case", OTHER_KERNELS)
def test_a_folder_of_another_kernel_is_refused_and_stays(tmp_path, case, computed):
    expected = kernel(tmp_path)
    before = contents(tmp_path)
    computed.clear()
    options, message = OTHER_KERNELS[case]
    with pytest.raises(fw.ConfigError, match=message) as refused:
        kernel(tmp_path, **options)
    assert "\n" not in str(refused.value)
    assert not computed
    assert contents(tmp_path) == before
    assert torch.equal(kernel(tmp_path), expected)


def test_a_folder_of_another_version_of_the_kernels_is_refused(tmp_path, monkeypatch):
    kernel(tmp_path)
    monkeypatch.setattr(tiles, "code_digest", lambda module: "another")
    with pytest.raises(fw.ConfigError, match="finitewidth computes kernels in another way; name a"):
        kernel(tmp_path)


def test_a_place_that_is_no_folder_of_a_kernel_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    for place, message in ((tmp_path, "has other files"), (tmp_path / "notes.txt", "is a file")):
        with pytest.raises(fw.ConfigError, match=f"folder: .* {message}; name a"):
            kernel(place)
    assert [file.name for file in tmp_path.iterdir()] == ["notes.txt"]


def test_a_network_without_a_kernel_leaves_no_folder(tmp_path):
    network = nn.Sequential(nn.Linear(3, 2), nn.Dropout(0.5)).double()
    with pytest.raises(fw.ConfigError, match="eval"):
        kernel(tmp_path / "new", network)
    assert not (tmp_path / "new").exists()
    assert kernel(tmp_path / "new", network.eval()).shape == (COUNT, COUNT)


def test_a_damaged_record_is_named(tmp_path):
    kernel(tmp_path)
    (tmp_path / "kernel.json").write_text("{", encoding="utf-8")
    with pytest.raises(fw.FinitewidthError, match=r"kernel.json is damaged .*; delete it"):
        kernel(tmp_path)


@pytest.mark.parametrize("name", ["0-3_6-7.npy", "kernel.npy"])
def test_a_full_disk_is_one_message_and_finished_tiles_stay(tmp_path, name, monkeypatch):
    replace = os.replace

    def full(source, target):
        if str(target).endswith(name):
            raise OSError(errno.ENOSPC, "No space left on device")
        replace(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        with pytest.raises(fw.FinitewidthError, match=f"cannot write .*{name}: the disk is full"):
            kernel(tmp_path)
    assert len(contents(tmp_path)) == (1 if name != "kernel.npy" else 6)
    assert not list(tmp_path.rglob(".*"))
    assert torch.equal(kernel(tmp_path), kernel())


def test_the_record_is_read_by_people(tmp_path):
    kernel(tmp_path)
    record = json.loads((tmp_path / "kernel.json").read_text(encoding="utf-8"))
    assert record["tile"] == TILE
    assert record["counted"] == ["first.weight", "first.bias", "last.weight", "last.bias"]


def test_a_long_computation_shows_a_bar(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(tiles, "BAR_AFTER", 0.0)
    kernel(tmp_path)
    assert "tiles:   0%" in capsys.readouterr().err
    for file in ("kernel.npy", "tiles/0-3_3-6.npy"):
        (tmp_path / file).unlink()
    kernel(tmp_path)
    assert "5/6" in capsys.readouterr().err
    kernel(tmp_path / "other", progress=False)
    assert capsys.readouterr().err == ""
