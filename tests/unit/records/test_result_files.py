"""Results are written whole or not at all, read back exactly, and damage is always noticed."""

import errno
import json
import os
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.helpers.pickle_trap import Trap

from finitewidth.common.errors import ResultError
from finitewidth.pipeline.runs.finished import clear_finished
from finitewidth.records import result_files

FLOATS = st.floats(allow_nan=False) | st.sampled_from([0.1, 1 / 3, 5e-324, -0.0, 1e300])
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=8)
AGAIN = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@AGAIN
@given(old=st.binary(max_size=50), new=st.binary(max_size=50), failure=st.booleans())
def test_atomic_leaves_the_old_file_or_the_whole_new_one(tmp_path, old, new, failure):
    path = tmp_path / "deep" / "result.csv"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(old)
    try:
        with result_files.atomic(path) as temporary:
            temporary.write_bytes(new)
            assert temporary.parent == path.parent
            assert temporary.suffix == path.suffix
            assert path.read_bytes() == old
            if failure:
                raise KeyError("in the middle")
    except KeyError:
        assert failure
    assert path.read_bytes() == (old if failure else new)
    assert names(path.parent) == ["result.csv"]


def test_atomic_cleans_up_after_an_interrupt(tmp_path):
    def interrupted():
        with result_files.atomic(tmp_path / "a.txt") as temporary:
            temporary.write_text("part")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert names(tmp_path) == []


@pytest.mark.parametrize("function", ["replace", "fsync"])
@pytest.mark.parametrize(
    ("code", "message"),
    [
        (errno.ENOSPC, "the disk is full; free some space"),
        (errno.EROFS, "the file system is read-only; remount it writable"),
        (errno.EDQUOT, "quota is used up"),
        (errno.EACCES, "no permission to write there"),
        (errno.EIO, "Input/output error"),
    ],
)
def test_unwritable_places_are_named_with_a_remedy(tmp_path, monkeypatch, function, code, message):
    path = tmp_path / "result.json"
    result_files.write_json(path, "old")

    def failing(*_):
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr(os, function, failing)
        with pytest.raises(ResultError, match=message) as caught:
            result_files.write_json(path, "new")
    assert str(path) in str(caught.value)
    assert result_files.read_json(path) == "old"
    assert names(tmp_path) == ["result.json"]


@AGAIN
@given(st.lists(st.tuples(FLOATS, st.integers(), TEXTS), min_size=1, max_size=5))
def test_rows_come_back_exactly(tmp_path, values):
    path = tmp_path / "rows.csv"
    rows = [{"number": a, "count": b, "text": c, "none": None} for a, b, c in values]
    result_files.write_rows(path, rows)
    found = result_files.read_rows(path)
    assert [float(row["number"]).hex() for row in found] == [a.hex() for a, _, _ in values]
    assert [int(row["count"]) for row in found] == [b for _, b, _ in values]
    assert [row["text"] for row in found] == [c for _, _, c in values]
    assert {row["none"] for row in found} == {""}
    table = result_files.read_table(path, ["number", "count"])
    assert [float(x).hex() for x in table["number"]] == [a.hex() for a, _, _ in values]


@AGAIN
@given(st.lists(FLOATS, min_size=1, max_size=8))
def test_tables_come_back_bit_for_bit(tmp_path, values):
    path = tmp_path / "table.csv"
    wanted = pd.DataFrame({"name": "a, b", "x": values, "y": np.nan})
    result_files.write_table(path, wanted)
    pd.testing.assert_frame_equal(result_files.read_table(path), wanted, check_exact=True)
    found = result_files.read_table(path)["x"].to_numpy(float)
    assert [x.hex() for x in found.tolist()] == [float(x).hex() for x in values]


@pytest.mark.parametrize("read", [result_files.read_rows, result_files.read_table])
@pytest.mark.parametrize("length", range(19))
def test_a_table_cut_anywhere_is_refused_or_lacks_whole_rows(tmp_path, read, length):
    path = tmp_path / "rows.csv"
    whole = b"a,b\n1.25,2\n3.5,123\n"
    assert len(whole) == 19
    path.write_bytes(whole[:length])
    if length == len("a,b\n1.25,2\n"):  # a cut between rows leaves a sound table
        assert len(read(path)) == 1
    elif length == len("a,b\n") and read is result_files.read_table:
        assert len(read(path)) == 0
    else:
        with pytest.raises(ResultError, match=r"damaged.*delete it and run again"):
            read(path)


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe\x00\n", b"a,b\n1,2,3\n", b"a,b\n1\n", b'a,b\n"1,2\n']
)
def test_damaged_rows_are_refused(tmp_path, content):
    path = tmp_path / "rows.csv"
    path.write_bytes(content)
    with pytest.raises(ResultError, match="damaged"):
        result_files.read_rows(path)


