"""A folder of images is named once: by ``data.images``, or by the dataset whose part it plays.

A dataset depends on the content of its folder, which is read again only if its state differs.
"""

import os
import shutil

import pytest

from finitewidth.common.errors import ConfigError
from finitewidth.data import places
from finitewidth.data.places import content_of, folder_of, name_of, own_images, registered

PRESET = {
    "root": None,
    "download": False,
    "images": None,
    "mnist": "digits",
    "fashion_mnist": "warped_digits",
    "cifar10": "cifar10",
    "imagefolder": {"cifar10_jpeg": "cifar10"},
}


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setenv("FINITEWIDTH_DATA", str(tmp_path))
    for split in ("train", "test"):
        for label in ("ant", "bee"):
            folder = tmp_path / "insects" / split / label
            folder.mkdir(parents=True)
            (folder / "0.png").write_bytes(b"0")
    return tmp_path


def test_settings_without_images_of_the_user_stay(root):
    assert registered(PRESET) == PRESET
    assert own_images(PRESET) == ()


def test_a_folder_below_the_data_root_needs_no_entry(root):
    found = registered(PRESET | {"mnist": "insects"})
    assert found["imagefolder"] == {"cifar10_jpeg": "cifar10", "insects": "insects"}
    assert (found["mnist"], found["cifar10"]) == ("insects", "cifar10")
    assert own_images(found) == ("insects",)
    assert registered(found) == found


def test_one_folder_plays_every_part(root):
    for images in ("insects", str(root / "insects"), f"{root}/insects/"):
        found = registered(PRESET | {"images": images})
        assert {found[role] for role in places.ROLES} == {"insects"}
        assert folder_of(found["imagefolder"]["insects"], found) == root / "insects"
        assert own_images(found) == ("insects",)
        assert registered(found) == found


def test_the_settings_given_are_not_changed(root):
    given = PRESET | {"images": "insects"}
    registered(given)
    assert "insects" not in given["imagefolder"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"images": "nowhere"}, r"data\.images: .*nowhere is no folder; a folder of images cont"),
        ({"images": "insects/train/ant/0.png"}, r"data\.images: .*0\.png is no folder"),
        ({"images": "insects/train"}, r"data\.images: .*train has no folder train; a folder of"),
        ({"images": "~nosuchuser/a"}, r"data\.images: '~nosuchuser/a': .*write the whole path"),
        (
            {"images": "insects", "imagefolder": {"insects": "other"}},
            r"data\.images: 'insects' is an entry of data\.imagefolder already",
        ),
        ({"root": "~nosuchuser"}, r"data\.root: '~nosuchuser': .*write the whole path"),
    ],
)
def test_what_is_no_folder_of_images_is_refused_by_its_key(root, change, words):
    with pytest.raises(ConfigError, match=words):
        registered(PRESET | {"mnist": "insects"} | change)


def test_a_circle_of_links_is_refused_where_it_is_named(root):
    (root / "circle").symlink_to("circle")
    with pytest.raises(
        ConfigError, match=r"data\.images: .*circle cannot be read \(Too many levels"
    ):
        registered(PRESET | {"images": "circle"})
    with pytest.raises(ConfigError, match=r"data\.mnist: .*circle cannot be read"):
        registered(PRESET | {"mnist": "circle"})


def test_a_folder_without_train_or_test_is_refused_where_it_is_named(root):
    shutil.rmtree(root / "insects" / "test")
    with pytest.raises(ConfigError, match=r"data\.cifar10: .*insects has no folder test"):
        registered(PRESET | {"cifar10": "insects"})


def test_other_names_are_left_to_the_catalogue(root):
    assert registered(PRESET | {"mnist": "insect"})["mnist"] == "insect"


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("My Photos (2024)", "my_photos_2024"),
        ("insects", "insects"),
        ("MNIST", "mnist_images"),
        ("cifar10_jpeg", "cifar10_jpeg_images"),
        ("2024", "images_2024"),
        ("ü", "images"),
        ("seed3", "seed3_images"),
        ("a" * 50, "a" * 24),
    ],
)
def test_names_of_sources(tmp_path, folder, name):
    assert name_of(tmp_path / folder) == name


@pytest.fixture
def known(monkeypatch):
    """A store of digests in memory, in place of one that is written when the process ends."""
    digests = {}
    monkeypatch.setattr(places, "remembered", lambda file: digests)
    return digests


def test_other_bytes_of_equal_size_and_time_are_noticed(root, known):
    before = content_of(root / "insects")
    picture = root / "insects" / "train" / "ant" / "0.png"
    times = picture.stat().st_atime_ns, picture.stat().st_mtime_ns
    picture.write_bytes(b"1")
    os.utime(picture, ns=times)
    assert content_of(root / "insects") != before


def test_the_target_of_a_link_is_noticed(root, known):
    picture = root / "insects" / "train" / "ant" / "1.png"
    (root / "insects" / "pool.png").write_bytes(b"0")
    picture.symlink_to("../../pool.png")
    before = content_of(root / "insects")
    (root / "insects" / "pool.png").write_bytes(b"1")
    assert content_of(root / "insects") != before


def test_other_names_are_noticed_and_other_times_are_not(root, known):
    before = content_of(root / "insects")
    picture = root / "insects" / "train" / "ant" / "0.png"
    os.utime(picture, (1, 1))
    assert content_of(root / "insects") == before
    picture.rename(picture.with_name("1.png"))
    assert content_of(root / "insects") != before
