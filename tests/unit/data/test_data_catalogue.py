import pytest

from finitewidth.common.errors import ConfigError
from finitewidth.data.catalogue import SOURCES, find_source, source_for

CONFIG = {
    "root": None,
    "download": True,
    "mnist": "digits",
    "fashion_mnist": "warped_digits",
    "cifar10": "flowers",
    "imagefolder": {"cifar10_jpeg": "cifar10", "flowers": "some/flowers"},
}


def test_roles_lead_to_sources():
    assert source_for("mnist", CONFIG) is SOURCES["digits"]
    assert source_for("cifar10", CONFIG).title == "flowers (your images)"


def test_misspelt_names_get_a_suggestion():
    with pytest.raises(ConfigError, match=r"did you mean warped_digits\?"):
        find_source("warped_digit")
    with pytest.raises(ConfigError, match="did you mean flowers"):
        find_source("flower", CONFIG["imagefolder"])


def test_an_image_folder_cannot_pose_as_an_original():
    with pytest.raises(ConfigError, match="already names MNIST"):
        find_source("mnist", {"mnist": "my/tree"})


def test_an_unknown_source_is_refused_by_its_key_and_known_ones_are_listed_once():
    with pytest.raises(ConfigError) as caught:
        source_for("mnist", CONFIG | {"mnist": "digts"})
    said = str(caught.value)
    assert said.startswith("data.mnist: 'digts' is unknown (did you mean digits?); known are ")
    names = said.split("known are ")[1].split(";")[0].split(", ")
    assert sorted(names) == sorted({*SOURCES, *CONFIG["imagefolder"]})
