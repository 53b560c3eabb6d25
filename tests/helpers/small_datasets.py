import numpy as np

from finitewidth.data.store import Dataset


def make_dataset(train=30, test=12, classes=3, shape=(2, 2, 1), seed=0):
    generator = np.random.default_rng(seed)
    return Dataset(
        name="tiny",
        title="tiny squares",
        train_images=generator.integers(0, 256, (train, *shape), dtype=np.uint8),
        train_labels=np.arange(train, dtype=np.int64) % classes,
        test_images=generator.integers(0, 256, (test, *shape), dtype=np.uint8),
        test_labels=np.arange(test, dtype=np.int64) % classes,
        class_names=tuple(f"class {i}" for i in range(classes)),
        origin="made for a test, in Ω",
    )