def test_arrays_come_back(tmp_path):
    path = tmp_path / "arrays.npz"
    arrays = {"a/b": np.arange(6.0).reshape(2, 3), "n": np.array(3), "t": np.array(["x", "yz"])}
    result_files.write_arrays(path, **arrays)
    found = result_files.read_arrays(path)
    assert list(found) == list(arrays)
    for name, wanted in arrays.items():
        np.testing.assert_array_equal(found[name], wanted)
        assert found[name].dtype == wanted.dtype


def test_pickled_arrays_are_refused_and_not_executed(tmp_path):
    mark = tmp_path / "mark"
    path = tmp_path / "arrays.npz"
    trap = np.empty(1, dtype=object)
    trap[0] = Trap(mark)
    np.savez(path, trap=trap)
    with pytest.raises(ResultError, match=r"damaged.*allow_pickle"):
        result_files.read_arrays(path)
    path.write_bytes(pickle.dumps(Trap(mark)))
    with pytest.raises(ResultError, match="damaged"):
        result_files.read_arrays(path)
    assert not mark.exists()
    with pytest.raises((ResultError, ValueError)):
        result_files.write_arrays(path, trap=trap)


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    path = tmp_path_factory.mktemp("packed") / "arrays.npz"
    result_files.write_arrays(path, a=np.arange(40.0), b=np.eye(3, dtype=np.float32))
    return path.read_bytes()


@AGAIN
@given(place=st.integers(0), bit=st.integers(0, 7), cut=st.booleans())
def test_damaged_arrays_are_refused_or_unharmed(tmp_path, packed, place, bit, cut):
    content = bytearray(packed)
    place %= len(content)
    if cut:
        del content[place:]
    else:
        content[place] ^= 1 << bit
    path = tmp_path / "arrays.npz"
    path.write_bytes(content)
    try:
        found = result_files.read_arrays(path)
    except ResultError as error:
        assert str(path) in str(error)  # noqa: PT017
    else:
        np.testing.assert_array_equal(found.get("a", np.arange(40.0)), np.arange(40.0))
        np.testing.assert_array_equal(found.get("b", np.eye(3)), np.eye(3))


def test_json_comes_back_in_order(tmp_path):
    value = {"b": [1, 2.5, None, "Ω"], "a": {"x": True}}
    result_files.write_json(tmp_path / "a.json", value)
    assert list(result_files.read_json(tmp_path / "a.json").items()) == list(value.items())
    assert "Ω" in (tmp_path / "a.json").read_text(encoding="utf-8")
    (tmp_path / "a.json").write_text('{"a": ')
    with pytest.raises(ResultError, match="damaged"):
        result_files.read_json(tmp_path / "a.json")


# ---- links that lead elsewhere: what deletes there leaves their targets alone

IDENTITY = "0123456789abcdef"


@pytest.fixture
def outside(tmp_path):
    """A folder of the user, whose files look like ours."""
    folder = tmp_path / "outside"
    (folder / IDENTITY).mkdir(parents=True)
    for name in ("000000000001.pt", "000000000002.pt", "notes.txt", "a.csv"):
        (folder / name).write_text("mine")
        (folder / IDENTITY / name).write_text("mine")
    yield folder
    for place in (folder, folder / IDENTITY):
        for name in ("000000000001.pt", "000000000002.pt", "notes.txt", "a.csv"):
            assert (place / name).read_text() == "mine", f"{place / name} was touched"


@pytest.mark.parametrize("linked", ["all", "one"])
def test_checkpoints_of_finished_jobs(tmp_path, outside, linked):
    results = tmp_path / "results"
    stamp = results / "npf/training/nu/provenance.json"
    result_files.write_text(stamp, json.dumps({"fingerprint": IDENTITY}))
    if linked == "all":
        (results / ".checkpoints").symlink_to(outside)
    else:
        (results / ".checkpoints").mkdir()
        (results / ".checkpoints" / IDENTITY).symlink_to(outside)
    clear_finished(results)


def test_what_is_no_provenance_keeps_no_run_from_its_end(tmp_path):
    result_files.write_text(tmp_path / "npf/training/nu/provenance.json", "[" * 100_000)
    (tmp_path / "npf/training/kvf").mkdir()
    os.mkfifo(tmp_path / "npf/training/kvf/provenance.json")
    clear_finished(tmp_path)


def test_temporary_files_that_are_links(tmp_path, outside):
    link = tmp_path / ".a-new.csv"
    link.symlink_to(outside / "a.csv")
    result_files.write_text(tmp_path / "a.csv", "new")
    assert not os.path.lexists(link)
