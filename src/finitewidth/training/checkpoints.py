"""Checkpoints, from which an interrupted training or experiment continues.

Torch writes and reads the files. It is imported then only, for the sake of experiments without it.
"""

import errno
import hashlib
import io
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from finitewidth.common.errors import ResultError
from finitewidth.common.progress import LOG
from finitewidth.common.result_files import atomic

LONG_SAVE = 1.0  # seconds; after a longer save the pause before the next one depends on its length
PAUSE = 19  # pause after a long save, as a multiple of it: saving takes 1/20 of the time


class SavingTimes:
    """When to write checkpoints: at least some seconds apart, longer apart if saving takes long."""

    def __init__(self, seconds: float):
        """Start the clock; two checkpoints are at least some seconds apart."""
        self.seconds = seconds
        self._next = time.monotonic() + seconds

    def due(self) -> bool:
        """Whether it is time for a checkpoint."""
        return time.monotonic() > self._next

    @contextmanager
    def saving(self) -> Iterator[None]:
        """Measure how long the block takes that saves, and set the next time."""
        started = time.monotonic()
        yield
        ended = time.monotonic()
        pause = PAUSE * (ended - started) if ended - started > LONG_SAVE else 0.0
        self._next = ended + max(self.seconds, pause)


@dataclass(frozen=True)
class Checkpoints:
    """Where an experiment of several parts stores their checkpoints.

    Attributes:
        folder: of all checkpoints of a preset.
        identity: digest of settings, code and inputs of the experiment.
        seconds: between two checkpoints.
    """

    folder: str | Path
    identity: str
    seconds: float = 60.0

    def store(self, part: str, keep_all: bool = False) -> "CheckpointStore":
        """Return the checkpoints of one part, whose name says all that tells it from the others."""
        digest = hashlib.sha256(f"{self.identity}/{part}".encode()).hexdigest()
        return CheckpointStore(Path(self.folder) / self.identity, digest, part, keep_all)


class CheckpointStore:
    """The checkpoints of one training. The last two are kept, or all; each is written atomically.

    They are stored in a folder named by the fingerprint of settings, code and data. A training with
    other settings or other code therefore uses another folder. A checkpoint copied from another
    training is rejected, because the digest at its end covers the fingerprint too. The folder is
    not an output of the Snakemake rule, because Snakemake deletes the outputs of a failed job.
    """

    KEPT = 2

    def __init__(
        self, folder: str | Path, fingerprint: str, part: str = "", keep_all: bool = False
    ):
        self.folder = Path(folder) / fingerprint
        self.part, self.keep_all = part, keep_all
        self._owner = fingerprint.encode()

    def save(self, number: int, state: dict[str, Any]) -> None:
        """Write ``state`` and delete all checkpoints but the last two, unless all are kept.

        Another run may delete the folder when it has finished the same training. This training then
        continues without the checkpoint.

        Args:
            number: increases from one call to the next.
            state: tensors and plain values.

        Raises:
            ResultError: the file cannot be written, e.g. because the disk is full.
        """
        import torch

        content = io.BytesIO()  # in memory first: torch does not report a full disk as such
        torch.save(state, content)
        content.write(_digest(content, content.tell(), self._owner))
        try:
            with atomic(self.folder / f"{number:012d}.pt") as temporary:
                temporary.write_bytes(content.getbuffer())
        except ResultError as error:
            if getattr(error.__cause__, "errno", None) != errno.ENOENT:
                raise
            LOG.warning("checkpoint not written: another run has deleted %s", self.folder)
        if not self.keep_all:
            self._remove(self._paths()[: -self.KEPT])

    def latest(self) -> dict[str, Any] | None:
        """Load the newest checkpoint that is not damaged; None if there is none. Log what is.

        Torch does not detect a changed number, so the digest at the end of each file is verified.
        Files are loaded without executing pickled code: a file that contains more than tensors and
        plain values counts as damaged.
        """
        return next(self._sound(reversed(self._paths())), None)

    def every(self) -> list[dict[str, Any]]:
        """Load all checkpoints that are not damaged, oldest first, as `latest` does."""
        return list(self._sound(self._paths()))

    def next_number(self) -> int:
        """Return a number larger than that of any checkpoint, damaged ones included."""
        return max((int(path.stem) for path in self._paths()), default=0) + 1

    def _sound(self, paths: Iterable[Path]) -> Iterator[dict[str, Any]]:
        """Load what is not damaged, and log each damaged file."""
        for path in paths:
            try:
                with path.open("rb") as stream:
                    length = stream.seek(0, os.SEEK_END) - hashlib.sha256().digest_size
                    if length < 0 or _digest(stream, length, self._owner) != stream.read():
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
        `finitewidth.pipeline.recorded.clear_finished` deletes it.
        """
        newest = self._paths()[-1:]
        # includes temporary files of interrupted writes
        self._remove(path for path in self.folder.glob("*.pt") if path not in newest)

    def _remove(self, paths: Iterable[Path]) -> None:
        """Delete checkpoints, but nothing where a link leads."""
        if not self.folder.is_symlink():
            for path in paths:
                path.unlink(missing_ok=True)

    def _paths(self) -> list[Path]:
        # other names are temporary files of interrupted writes
        return sorted(self.folder.glob("[0-9]*.pt"))


def _digest(stream: BinaryIO, length: int, owner: bytes) -> bytes:
    """SHA-256 of the first ``length`` bytes of ``stream`` followed by ``owner``.

    Afterwards the stream is positioned after these bytes.
    """
    stream.seek(0)
    digest = hashlib.sha256()
    while length > 0 and (block := stream.read(min(length, 1 << 20))):
        digest.update(block)
        length -= len(block)
    digest.update(owner)
    return digest.digest()
