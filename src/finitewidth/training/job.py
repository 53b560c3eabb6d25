"""Run one training as a job: read the dataset, train, write history and weights."""

from collections.abc import Mapping
from typing import Any

from finitewidth.common.progress import LOG
from finitewidth.common.torch_setup import device_facts, prepare_torch
from finitewidth.data.store import read_dataset
from finitewidth.records import result_files
from finitewidth.records.provenance import (
    COMPUTING,
    base_seed,
    digest_of,
    fingerprint,
    versions_of,
)
from finitewidth.training.checkpoints import CheckpointStore
from finitewidth.training.gated import Trained, train
from finitewidth.training.history import HISTORY
from finitewidth.training.images import load_images
from finitewidth.training.run import TrainingRun


def run_training(
    inputs: Mapping[str, str],
    outputs: Mapping[str, str],
    settings: Mapping[str, Any],
    code: str,
    runtime: Mapping[str, Any],
    seed: int = 0,
) -> dict[str, Any]:
    """Train the networks that ``settings`` describe and write the results.

    Args:
        inputs: ``data``, a dataset's ``.npz``; optionally ``history`` and ``weights`` of an earlier
            training.
        outputs: ``history`` (CSV) and ``weights`` (``.npz``).
        settings: a `TrainingRun` as a mapping.
        code: digest of the code that trains.
        runtime: ``threads``, ``device``, ``checkpoints`` (a folder) and ``checkpoint_seconds``.
        seed: the base seed of all random numbers.

    Returns:
        What the provenance adds to the plan of the job: device, threads, and the ``fingerprint``
        that names the folder of its checkpoints.
    """
    device = prepare_torch(runtime["threads"], runtime["device"])
    run = TrainingRun.from_mapping(settings)
    # everything that the weights depend on: with another base seed, these checkpoints are not found
    identity = fingerprint(
        {
            "run": settings,
            "base_seed": seed,
            "code": code,
            "inputs": [digest_of(path) for path in inputs.values()],
            "versions": versions_of(COMPUTING),
        }
    )
    checkpoints = CheckpointStore(
        runtime["checkpoints"], identity, seconds=runtime["checkpoint_seconds"]
    )
    with base_seed(seed):
        images = load_images(read_dataset(inputs["data"]), run, device)
    facts = device_facts(device)
    LOG.info("%s on %s: %d training images", run.row, facts["gpu"] or "CPU", images.train_count)
    if runtime["device"] == "auto" and not facts["gpu"]:
        LOG.info("no GPU found (CUDA_VISIBLE_DEVICES: %s)", facts["cuda_visible_devices"])
    earlier = None
    if "weights" in inputs:
        history = result_files.read_rows(inputs["history"])
        earlier = Trained(history, result_files.read_arrays(inputs["weights"]))
    with base_seed(seed):
        trained = train(run, images, earlier, checkpoints)
    result_files.write_arrays(outputs["weights"], **trained.weights)
    HISTORY.check_rows(trained.history)
    result_files.write_rows(outputs["history"], trained.history)
    checkpoints.keep_newest()
    return {"fingerprint": identity, **facts, "threads": runtime["threads"]}
