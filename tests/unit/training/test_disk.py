"""How much disk a run takes, by its settings, beside what trainings really write."""

import pytest
from tests.helpers.small_trainings import described, make_images
from tests.helpers.workflow_plans import plan

from finitewidth.data.catalogue import Source
from finitewidth.networks.architecture import Architecture
from finitewidth.pipeline.disk import disk_space, size
from finitewidth.training import disk, gated
from finitewidth.training.checkpoints import CheckpointStore

SOURCE = Source("mine", "mine", (8, 8, 2), 3, (40, 11), "")
IMAGES = make_images(shape=(2, 8, 8))
WIDE = Architecture(channels=(16, 16), dense=(64,), padding="valid")


@pytest.mark.parametrize("optimiser", ["sgd", "adam"])
@pytest.mark.parametrize("regime", ["relu", "frnpf_ii", "dlnpf"])
def test_a_training_writes_as_much_as_its_settings_say(tmp_path, regime, optimiser):
    run = described(regime, optimiser, architecture=WIDE)
    found = disk.of_training(run, SOURCE)
    store = CheckpointStore(tmp_path, "a", -1.0)
    trained = gated.train(run, IMAGES, checkpoints=store)
    assert found.weights == sum(array.nbytes for array in trained.weights.values())
    store.keep_newest()
    (file,) = tmp_path.rglob("*.pt")
    assert found.checkpoint == pytest.approx(file.stat().st_size, rel=0.1)


def test_the_space_of_a_run_is_told_with_its_parts():
    (line,) = disk_space(plan("quick").jobs).splitlines()
    assert line.startswith("disk: 530 MB by estimate (")
    assert "3 MB datasets" in line


@pytest.mark.parametrize(
    ("count", "text"), [(900, "1 kB"), (3.14e6, "3.1 MB"), (1.21e11, "120 GB")]
)
def test_sizes_are_in_the_largest_unit(count, text):
    assert size(count) == text
