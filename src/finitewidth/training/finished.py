"""The newest checkpoint of a training, and the result of one that has ended in place of its state.

An experiment of many trainings can then be interrupted between two of them: those that have ended
are read and not repeated.
"""

from typing import Any

from finitewidth.common.progress import LOG
from finitewidth.training.checkpoints import CheckpointStore

RESULT = "result"  # the only entry of the last checkpoint of a training that has ended


def newest(checkpoints: CheckpointStore | None) -> dict[str, Any] | None:
    """Return the newest state that is not damaged; None if there is none.

    What is damaged is logged, and of several trainings the one whose state is found.

    Args:
        checkpoints: of the training; None for none.
    """
    state, complaints = checkpoints.latest() if checkpoints else (None, [])
    for complaint in complaints:
        LOG.warning("%s", complaint)
    if state is not None and checkpoints.part:
        LOG.info("checkpoint of %s found", checkpoints.part)
    return state


def result_of(state: dict[str, Any] | None) -> Any:
    """Return the result in the state of a training that has ended; None for any other."""
    if state is None or RESULT not in state:
        return None
    LOG.info("finished in an earlier run")
    return state[RESULT]


def save_result(checkpoints: CheckpointStore | None, number: int, result: Any) -> None:
    """Write the result of a training that has ended, and delete its other checkpoints.

    Args:
        checkpoints: of the training; None for none.
        number: larger than that of any other checkpoint.
        result: tensors and plain values, not None.

    Raises:
        ResultError: the file cannot be written.
    """
    if checkpoints:
        checkpoints.save(number, {RESULT: result})
        checkpoints.keep_newest()
