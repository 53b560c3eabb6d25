"""Progress of long work: a bar on a terminal, plain lines in a log, and the log itself."""

import contextlib
import logging
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

from finitewidth.errors import FinitewidthError

LOG = logging.getLogger("finitewidth")


@contextlib.contextmanager
def logged_to(path: str | Path) -> Iterator[None]:
    """Send log lines, warnings and a failing block's traceback to a file; errors to stderr too."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    handler = logging.FileHandler(path, mode="w", encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    LOG.addHandler(handler)
    LOG.setLevel(logging.INFO)
    logging.captureWarnings(True)
    logging.getLogger("py.warnings").addHandler(handler)
    try:
        yield
    except FinitewidthError as error:
        LOG.error("%s", error)  # says all there is to say
        raise
    except Exception:
        LOG.error("%s", traceback.format_exc())
        raise
    finally:
        logging.captureWarnings(False)
        logging.getLogger("py.warnings").removeHandler(handler)
        LOG.removeHandler(handler)
        handler.close()


class Progress:
    """Counts steps: a tqdm bar where stderr is a terminal, else a log line every ``seconds``."""

    def __init__(self, total: int, title: str, done: int = 0, seconds: float = 10.0):
        self._total, self._title, self._done, self._seconds = total, title, done, seconds
        self._started = self._said = time.monotonic()
        self._start = done
        self._bar = None
        if sys.stderr.isatty():
            from tqdm import tqdm

            self._bar = tqdm(total=total, initial=done, desc=title, leave=False, mininterval=0.5)

    def advance(self, steps: int = 1) -> None:
        """Count ``steps`` as done and show it if it is time."""
        self._done += steps
        if self._bar is not None:
            self._bar.update(steps)
        now = time.monotonic()
        if now - self._said >= self._seconds or self._done == self._total:
            self._said = now
            rate = (self._done - self._start) / max(now - self._started, 1e-9)
            left = (self._total - self._done) / rate if rate else float("nan")
            LOG.info("%s: %d of %d, %.0f s left", self._title, self._done, self._total, left)

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.close()
