"""Logs of jobs, and the progress of long computations as a bar or as log lines."""

import contextlib
import logging
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

from finitewidth.common.errors import FinitewidthError

LOG = logging.getLogger("finitewidth")
LOGGED = 10.0  # seconds between two lines on a progress


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
        raise SystemExit(str(error)) from error
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

    If stderr is a terminal, a tqdm bar is shown. A log line is written every `LOGGED` seconds.
    """

    def __init__(self, total: int, title: str, done: int = 0):
        self._total, self._title, self._done = total, title, done
        self._started = self._said = time.monotonic()
        self._start, self._bar = done, None
        # jobs of a workflow, which have a log, share one terminal
        if sys.stderr.isatty() and not LOG.handlers:
            from tqdm import tqdm

            self._bar = tqdm(total=total, initial=done, desc=title, leave=False, mininterval=0.5)

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
