"""A folder of images of the user through real runs: from pictures to a figure that names them."""

import numpy as np
import pytest
from PIL import Image
from tests.helpers.workflow_checkout import Checkout

pytestmark = [pytest.mark.workflow, pytest.mark.usefixtures("fork_server")]


def paint(folder):
    """Three classes of small grey pictures: a bright column at another place for each class."""
    stream = np.random.default_rng(0)
    for split, count in (("train", 12), ("test", 4)):
        for label in range(3):
            place = folder / split / f"class{label}"
            place.mkdir(parents=True)
            for number in range(count):
                pixels = stream.integers(0, 100, (8, 8), np.uint8)
                pixels[:, 2 * label] = 200
                Image.fromarray(pixels).save(place / f"{number}.png")
    return folder


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    return Checkout(tmp_path_factory.mktemp("own images") / "project")


def test_a_folder_is_read_named_and_read_again_once_it_changes(checkout, tmp_path_factory):
    folder = paint(tmp_path_factory.mktemp("of the user") / "My Shapes")
    data = f"data={{images: '{folder}'}}"
    answer = checkout.run("trust_fig3", data, cores=1)
    assert answer.returncode == 0, answer.stdout
    results = checkout.path / "results"
    assert not (results / "smoke" / "trust").exists()
    figure = results / "smoke-my_shapes" / "trust" / "figures" / "trust_fig3.svg"
    assert "your images: my_shapes for MNIST" in figure.read_text(encoding="utf-8")
    assert checkout.planned("trust_fig3", data) == {}

    picture = folder / "train" / "class0" / "0.png"
    Image.fromarray(np.zeros((8, 8), np.uint8)).save(picture)
    planned = checkout.planned("trust_fig3", data)
    assert planned["dataset"] == planned["trust_descent_tanh"] == 1
