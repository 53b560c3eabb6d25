"""Lines of a run, and what runs: bars below them on a terminal, a line a minute in a log."""

import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

from finitewidth.cli.run_state import Line, RunState, time_left

# seconds between two looks at the jobs
BARS = 1.0  # on a terminal
LOG = 10.0  # in a log
SHORT = 5.0  # seconds: a job gets a bar after these
LINES = 60.0  # seconds after which a job has a line in a log, and until the next one
MOST = 8  # jobs that are shown at once
BAR = "{desc} {bar:20} {percentage:3.0f} %{postfix}"


class Display:
    """Writes lines, and shows the running jobs of a run between `follow` and `close`."""

    def __init__(self, stream: TextIO):
        self._stream = stream
        has_bars = stream.isatty() and os.environ.get("TERM") != "dumb"
        self._bars = Bars(stream) if has_bars else None
        self._last_lines = time.monotonic()  # in a log
        self._lock = threading.RLock()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def line(self, text: str) -> None:
        """Write a line, above the bars."""
        with self._lock:
            if self._bars:
                self._bars.line(text)
            else:
                print(text, file=self._stream, flush=True)

    def follow(self, run: RunState, lock: Any) -> None:
        """Show the running jobs until the end; ``lock`` guards the state of the run."""
        pause = BARS if self._bars else LOG

        def look() -> None:
            with lock:
                run.look()
                self.show(run)

        self._thread = threading.Thread(
            target=_repeat, args=(look, pause, self._ended), name="progress", daemon=True
        )
        self._thread.start()

    def show(self, run: RunState) -> None:
        """Show the running jobs as they are now."""
        with self._lock:
            if self._bars:
                lines = [line for line in run.lines() if line.elapsed >= SHORT]
                self._bars.draw(_rows(run, lines))
            elif time.monotonic() - self._last_lines >= LINES:
                self._last_lines = time.monotonic()
                lines = [line for line in run.lines() if line.elapsed >= LINES]
                for text in [*map(str, lines[:MOST]), *_more(lines)]:
                    self.line(text)

    def close(self) -> None:
        """Remove the bars."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join(timeout=5)
            self._thread = None
        with self._lock:
            if self._bars:
                self._bars.clear()


def _repeat(look: Callable[[], None], pause: float, ended: threading.Event) -> None:
    while True:
        try:
            look()
        except Exception:  # a display must never stop a run, nor fill a log
            return
        if ended.wait(pause):
            return


def _more(lines: Sequence[Line]) -> list[str]:
    return [f"… and {len(lines) - MOST} more jobs"] if len(lines) > MOST else []


def _rows(run: RunState, lines: Sequence[Line]) -> list["Row"]:
    """The rows of the running jobs, and below them that of the run."""
    rows = []
    for line in lines[:MOST]:
        left = time_left(line.left) if line.left else ""
        rows.append(Row(f"{line.job}: {line.doing()}", _share(line), left))
    rows += [Row(text, 0.0, "") for text in _more(lines)]
    seconds = run.left()
    share = run.elapsed / max(run.elapsed + seconds, 1e-9)
    rows.append(Row(f"{len(run.done)} of {len(run.steps)} jobs", share, time_left(seconds)))
    return rows


def _share(line: Line) -> float:
    """The share of a job that is done: by itself, else by its forecast."""
    if line.share is not None:
        return line.share
    if not line.left:
        return 0.0
    return line.elapsed / max(line.elapsed + line.left, 1e-9)


@dataclass(frozen=True)
class Row:
    """A bar, the words before it and after it."""

    before: str
    share: float  # of the bar that is filled
    after: str


class Bars:
    """Rows at the lower end of a terminal."""

    WIDTH = 52  # of the words before a bar

    def __init__(self, stream: TextIO):
        self._stream = stream
        self._bars: list[Any] = []

    def draw(self, rows: Sequence[Row]) -> None:
        """Show these rows in place of earlier ones."""
        while len(self._bars) > len(rows):
            self._bars.pop().close()
        while len(self._bars) < len(rows):
            self._bars.append(self._bar(len(self._bars)))
        for bar, row in zip(self._bars, rows, strict=True):
            bar.n = min(row.share, 1.0)
            bar.set_description_str(f"{row.before:<{self.WIDTH}.{self.WIDTH}}", refresh=False)
            bar.set_postfix_str(row.after, refresh=False)
            bar.refresh()

    def line(self, text: str) -> None:
        """Write a line above the rows."""
        from tqdm import tqdm

        tqdm.write(text, file=self._stream)
        self._stream.flush()

    def clear(self) -> None:
        """Remove all rows."""
        self.draw([])

    def _bar(self, row: int) -> Any:
        from tqdm import tqdm

        tqdm.monitor_interval = 0  # no thread of its own
        bar = tqdm(
            total=1.0,
            bar_format=BAR,
            position=row,
            leave=False,
            file=self._stream,
            dynamic_ncols=True,
            delay=1e-9,
        )
        bar.delay = 0  # it is not shown before it has words, and is cleared when it is closed
        return bar
