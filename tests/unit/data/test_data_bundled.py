import numpy as np
import pytest

from finitewidth.data import bundled
from finitewidth.data.build import BUNDLED
from finitewidth.data.store import write_dataset


@pytest.fixture(scope="module", params=list(BUNDLED))
def made(request):
    return BUNDLED[request.param]()


def test_same_bytes_every_time(made, tmp_path):
    for name, dataset in (("a.npz", made), ("b.npz", BUNDLED[made.name]())):
        write_dataset(tmp_path / name, dataset)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_a_fifth_of_each_class_is_for_testing(made):
    variants = bundled.VARIANTS if made.name == "digits_on_patches" else 1
    assert len(made.train_labels) + len(made.test_labels) == 1797 * variants
    train = np.bincount(made.train_labels)
    test = np.bincount(made.test_labels)
    np.testing.assert_allclose(test / (train + test), 0.2, atol=0.005)


def test_no_test_image_is_a_training_image(made):
    train = {image.tobytes() for image in made.train_images}
    assert not train & {image.tobytes() for image in made.test_images}


def test_base_digits_belong_to_one_split_in_all_three_sets():
    grey, labels = bundled._base_digits()
    parts = bundled.split_indices(labels)
    assert sorted([*parts["train"], *parts["test"]]) == list(range(len(labels)))
    for dataset, repeats in (
        (bundled.digits(), 1),
        (bundled.warped_digits(), 1),
        (bundled.digits_on_patches(), bundled.VARIANTS),
    ):
        for split, index in parts.items():
            expected = np.repeat(labels[index], repeats)
            np.testing.assert_array_equal(getattr(dataset, f"{split}_labels"), expected)
    np.testing.assert_array_equal(bundled.digits().test_images[..., 0], grey[parts["test"]])


def test_photograph_blocks_are_in_one_split_only():
    blocks = bundled._photo_blocks()
    train = {block.tobytes() for block in blocks["train"]}
    test = {block.tobytes() for block in blocks["test"]}
    # as many different blocks as there are: none is dealt out twice
    assert len(train) + len(test) == len(blocks["train"]) + len(blocks["test"]) == 2 * 6 * 10
    assert not train & test


def test_patches_stay_inside_their_block(monkeypatch):
    """Blocks of one colour each: a picture without a digit shows one colour only."""
    generator = np.random.default_rng(1)
    colours = np.arange(40, 200, 20, dtype=float)[:, None, None, None]
    blocks = np.broadcast_to(colours, (8, bundled.BLOCK, bundled.BLOCK, 3))
    for _ in range(30):
        picture = bundled._blend(np.zeros((8, 8), np.uint8), blocks, generator)
        assert len(np.unique(picture)) == 1


def test_a_digit_on_a_patch_keeps_its_shape_and_stays_near_the_centre():
    dark = [np.zeros((bundled.BLOCK, bundled.BLOCK, 3))]
    digit = np.full((8, 8), 255, np.uint8)
    corners = set()
    for seed in range(200):
        picture = bundled._blend(digit, dark, np.random.default_rng(seed))
        rows, columns = np.nonzero(picture.any(axis=2))
        assert (np.ptp(rows), np.ptp(columns), len(rows)) == (7, 7, 64)
        corners.add((int(rows.min()), int(columns.min())))
    assert corners == {(r, c) for r in range(2, 7) for c in range(2, 7)}
