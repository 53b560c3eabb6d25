"""Three datasets made from files that ship with scikit-learn.

Nothing is downloaded, and every call returns the same arrays, whatever the base seed. Each base
digit belongs to the same split in all three datasets. The training and the test split share no
pixel of the photographs.
"""

from collections.abc import Callable

import numpy as np

from finitewidth.data.store import Dataset, from_catalogue
from finitewidth.records.provenance import fixed_seed_for

# makes a picture (H, W) or (H, W, C) of a grey image (8, 8), for a split and its random stream
Picture = Callable[[np.ndarray, str, np.random.Generator], np.ndarray]
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
    return _build("digits", lambda grey, split, generator: grey)


def warped_digits() -> Dataset:
    """1,797 digits of shape (8, 8, 1), each rotated, scaled, sheared and shifted at random.

    The dataset is harder than ``digits`` because position and slant carry no information.
    Source: as for ``digits``.
    """
    return _build("warped_digits", lambda grey, split, generator: _warp(grey, generator))


def digits_on_patches() -> Dataset:
    """3,594 images of shape (16, 16, 3): digits in random light colours on dark patches of photos.

    There are two images per base digit. Source: as for ``digits``, and the two sample photographs
    of scikit-learn. The last bit of a pixel may depend on the version of the JPEG decoder.
    """
    blocks = _photo_blocks()

    def picture(grey: np.ndarray, split: str, generator: np.random.Generator) -> np.ndarray:
        return _blend(grey, blocks[split], generator)

    return _build("digits_on_patches", picture, VARIANTS)


def _build(name: str, picture: Picture, variants: int = 1) -> Dataset:
    """Make a dataset with ``variants`` pictures of each base digit.

    Each split has a random stream of its own, from which all of its pictures are made.
    """
    grey, labels = _base_digits()
    arrays = {}
    for split, index in split_indices(labels).items():
        generator = np.random.default_rng(fixed_seed_for("data", name, split))
        repeated = np.repeat(index, variants)
        images = np.stack([picture(grey[i], split, generator) for i in repeated])
        if images.ndim == 3:
            images = images[..., None]
        arrays[f"{split}_images"] = images
        arrays[f"{split}_labels"] = labels[repeated]
    return from_catalogue(name, map(str, range(10)), arrays)


def split_indices(labels: np.ndarray) -> dict[str, np.ndarray]:
    """Return ascending indices of the base digits by split; a fifth of each class is test data."""
    test_parts = []
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        generator = np.random.default_rng(fixed_seed_for("data", "digits", "split", int(label)))
        count = round(TEST_SHARE * len(members))
        test_parts.append(generator.permutation(members)[:count])
    test = np.sort(np.concatenate(test_parts))
    train = np.setdiff1d(np.arange(len(labels)), test)
    return {"train": train, "test": test}


def _base_digits() -> tuple[np.ndarray, np.ndarray]:
    """Return the images, uint8 (1797, 8, 8) in 0..255, and the labels, int64 (1797,)."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    images = np.round(digits.images * (255 / 16)).astype(np.uint8)
    return images, digits.target.astype(np.int64)


def _warp(image: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Apply a random affine map about the centre to one image, uint8 (8, 8)."""
    from scipy.ndimage import affine_transform

    angle = np.deg2rad(generator.uniform(-20, 20))
    scale = generator.uniform(0.8, 1.05, size=2)
    shear = generator.uniform(-0.25, 0.25)
    shift = generator.uniform(-0.75, 0.75, size=2)
    rotation = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    shearing = np.array([[1, 0], [shear, 1]])
    forward = rotation @ shearing @ np.diag(scale)
    inverse = np.linalg.inv(forward)
    centre = (np.array(image.shape) - 1) / 2
    # affine_transform asks for the map from a pixel of the result to its place in the image
    offset = centre - inverse @ (centre + shift)
    warped = affine_transform(image.astype(float), inverse, offset, order=1)
    return np.round(np.clip(warped, 0, 255)).astype(np.uint8)


def _photo_blocks() -> dict[str, np.ndarray]:
    """Return blocks of both photographs at half size by split: float (n, 32, 32, 3) in 0..255."""
    from sklearn.datasets import load_sample_images

    blocks = np.concatenate([_blocks_of(photo) for photo in load_sample_images().images])
    generator = np.random.default_rng(fixed_seed_for("data", "photo blocks", "split"))
    order = generator.permutation(len(blocks))
    test_count = round(TEST_SHARE * len(blocks))
    return {"train": blocks[order[test_count:]], "test": blocks[order[:test_count]]}


def _blocks_of(photo: np.ndarray) -> np.ndarray:
    """Divide a photograph (H, W, 3) into blocks (n, 32, 32, 3), at half size.

    Patches of 16 pixels of the whole size are nearly uniform.
    """
    rows = photo.shape[0] // (2 * BLOCK)
    columns = photo.shape[1] // (2 * BLOCK)
    crop = photo[: rows * 2 * BLOCK, : columns * 2 * BLOCK].astype(float)
    half_size = crop.reshape(rows * BLOCK, 2, columns * BLOCK, 2, 3).mean(axis=(1, 3))
    tiles = half_size.reshape(rows, BLOCK, columns, BLOCK, 3).swapaxes(1, 2)
    return tiles.reshape(-1, BLOCK, BLOCK, 3)


def _blend(digit: np.ndarray, blocks: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Draw a digit (8, 8) in a light colour on a darkened random patch; uint8 (16, 16, 3).

    The digit keeps its size and lies at most two pixels off the centre. A convolutional network
    can recognise it by local strokes at any position, so global pooling loses little, as it does
    on photographs.
    """
    row, column = generator.integers(0, BLOCK - SIDE + 1, size=2)
    block = blocks[generator.integers(len(blocks))]
    patch = block[row : row + SIDE, column : column + SIDE]
    mean = patch.mean(axis=(0, 1))
    contrast = generator.uniform(0.4, 1.0)
    patch = DARKENED * (mean + contrast * (patch - mean))
    size = len(digit)
    centred = (SIDE - size) // 2
    top, left = centred + generator.integers(-SHIFT, SHIFT + 1, size=2)
    ink = np.zeros((SIDE, SIDE, 1))  # opacity
    ink[top : top + size, left : left + size, 0] = digit / 255
    ink *= generator.uniform(0.7, 1.0)
    colour = generator.uniform(170, 255, size=3)
    picture = (1 - ink) * patch + ink * colour
    return np.round(np.clip(picture, 0, 255)).astype(np.uint8)
