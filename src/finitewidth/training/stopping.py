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
        self.fall = fall
        self.patience = patience
        # number of the step at which a network stops, by either reading
        self.window = np.full(replicas, NEVER)
        self.each = np.full(replicas, NEVER)
        self.lowest = np.full(replicas, np.inf)  # finite loss so far
        self.first = np.full(replicas, np.nan)  # loss
        self.last = np.full(replicas, np.nan)  # loss
        self.best = np.full(replicas, np.inf)  # loss from which the next fall is measured
        self.idle = np.zeros(replicas, dtype=np.int64)  # steps since the best loss was set
        self.small = np.zeros(replicas, dtype=np.int64)  # consecutive steps with a small fall

    def note(
        self, numbers: np.ndarray, times: np.ndarray, jumps: np.ndarray, losses: np.ndarray
    ) -> None:
        """Take account of the losses of the networks ``numbers`` after ``times`` steps.

        ``jumps`` are the steps since their last losses, and are ignored at the first loss.
        """
        finite = np.isfinite(losses)
        lowest = self.lowest[numbers]
        self.lowest[numbers] = np.where(finite, np.minimum(lowest, losses), lowest)
        is_first = np.isnan(self.first[numbers])
        self.first[numbers[is_first]] = losses[is_first]
        self.best[numbers[is_first]] = losses[is_first]
        later = ~is_first & finite
        self._note_later(numbers[later], times[later], jumps[later], losses[later])
        self.last[numbers] = losses

    def _note_later(
        self, numbers: np.ndarray, times: np.ndarray, jumps: np.ndarray, losses: np.ndarray
    ) -> None:
        """Take account of losses that are not the first of their networks."""
        falls = (self.last[numbers] - losses) / jumps  # of each step
        small = np.where(falls < self.fall, self.small[numbers] + jumps, 0)
        over = (small >= self.patience) & (self.each[numbers] == NEVER)
        self.each[numbers[over]] = (times - small + self.patience)[over]
        self.small[numbers] = small
        single = jumps == 1
        several = ~single
        if single.any():
            self._note_single(numbers[single], times[single], losses[single])
        if several.any():
            self._note_several(numbers[several], times[several], jumps[several], falls[several])

    def _note_single(self, numbers: np.ndarray, times: np.ndarray, losses: np.ndarray) -> None:
        """Go on with the reading ``window`` by one step."""
        fell = losses < self.best[numbers] - self.fall
        self.best[numbers] = np.where(fell, losses, self.best[numbers])
        self.idle[numbers] = np.where(fell, 0, self.idle[numbers] + 1)
        over = (self.idle[numbers] >= self.patience) & (self.window[numbers] == NEVER)
        self.window[numbers[over]] = times[over]

    def _note_several(
        self, numbers: np.ndarray, times: np.ndarray, jumps: np.ndarray, falls: np.ndarray
    ) -> None:
        """Do what `_note_single` does for each of ``jumps`` steps of equal falls.

        The loss gets below the best one by ``fall`` after ``reach`` steps for the first time, and
        then every ``period`` steps.
        """
        idle = self.idle[numbers]
        best = self.best[numbers]
        start = self.last[numbers]
        patience = self.patience
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = np.floor((start - best + self.fall) / falls) + 1
            reach = np.where(falls > 0, np.maximum(reach, 1), np.inf)
            period = np.floor(self.fall / falls) + 1
            period = np.where(falls > 0, period, np.inf)
            # steps until the patience ends: before the first fall, after it, or never
            after_first = np.where(period > patience, reach + patience, np.inf)
            waits = np.where(idle + reach > patience, patience - idle, after_first)
            fell = reach <= jumps
            periods = np.where(fell, (jumps - reach) // period, 0)
            last_fall = np.where(fell, reach, 0) + np.where(periods > 0, periods * period, 0)
            best = np.where(fell, start - falls * last_fall, best)
        over = (waits <= jumps) & (self.window[numbers] == NEVER)
        stop_times = times[over] - jumps[over] + waits[over]
        self.window[numbers[over]] = stop_times.astype(np.int64)
        self.best[numbers] = best
        self.idle[numbers] = np.where(fell, jumps - last_fall, idle + jumps).astype(np.int64)
