"""The stopping rule of ``trust``, in both readings, for losses that are known at some steps only.

The paper stops "if the loss did not fall by 1e-7 in 100 consecutive steps". Reading ``window``: the
lowest loss so far has not fallen by 1e-7 within 100 steps. Reading ``each``: each of 100
consecutive steps lowered the loss by less than 1e-7, which is met much earlier by a loss that falls
slowly. Where the loss is known after k steps at once, it is taken to be linear in between.
"""

import numpy as np

NEVER = -1


class Stops:
    """Both readings of the rule for all networks of a stack."""

    def __init__(self, replicas: int, fall: float = 1e-7, patience: int = 100):
        """Start without any loss; it must fall by ``fall`` within ``patience`` steps."""
        self.fall, self.patience = fall, patience
        # number of the step at which a network stops, by either reading
        self.window, self.each = np.full(replicas, NEVER), np.full(replicas, NEVER)
        self.lowest = np.full(replicas, np.inf)  # finite loss so far
        self.first, self.last = np.full(replicas, np.nan), np.full(replicas, np.nan)  # loss
        self.best = np.full(replicas, np.inf)  # loss from which the next fall is measured
        self.idle = np.zeros(replicas, dtype=np.int64)  # steps since the best loss was set
        self.small = np.zeros(replicas, dtype=np.int64)  # consecutive steps with a small fall

    def note(self, which: np.ndarray, times: np.ndarray, jumps: np.ndarray, losses: np.ndarray):
        """Take account of the losses of some networks after numbers of steps.

        ``jumps`` are the steps since their last losses, and are ignored at the first loss.
        """
        finite = np.isfinite(losses)
        self.lowest[which] = np.where(
            finite, np.minimum(self.lowest[which], losses), self.lowest[which]
        )
        new = np.isnan(self.first[which])
        self.first[which[new]] = self.best[which[new]] = losses[new]
        old = ~new & finite
        self._go_on(which[old], times[old], jumps[old], losses[old])
        self.last[which] = losses

    def _go_on(self, which, times, jumps, losses) -> None:
        falls = (self.last[which] - losses) / jumps
        small = np.where(falls < self.fall, self.small[which] + jumps, 0)
        over = (small >= self.patience) & (self.each[which] == NEVER)
        self.each[which[over]] = (times - small + self.patience)[over]
        self.small[which] = small
        single = jumps == 1
        if single.any():
            self._note_single(which[single], times[single], losses[single])
        if not single.all():
            self._note_long(*(a[~single] for a in (which, times, jumps, losses, falls)))

    def _note_single(self, which, times, losses) -> None:
        fell = losses < self.best[which] - self.fall
        self.best[which] = np.where(fell, losses, self.best[which])
        self.idle[which] = np.where(fell, 0, self.idle[which] + 1)
        over = (self.idle[which] >= self.patience) & (self.window[which] == NEVER)
        self.window[which[over]] = times[over]

    def _note_long(self, which, times, jumps, losses, falls) -> None:
        """Do what `_note_single` does for each of ``jumps`` steps of equal falls."""
        idle, limit, start = self.idle[which], self.patience, self.last[which]
        with np.errstate(divide="ignore", invalid="ignore"):
            # number of the step that first gets below the best loss, and steps from then to the
            # next one that does
            reach = np.floor((start - self.best[which] + self.fall) / falls) + 1
            period = np.floor(self.fall / falls) + 1
            reach = np.where(falls > 0, np.maximum(reach, 1), np.inf)
            period = np.where(falls > 0, period, np.inf)
            early = idle + reach > limit  # the patience ends before the first fall
            waits = np.where(early, limit - idle, np.where(period > limit, reach + limit, np.inf))
            fell = reach <= jumps
            more = np.where(fell, (jumps - reach) // period, 0)
            at = np.where(fell, reach, 0) + np.where(more > 0, more * period, 0)  # last fall
            best = np.where(fell, start - falls * at, self.best[which])
        over = (waits <= jumps) & (self.window[which] == NEVER)
        self.window[which[over]] = (times[over] - jumps[over] + waits[over]).astype(np.int64)
        self.best[which] = best
        self.idle[which] = np.where(fell, jumps - at, idle + jumps).astype(np.int64)
