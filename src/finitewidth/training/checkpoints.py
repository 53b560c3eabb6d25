"""Checkpoints: where a killed training goes on. Two are kept, each replaced atomically."""

import errno
import hashlib
import io
import os
from pathlib import Path
from typing import Any, BinaryIO

import torch

from finitewidth.common.errors import ResultError
from finitewidth.common.progress import LOG
from finitewidth.common.result_files import atomic


class CheckpointStore:
    """The checkpoints of one training, in a folder named by the fingerprint of what it computes.

    The fingerprint covers settings, code and data, so a checkpoint of other settings or other code
    lies in another folder and is never met; one moved in by hand is refused, as digests cover the
    fingerprint too. The folder is no output of a rule: Snakemake deletes those of a failed job.
    """

    KEPT = 2

    def __init__(self, folder: str | Path, fingerprint: str):
        self.folder = Path(folder) / fingerprint
        self._owner = fingerprint.encode()

    def save(self, number: int, state: dict[str, Any]) -> None:
        """Keep ``state`` (tensors and plain values) under a growing number; drop all but two.

        Another run that ends clears the folder of a training it has finished; this one goes on all
        the same.
        """
        content = io.BytesIO()  # of a full disk torch says only that its writer failed
        torch.save(state, content)
        content.write(_digest(content, content.tell(), self._owner))
        try:
            with atomic(self._path(number)) as temporary:
                temporary.write_bytes(content.getbuffer())
        except ResultError as error:
            if getattr(error.__cause__, "errno", None) != errno.ENOENT:
                raise
            LOG.warning("no checkpoint kept: another run has cleared %s", self.folder)
        for path in self._paths()[: -self.KEPT]:
            path.unlink(missing_ok=True)

    def latest(self) -> tuple[dict[str, Any] | None, list[str]]:
        """The newest state that can be read, or None, and a complaint for each that cannot.

        Torch does not notice a changed number; the digest at the end of the file does. Nor are
        pickles trusted: a file that is more than tensors and plain values counts as damaged.
        """
        complaints = []
        for path in reversed(self._paths()):
            try:
                _verify(path, self._owner)
                return torch.load(path, map_location="cpu", weights_only=True), complaints
            except Exception as error:  # what a damaged pickle raises is anyone's guess
                reason = str(error).splitlines()[0] if str(error) else type(error).__name__
                complaints.append(f"checkpoint {path} is damaged and left out ({reason})")
        return None, complaints

    def keep_newest(self) -> None:
        """Drop all but the last, once the results are written.

        The last stays for a job that is killed before Snakemake has accepted its results, or that
        is tried again with the group it travels in; `leftovers.clear_finished` drops it.
        """
        newest = self._paths()[-1:]
        for path in self.folder.glob("*"):  # also what interrupted writes left
            if path not in newest:
                path.unlink(missing_ok=True)

    def _path(self, number: int) -> Path:
        return self.folder / f"{number:012d}.pt"

    def _paths(self) -> list[Path]:
        # leading dot: what an interrupted write left behind
        return sorted(p for p in self.folder.glob("*.pt") if not p.name.startswith("."))


def _digest(stream: BinaryIO, length: int, owner: bytes) -> bytes:
    """SHA-256 of the first ``length`` bytes and the owner; leaves the stream behind the former."""
    stream.seek(0)
    digest = hashlib.sha256()
    while length > 0 and (block := stream.read(min(length, 1 << 20))):
        digest.update(block)
        length -= len(block)
    digest.update(owner)
    return digest.digest()


def _verify(path: Path, owner: bytes) -> None:
    with path.open("rb") as stream:
        length = stream.seek(0, os.SEEK_END) - hashlib.sha256().digest_size
        if length < 0 or _digest(stream, length, owner) != stream.read():
            raise ValueError("its checksum is wrong, or another training's")
