import re
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.small_datasets import make_dataset

from finitewidth.common.errors import DataError
from finitewidth.data.store import _ARRAYS, read_dataset, write_dataset


def assert_equal(one, other):
    for field in fields(one):
        left = getattr(one, field.name)
        right = getattr(other, field.name)
        if isinstance(left, np.ndarray):
            assert left.dtype == right.dtype
            np.testing.assert_array_equal(left, right)
        else:
            assert left == right


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A file that gets damaged over and over, and its bytes."""
    path = tmp_path_factory.mktemp("store") / "tiny.npz"
    write_dataset(path, make_dataset())
    return path, path.read_bytes()


def reading(path, content):
    path.write_bytes(content)
    return read_dataset(path)


def test_round_trip(tmp_path, tiny):
    write_dataset(tmp_path / "new" / "tiny.npz", tiny)
    assert_equal(read_dataset(tmp_path / "new" / "tiny.npz"), tiny)


def test_equal_datasets_give_equal_bytes(tmp_path, tiny):
    turned = replace(tiny, train_images=np.asfortranarray(tiny.train_images))
    for name, dataset in (("a", tiny), ("b", turned)):
        write_dataset(tmp_path / f"{name}.npz", dataset)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_every_truncation_is_found(whole, data):
    path, content = whole
    length = data.draw(st.integers(0, len(content) - 1))
    with pytest.raises(DataError, match=re.escape(str(path))):
        reading(path, content[:length])


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_any_replaced_stretch_is_found_or_harmless(whole, data):
    path, content = whole
    start = data.draw(st.integers(0, len(content)))
    stop = data.draw(st.integers(start, len(content)))
    damaged = content[:start] + data.draw(st.binary(max_size=100)) + content[stop:]
    try:
        found = reading(path, damaged)
    except DataError as error:
        assert str(path) in str(error)  # noqa: PT017
    else:
        assert_equal(found, make_dataset())


def test_a_changed_pixel_is_found_and_the_message_has_file_and_remedy(whole):
    path, content = whole
    damaged = bytearray(content)
    place = content.index(make_dataset().train_images.tobytes()[:64])
    damaged[place] ^= 1
    with pytest.raises(DataError, match="is damaged") as caught:
        reading(path, damaged)
    message = str(caught.value)
    assert f"{path} is damaged" in message
    assert f"delete it and build it again: snakemake --cores 1 {path}" in message


def test_pickles_are_refused(tmp_path):
    path = tmp_path / "pickled.npz"
    np.savez(path, **{key: np.array([{}], object) for key in (*_ARRAYS, "about")})
    with pytest.raises(DataError, match="damaged"):
        read_dataset(path)
