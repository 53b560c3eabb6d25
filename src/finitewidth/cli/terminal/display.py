"""Bars for running jobs and for the whole run on a terminal; plain lines elsewhere."""

import threading
import time
from typing import Any, TextIO

from finitewidth.cli.terminal.state import RUNNING, Job, Run, span

REFRESH = 0.5  # seconds between two pictures of the bars
BAR = "{desc:<28} {bar:24} {percentage:3.0f}%  {unit}"


class Display:
    """Shows lines, and on a terminal bars below them.

    Args:
        stream: where to write.
        bars: whether ``stream`` is a terminal.
    """

    def __init__(self, stream: TextIO, bars: bool):
        self._stream, self._with_bars = stream, bars
        self._bars: dict[Any, Any] = {}
        self._lock = threading.RLock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def line(self, text: str) -> None:
        """Write a line above the bars."""
        with self._lock:
            if self._bars:
                from tqdm import tqdm

                tqdm.write(text, file=self._stream)
            else:
                print(text, file=self._stream, flush=True)

    def follow(self, run: Run) -> None:
        """Draw the bars of a run until `close`."""
        if self._with_bars and self._thread is None:
            self._thread = threading.Thread(target=self._follow, args=(run,), daemon=True)
            self._thread.start()

    def _follow(self, run: Run) -> None:
        while not self._stop.wait(REFRESH):
            self._draw(run)

    def _draw(self, run: Run) -> None:
        now = time.time()
        with self._lock:
            running = {id(job): job for job in list(run.jobs.values()) if job.state == RUNNING}
            for key in [k for k in self._bars if k != "all" and k not in running]:
                self._bars.pop(key).close()
            if "all" not in self._bars:
                self._bars["all"] = self._bar(0)
            done = sum(job.state != RUNNING for job in list(run.jobs.values()))
            self._set(self._bars["all"], f"{done} of {run.total} jobs", done / max(run.total, 1),
                      f"{span(run.left(now))} left")  # fmt: skip
            for key, job in running.items():
                self._job(key, job, now)

    def _job(self, key: int, job: Job, now: float) -> None:
        if key not in self._bars:
            used = {bar.place for bar in self._bars.values()}
            self._bars[key] = self._bar(next(i for i in range(len(used) + 1) if i not in used))
        self._set(self._bars[key], f"  {job.name}"[:28], job.share(now), span(now - job.started))

    def _bar(self, place: int) -> Any:
        from tqdm import tqdm

        bar = tqdm(total=1.0, bar_format=BAR, position=place, leave=False, file=self._stream)
        bar.place = place
        return bar

    @staticmethod
    def _set(bar: Any, text: str, share: float, after: str) -> None:
        bar.n = min(share, 1.0)
        bar.set_description_str(text, refresh=False)
        bar.unit = after
        bar.refresh()

    def close(self) -> None:
        """Remove the bars."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=2)
        with self._lock:
            for bar in self._bars.values():
                bar.close()
            self._bars.clear()
