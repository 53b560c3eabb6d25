"""The images of a training."""

from finitewidth.data.store import Dataset
from finitewidth.papers.collapse.settings.pairs import Images as Chosen
from finitewidth.training.images import Images, balanced_images


def chosen_images(dataset: Dataset, chosen: Chosen, device: str = "cpu") -> Images:
    """The images that the settings of a training choose, on the device."""
    return balanced_images(
        dataset,
        per_class=chosen.per_class,
        pool=chosen.pool,
        size=chosen.size,
        test=chosen.test,
        device=device,
    )


def shape_of(images: Images) -> tuple[int, int, int]:
    """The shape (C, H, W) of one of the images."""
    channels, height, width = images.shape
    return channels, height, width
