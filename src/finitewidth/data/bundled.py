"""Three datasets made from files that ship with scikit-learn.

Nothing is downloaded, and every call returns the same arrays, whatever the base seed. Each base
digit belongs to the same split in all three datasets. The training and the test split share no
pixel of the photographs.
"""

from collections.abc import Callable

import numpy as np

from finitewidth.data.store import Dataset, from_catalogue
from finitewidth.records.provenance import fixed_seed_for

TEST_SHARE = 0.2
VARIANTS = 2  # images per base digit in digits_on_patches
SIDE = 16  # pixels per side of an image in digits_on_patches
SHIFT = 2  # a digit lies at most this many pixels off the centre of its patch
DARKENED = 0.4  # factor by which the brightness of a patch is reduced
BLOCK = 32  # side of the blocks of a photograph that are assigned to a split


def digits() -> Dataset:
    """1,797 handwritten digits of shape (8, 8, 1), grey levels rescaled from 0..16 to 0..255.

    Source: scikit-learn's copy of the UCI optical digits (Alpaydin & Kaynak 1998).
    """
    return _made("digits", lambda grey, split, generator: grey[..., None])


def warped_digits() -> Dataset:
    """1,797 digits of shape (8, 8, 1), each rotated, scaled, sheared and shifted at random.

    The dataset is harder than ``digits`` because position and slant carry no information.
    Source: as for ``digits``.
    """
    return _made("warped_digits", lambda grey, split, generator: _warp(grey, generator)[..., None])


def digits_on_patches() -> Dataset:
    """3,594 images of shape (16, 16, 3): digits in random light colours on dark patches of photos.

    There are two images per base digit. Source: as for ``digits``, and the two sample photographs
    of scikit-learn. The last bit of a pixel may depend on the version of the JPEG decoder.
    """
    blocks = _photo_blocks()

    def picture(grey: np.ndarray, split: str, generator: np.random.Generator) -> np.ndarray:
        return _blend(grey, blocks[split], generator)

    return _made("digits_on_patches", picture, VARIANTS)


def _made(name: str, picture: Callable[..., np.ndarray], variants: int = 1) -> Dataset:
    """Make pictures (H, W, C) of all base digits, of each split from a stream of its own.

    ``picture`` makes one from a grey image (8, 8), the name of the split and its stream.
    """
    grey, labels = _base_digits()
    arrays = {}
    for split, index in split_indices(labels).items():
        generator = np.random.default_rng(fixed_seed_for("data", name, split))
        repeated = np.repeat(index, variants)
        pictures = [picture(grey[i], split, generator) for i in repeated]
        arrays |= {f"{split}_images": np.stack(pictures), f"{split}_labels": labels[repeated]}
    return from_catalogue(name, map(str, range(10)), arrays)


def split_indices(labels: np.ndarray) -> dict[str, np.ndarray]:
    """Ascending indices of the base digits in each split; a fifth of each class is test data."""
    test = []
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        generator = np.random.default_rng(fixed_seed_for("data", "digits", "split", int(label)))
        test.append(generator.permutation(members)[: round(TEST_SHARE * len(members))])
    chosen = np.sort(np.concatenate(test))
    return {"train": np.setdiff1d(np.arange(len(labels)), chosen), "test": chosen}


def _base_digits() -> tuple[np.ndarray, np.ndarray]:
    """Return the images, uint8 (1797, 8, 8) in 0..255, and the labels, int64 (1797,)."""
    from sklearn.datasets import load_digits

    pack = load_digits()
    return np.round(pack.images * (255 / 16)).astype(np.uint8), pack.target.astype(np.int64)


def _warp(image: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Apply a random affine map about the centre to one image, uint8 (8, 8)."""
    from scipy.ndimage import affine_transform

    angle = np.deg2rad(generator.uniform(-20, 20))
    scale = generator.uniform(0.8, 1.05, size=2)
    shear = generator.uniform(-0.25, 0.25)
    shift = generator.uniform(-0.75, 0.75, size=2)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    forward = turn @ np.array([[1, 0], [shear, 1]]) @ np.diag(scale)
    matrix = np.linalg.inv(forward)
    centre = (np.array(image.shape) - 1) / 2
    offset = centre - matrix @ (centre + shift)
    warped = affine_transform(image.astype(float), matrix, offset, order=1)
    return np.round(np.clip(warped, 0, 255)).astype(np.uint8)


def _photo_blocks() -> dict[str, np.ndarray]:
    """Blocks of both photographs at half size by split: float (n, 32, 32, 3) in 0..255."""
    from sklearn.datasets import load_sample_images

    blocks = []
    for photo in load_sample_images().images:
        rows, columns = (side // (2 * BLOCK) for side in photo.shape[:2])
        crop = photo[: rows * 2 * BLOCK, : columns * 2 * BLOCK].astype(float)
        # averaged to half size, because full-size patches of 16 pixels are nearly uniform
        halves = crop.reshape(rows * BLOCK, 2, columns * BLOCK, 2, 3).mean(axis=(1, 3))
        tiles = halves.reshape(rows, BLOCK, columns, BLOCK, 3).swapaxes(1, 2)
        blocks.append(tiles.reshape(-1, BLOCK, BLOCK, 3))
    together = np.concatenate(blocks)
    generator = np.random.default_rng(fixed_seed_for("data", "photo blocks", "split"))
    order = generator.permutation(len(together))
    tests = round(TEST_SHARE * len(together))
    return {"train": together[order[tests:]], "test": together[order[:tests]]}


def _blend(digit: np.ndarray, blocks: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Draw ``digit`` in a light colour on a darkened random patch; returns uint8 (16, 16, 3).

    The digit keeps its size and lies at most two pixels off the centre. A convolutional network
    can recognise it by local strokes at any position, so global pooling loses little, as it does
    on photographs.
    """
    row, column = generator.integers(0, BLOCK - SIDE + 1, size=2)
    patch = blocks[generator.integers(len(blocks))][row : row + SIDE, column : column + SIDE]
    mean = patch.mean(axis=(0, 1))
    patch = DARKENED * (mean + generator.uniform(0.4, 1.0) * (patch - mean))
    ink = np.zeros((SIDE, SIDE, 1))
    top, left = (SIDE - len(digit)) // 2 + generator.integers(-SHIFT, SHIFT + 1, size=2)
    ink[top : top + len(digit), left : left + len(digit), 0] = digit / 255
    ink *= generator.uniform(0.7, 1.0)
    picture = (1 - ink) * patch + ink * generator.uniform(170, 255, size=3)
    return np.round(np.clip(picture, 0, 255)).astype(np.uint8)
