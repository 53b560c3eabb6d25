"""Checkpoints, from which an interrupted training or experiment continues.

Trainings store their state (`finitewidth.training.loop`). Other long computations are a `map` over
pieces that do not depend on each other: blocks of a kernel, batches of runs, cells of a map. Their
results are stored as they come, and a restarted job computes only those that are missing. Every
piece draws from random streams of its own name, so results do not depend on where it stopped.

Torch writes and reads the files. It is imported then only, for the sake of experiments without it.
"""

import hashlib
import io
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from finitewidth.common.progress import LOG, Progress
from finitewidth.records.result_files import atomic

LONG_SAVE = 1.0  # seconds; after a longer save the pause before the next one depends on its length
PAUSE = 19  # pause after a long save, as a multiple of it: saving takes 1/20 of the time
DIGEST = 32  # bytes at the end of a file
RESULTS = "results"  # the only entry of a checkpoint: number of a piece -> its result
PLAIN = (bool, int, float, str, type(None))


@dataclass(frozen=True)
class Checkpoints:
    """Where an experiment of several parts stores their checkpoints."""

    folder: str | Path  # of all checkpoints of a preset
    identity: str  # digest of settings, code and inputs of the experiment
    seconds: float = 60.0  # between two checkpoints

    def store(self, part: str, keep_all: bool = False) -> "CheckpointStore":
        """Return the checkpoints of one part, whose name tells it from all others."""
        digest = hashlib.sha256(f"{self.identity}/{part}".encode()).hexdigest()
        return CheckpointStore(Path(self.folder) / self.identity, digest, self.seconds, keep_all)


class CheckpointStore:
    """The checkpoints of one training. The last two are kept, or all; each is written atomically.

    They are stored in a folder named by the fingerprint of settings, code and data. A training with
    other settings or other code therefore uses another folder. A checkpoint copied from another
    training is rejected, because the digest at its end covers the fingerprint too. The folder is
    not an output of the Snakemake rule, because Snakemake deletes the outputs of a failed job.

    Two checkpoints are at least ``seconds`` apart, and longer if saving takes long.
    """

    KEPT = 2

    def __init__(
        self, folder: str | Path, fingerprint: str, seconds: float = 60.0, keep_all: bool = False
    ):
        self.folder = Path(folder) / fingerprint
        self.seconds = seconds
        self.keep_all = keep_all
        self._owner = fingerprint.encode()
        self._next = time.monotonic() + seconds  # when the next checkpoint is due

    def due(self) -> bool:
        """Whether it is time for a checkpoint."""
        return time.monotonic() > self._next

    def save(self, state: dict[str, Any]) -> None:
        """Write tensors and plain values; delete all checkpoints but the last two or keep all.

        Raises:
            ResultError: the file cannot be written, e.g. because the disk is full.
        """
        import torch

        started = time.monotonic()
        number = max((int(path.stem) for path in self._paths()), default=0) + 1
        content = io.BytesIO()  # in memory first: torch does not report a full disk as such
        torch.save(state, content)
        content.write(self._digest(content.getbuffer()))
        with atomic(self.folder / f"{number:012d}.pt") as temporary:
            temporary.write_bytes(content.getbuffer())
        if not self.keep_all:
            _delete(self._paths()[: -self.KEPT])
        ended = time.monotonic()
        duration = ended - started
        pause = PAUSE * duration if duration > LONG_SAVE else 0.0
        self._next = ended + max(self.seconds, pause)

    def latest(self) -> dict[str, Any] | None:
        """Load the newest checkpoint that is not damaged; None if there is none.

        Torch does not detect a changed number, so the digest at the end of each file is verified.
        Files are loaded without executing pickled code: a file that contains more than tensors and
        plain values counts as damaged.
        """
        return next(self._undamaged(reversed(self._paths())), None)

    def every(self) -> list[dict[str, Any]]:
        """Load all checkpoints that are not damaged, oldest first, as `latest` does."""
        return list(self._undamaged(self._paths()))

    def _undamaged(self, paths: Iterable[Path]) -> Iterator[dict[str, Any]]:
        """Load the files that are not damaged, and log each damaged one."""
        for path in paths:
            try:
                content = memoryview(path.read_bytes())
                if self._digest(content[:-DIGEST]) != content[-DIGEST:]:
                    raise ValueError("its checksum is wrong, or it belongs to another training")
                import torch

                state = torch.load(path, map_location="cpu", weights_only=True)
            except Exception as error:  # a damaged pickle can raise any exception
                reason = str(error).splitlines()[0] if str(error) else type(error).__name__
                LOG.warning("checkpoint %s is damaged and is ignored (%s)", path, reason)
            else:
                yield state

    def keep_newest(self) -> None:
        """Delete all checkpoints but the last, after the results have been written.

        The last one is needed if the job is killed before Snakemake has recorded its results, or if
        it is repeated with the group that it belongs to.
        `finitewidth.pipeline.runs.finished.clear_finished` deletes it.
        """
        newest = self._paths()[-1:]
        # includes temporary files of interrupted writes
        _delete(path for path in self.folder.glob("*.pt") if path not in newest)

    def _paths(self) -> list[Path]:
        # other names are temporary files of interrupted writes
        return sorted(self.folder.glob("[0-9]*.pt"))

    def _digest(self, content: bytes | memoryview) -> bytes:
        digest = hashlib.sha256(content)
        digest.update(self._owner)
        return digest.digest()


def _delete(paths: Iterable[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)


def stored_map(
    function: Callable[[Any], Any],
    items: Iterable[Any],
    checkpoints: Checkpoints | None = None,
    part: str = "pieces",
) -> Iterator[Any]:
    """Do what ``map(function, items)`` does, and store the results in checkpoints.

    A checkpoint holds the results since the one before and is written at most every
    ``checkpoints.seconds``. All are kept until the run of the pipeline has ended. Results from
    damaged checkpoints are computed again, with a message in the log.

    Args:
        function: computes one piece, whatever the others are. Its result consists of tensors, plain
            values, lists, tuples and dictionaries; numpy's numbers become plain.
        items: arguments of the pieces, in an order that the settings determine.
        checkpoints: of the experiment; None for none.
        part: what the pieces are, such as ``batches of runs``; not that of other pieces of the
            same experiment.
    """
    items = list(items)
    store = checkpoints.store(part, keep_all=True) if checkpoints else None
    stored: dict[int, Any] = {}  # number of a piece -> its result from an earlier run
    if store:
        for state in store.every():
            stored.update(state[RESULTS])
    if stored:
        LOG.info("%s: continuing after %d of %d pieces", part, len(stored), len(items))
    progress = Progress(len(items), part, done=len(stored))
    unsaved: dict[int, Any] = {}
    for number, item in enumerate(items):
        if number in stored:
            yield stored.pop(number)
            continue
        result = plain(function(item))
        progress.advance()
        if store:
            unsaved[number] = plain(result)  # a copy: the caller may change the result
            if store.due():
                store.save({RESULTS: unsaved})
                unsaved = {}
        yield result
    progress.close()


def plain(value: Any) -> Any:
    """Copy tensors and plain values, nested, with numpy's numbers as Python's."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, PLAIN):
        return value
    if isinstance(value, dict):
        return {key: plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(plain(entry) for entry in value)
    if hasattr(value, "detach"):  # a tensor; torch is not imported where it is not used
        return value.detach().cpu().clone()
    raise TypeError(
        f"the result of a piece contains {type(value).__name__}; return numbers, "
        "texts, tensors, lists, tuples and dictionaries"
    )
