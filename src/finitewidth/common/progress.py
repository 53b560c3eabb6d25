"""Logs of jobs, and the progress of long computations as a bar or as log lines."""

import contextlib
import logging
import os
import sys
import time
import traceback
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from finitewidth.common.errors import FinitewidthError

LOG = logging.getLogger("finitewidth")
SHOWN = "FINITEWIDTH_SHOWS_LOGS"  # in the environment where the terminal shows logs of failed jobs
LOGGED = 10.0  # seconds between two lines on a progress
_OPEN: list["Progress"] = []  # of this process, the outermost first
Item = TypeVar("Item")


@contextlib.contextmanager
def logged_to(path: str | Path) -> Iterator[None]:
    """Write the log lines and warnings of a job to a new file, and errors to stderr as well.

    Raises:
        SystemExit: the job raised a `FinitewidthError`, whose message is complete, or the user
            interrupted it. No traceback is printed.
    """
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    handler = logging.FileHandler(path, mode="w", encoding="utf-8")
    logging.raiseExceptions = False  # a full disk; the final error is also written to stderr
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    LOG.addHandler(handler)
    LOG.setLevel(logging.INFO)
    logging.captureWarnings(True)
    logging.getLogger("py.warnings").addHandler(handler)
    try:
        yield
    except FinitewidthError as error:
        LOG.error("%s", error)
        written = Path(path).stat().st_size > 0  # a full disk takes nothing
        raise SystemExit(1 if written and SHOWN in os.environ else str(error)) from error
    except KeyboardInterrupt:
        LOG.error("interrupted")
        raise SystemExit(130) from None  # what a shell says of a program that SIGINT ended
    except Exception:
        LOG.error("%s", traceback.format_exc())
        raise
    finally:
        logging.captureWarnings(False)
        logging.getLogger("py.warnings").removeHandler(handler)
        LOG.removeHandler(handler)
        with contextlib.suppress(OSError):
            handler.close()


class Progress:
    """Progress of a computation of ``total`` steps, of which some may be ``done`` already.

    If stderr is a terminal, a tqdm bar is shown. A log line is written every `LOGGED` seconds. A
    progress that begins before another one is closed is that of a step of the other one (`stage`).

    Args:
        total: number of steps.
        title: what is computed, for the bar and the log.
        done: number of steps that are done already.
        unit: what a run shows in place of the title, such as ``epoch``.
        per: number of steps of a unit.
        sizes: how long each step takes, beside the others; None for steps that are alike.
    """

    def __init__(
        self,
        total: int,
        title: str,
        done: int = 0,
        unit: str = "",
        per: int = 1,
        sizes: Sequence[float] | None = None,
    ):
        self._total, self._title, self._done = total, title, done
        self._unit, self._per, self._sizes = unit, per, sizes
        self._started = self._said = time.monotonic()
        self._start, self._bar = done, None
        # jobs of a workflow, which have a log, share one terminal
        if sys.stderr.isatty() and not LOG.handlers:
            from tqdm import tqdm

            self._bar = tqdm(total=total, initial=done, desc=title, leave=False, mininterval=0.5)
        _OPEN.append(self)

    def advance(self, steps: int = 1) -> None:
        """Count ``steps`` as done and update the display."""
        self._done += steps
        if self._bar is not None:
            self._bar.update(steps)
        now = time.monotonic()
        if now - self._said >= LOGGED or self._done == self._total:
            self._said = now
            rate = (self._done - self._start) / max(now - self._started, 1e-9)
            left = (self._total - self._done) / rate if rate else float("nan")
            LOG.info("%s: %d of %d, %.0f s left", self._title, self._done, self._total, left)

    def reach(self, done: int) -> None:
        """Let ``done`` steps be done in all, where they are not counted one by one."""
        if done > self._done:
            self.advance(done - self._done)

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.close()
        if self in _OPEN:
            _OPEN.remove(self)

    def count(self) -> tuple[int, int]:
        """Return how many units are done, and how many there are."""
        return self._done // self._per, self._total // self._per

    def words(self) -> str:
        """Say how far it is: ``epoch 120 of 400``, or ``random networks, 12 of 40``."""
        done, total = self.count()
        return f"{self._unit or self._title + ','} {done:,} of {total:,}"

    def share(self, part: float = 0.0) -> float:
        """Return the share that is done, 0 to 1, if ``part`` of the next step is done."""
        if self._sizes is None:
            return min((self._done + part) / max(self._total, 1), 1.0)
        sizes = [*self._sizes, 0.0]
        return (sum(sizes[: self._done]) + part * sizes[self._done]) / sum(sizes)


@dataclass(frozen=True)
class Stage:
    """How far this process is: in words, in numbers, and as the share of all its work.

    ``begun`` is the time of `time.monotonic` when its longest computation began.
    """

    words: str
    done: int
    total: int
    share: float
    begun: float


def stage() -> Stage | None:
    """Return how far this process is; None while it shows no progress."""
    progresses = list(_OPEN)  # a thread may ask
    if not progresses:
        return None
    share = 0.0
    for progress in reversed(progresses):
        share = progress.share(share)
    several = [each for each in progresses if each.count()[1] > 1]
    words = ", ".join(each.words() for each in several)
    done, total = progresses[-1].count()
    return Stage(words, done, total, share, progresses[0]._started)


def in_turn(
    items: Collection[Item], title: str, sizes: Sequence[float] | None = None
) -> Iterator[Item]:
    """Yield ``items``; the progress that each shows is that of one step of the whole.

    ``sizes`` says how long each takes, beside the others, if they differ.
    """
    progress = Progress(len(items), title, sizes=sizes)
    for item in items:
        yield item
        progress.advance()
    progress.close()
