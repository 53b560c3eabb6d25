"""The networks of a descent: the plan, and what is counted, recorded and stored of each network."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from finitewidth.kernels.trained import FullyConnected, traced_kernel
from finitewidth.training.fully_connected import Passes
from finitewidth.training.loop import packed, unpacked
from finitewidth.training.stopping import NEVER, Stops

START_ITERATIONS = 30  # of the power iteration, at the start
RECORD_ITERATIONS = 10  # at a recorded time, from the last vector
STORED = (  # attributes that are in a checkpoint as they are
    "rates",
    "active",
    "waiting",
    "vectors",
    "kernels",
    "snapshots",
    "ends",
    "solver",
)


@dataclass(frozen=True, kw_only=True)
class DescentPlan:
    """What a descent does.

    The mode is ``steps`` for gradient descent as written; ``graded`` for steps that are several at
    once where that is accurate, see `graded`; ``flow`` for gradient flow where that is accurate,
    see `flow`, and graded steps elsewhere. For tanh a cap of 0.5 and a share of 32 are accurate to
    about 0.1 %. Both readings of the stopping rule are recorded, whichever networks ``stop`` by.
    """

    steps: int  # of gradient descent
    rates: tuple[float, ...]  # of each network, (R,)
    times: tuple[int, ...] = ()  # steps after which a network is recorded, besides 0 and its last
    mode: str = "graded"
    cap: float = 0.25  # largest rate of a graded step in units of 1/lambda_max, at most 0.5
    share: int = 64  # a graded step makes at most t/share steps at once after t steps
    flow_from: int = 128  # steps after which the flow takes over from graded steps
    tolerance: float = 3e-4  # of a step of the flow, relative to the way from the initial weights
    steepest: float = 0.25  # largest rate, in units of 1/lambda_max, for which the flow is used
    stop: str | None = "window"  # or "each", a reading of the stopping rule; None: never
    fall: float = 1e-7  # of the stopping rule
    patience: int = 100  # of the stopping rule


class DescentState:
    """The networks of a descent in progress.

    A network has a number, its position in the stack at the start. Networks that descend in the
    present phase also have a row, their position in ``stack``.

    Attributes:
        initial: the stack at the start, R networks.
        x: inputs, (S, n_0).
        y: targets, (S, K).
        plan: what the descent does.
        rates: of all networks, (R,).
        active: numbers of the networks that descend now, ascending, one for each row.
        stack: these networks, changed in place.
        waiting: name of a later phase -> numbers and parameters of networks that take part in it.
        clocks: counters of all networks, (R,) each: ``time``, steps of gradient descent made;
            ``jump``, steps that the last gradient made, until its loss has been noted;
            ``gradients`` computed; ``largest_jump``, steps made with one gradient; ``flowed``,
            steps made by the flow; ``recorded``, the last recorded time; ``eta_lambda``, the last
            estimate of rate times lambda_max, with that at the start and the largest at recorded
            times.
        stops: both readings of the stopping rule.
        vectors: last vectors of the power iteration, (R, S, K).
        kernels: tangent kernels at the start, (R, S, S); None before they are recorded.
        snapshots: rows of `descent.Descent`.
        ends: rows of `descent.Descent`, one for each network that has ended.
        solver: the state of the method of the phase: lists of tensors (rows, ...), and arrays
            (rows,).
    """

    def __init__(self, stack: FullyConnected, x: Tensor, y: Tensor, plan: DescentPlan) -> None:
        self.initial = stack
        self.x = x
        self.y = y
        self.plan = plan
        self.rates = np.asarray(plan.rates, dtype=np.float64)
        recorded_times = [0, *plan.times, plan.steps]
        self._is_recorded = np.zeros(plan.steps + 1, dtype=bool)
        self._is_recorded[recorded_times] = True
        phase_ends = [plan.flow_from] if plan.mode == "flow" else []
        self._cut_times = np.unique([*recorded_times, *phase_ends])  # no step passes one of these
        self.active = np.arange(stack.count)
        self.stack = stack.copy()
        self.waiting: dict[str, list[tuple[np.ndarray, list[Tensor]]]] = {}
        self.clocks = _clocks(stack.count)
        self.stops = Stops(stack.count, plan.fall, plan.patience)
        self.vectors = first_vectors(stack, y)
        self.kernels: Tensor | None = None
        self.snapshots: list[dict[str, Any]] = []
        self.ends: list[dict[str, Any]] = []
        self.solver: dict[str, Any] = {}

    def checkpoint(self) -> dict[str, Any]:
        """Return the state as tensors and plain values."""
        attributes = {name: getattr(self, name) for name in STORED}
        counters = {"stops": vars(self.stops), "clocks": vars(self.clocks)}
        return packed({**attributes, **counters, "stack": self.stack.parameters})

    def restore(self, state: dict[str, Any]) -> None:
        """Go back to a state that `checkpoint` returned."""
        saved = unpacked(state, self.x.device)
        self.stack = self.initial.with_parameters(saved.pop("stack"))
        vars(self.stops).update(saved.pop("stops"))
        vars(self.clocks).update(saved.pop("clocks"))
        vars(self).update(saved)

    def steps_done(self) -> int:
        """Return the steps that all networks together have made.

        A network that has ended counts as if it had made all of its steps.
        """
        ended = [row["replica"] for row in self.ends]
        time = self.clocks.time
        return int(time.sum() - time[ended].sum()) + len(ended) * self.plan.steps

    def begin_phase(self, name: str) -> None:
        """Let the networks that wait for a phase descend."""
        parked = self.waiting.pop(name, [])
        self.solver = {}
        if not parked:
            self.active = np.zeros(0, dtype=np.int64)
            return
        numbers = np.concatenate([numbers for numbers, _ in parked])
        tensors = zip(*(parameters for _, parameters in parked), strict=True)
        together = self.initial.with_parameters([torch.cat(parts) for parts in tensors])
        order = np.argsort(numbers)
        self.active = numbers[order]
        self.stack = together.select(order)

    def keep_rows(self, rows: np.ndarray) -> None:
        """Let only the networks of some rows go on."""
        self.active = self.active[rows]
        self.stack = self.stack.select(rows)
        index = torch.from_numpy(rows).to(self.x.device)
        for name, value in self.solver.items():
            if isinstance(value, list):
                self.solver[name] = [tensor[index] for tensor in value]
            else:
                self.solver[name] = value[rows]

    def park(self, rows: np.ndarray, phase: str) -> None:
        """Let copies of the networks of some rows take part in a later phase."""
        if rows.size:
            parked = (self.active[rows], self.stack.select(rows).parameters)
            self.waiting.setdefault(phase, []).append(parked)

    def advance(self, numbers: np.ndarray, jumps: np.ndarray) -> None:
        """Count the steps that networks have made at once."""
        clocks = self.clocks
        clocks.time[numbers] += jumps
        clocks.jump[numbers] = jumps
        clocks.largest_jump[numbers] = np.maximum(clocks.largest_jump[numbers], jumps)

    def gaps(self, numbers: np.ndarray) -> np.ndarray:
        """Return the steps of networks to the next time that must be hit."""
        times = self.clocks.time[numbers]
        following = np.searchsorted(self._cut_times, times, "right")
        last = len(self._cut_times) - 1
        return self._cut_times[np.minimum(following, last)] - times

    def measure_slope(self, passes: Passes, rows: np.ndarray, iterations: int) -> None:
        """Estimate rate times lambda_max of some rows, by going on with the power iteration.

        ``passes`` are of these networks, after `Passes.forward`.
        """
        numbers = self.active[rows]
        index = torch.from_numpy(numbers).to(self.vectors.device)
        values, vectors = passes.largest_eigenvalue(self.vectors[index], iterations)
        self.vectors[index] = vectors
        self.clocks.eta_lambda[numbers] = values * self.rates[numbers]

    def arrive(self, rows: np.ndarray, losses: np.ndarray) -> np.ndarray:
        """Take account of the losses of networks that have reached a new point.

        Records those that are due, and ends those that have diverged, stopped or made all steps.
        A second call at the same point changes nothing. Returns for each row whether its descent
        has ended.
        """
        numbers = self.active[rows]
        times = self.clocks.time[numbers]
        self._note_losses(numbers, losses)
        diverged = ~np.isfinite(losses)
        ended = diverged | (times >= self.plan.steps)
        if self.plan.stop is not None:
            stop_times = getattr(self.stops, self.plan.stop)
            ended |= stop_times[numbers] != NEVER
        due = (self._is_recorded[times] | ended) & (self.clocks.recorded[numbers] != times)
        recorded = due & ~diverged
        self._record(rows[recorded], losses[recorded])
        for number, has_diverged in zip(numbers[ended], diverged[ended], strict=True):
            self.ends.append(self._end(int(number), bool(has_diverged)))
        return ended

    def _note_losses(self, numbers: np.ndarray, losses: np.ndarray) -> None:
        """Pass losses that are new to the stopping rule."""
        clocks = self.clocks
        is_new = (clocks.jump[numbers] > 0) | np.isnan(self.stops.first[numbers])
        new = numbers[is_new]
        self.stops.note(new, clocks.time[new], clocks.jump[new], losses[is_new])
        clocks.jump[numbers] = 0

    def _record(self, rows: np.ndarray, losses: np.ndarray) -> None:
        """Add a snapshot of each row, with the change of its kernel."""
        if not rows.size:
            return
        clocks = self.clocks
        numbers = self.active[rows]
        part = self.stack.select(rows)
        at_start = self.kernels is None  # all networks are recorded at time 0
        changes = self._kernel_changes(part, numbers)
        passes = Passes(part, self.x, self.y)
        passes.forward()
        self.measure_slope(passes, rows, START_ITERATIONS if at_start else RECORD_ITERATIONS)
        eta_lambda = clocks.eta_lambda[numbers]
        if at_start:
            clocks.eta_lambda_start[numbers] = eta_lambda
        clocks.eta_lambda_max[numbers] = np.fmax(clocks.eta_lambda_max[numbers], eta_lambda)
        clocks.recorded[numbers] = clocks.time[numbers]
        for i, number in enumerate(numbers):
            snapshot = {
                "replica": int(number),
                "time": int(clocks.time[number]),
                "loss": float(losses[i]),
                "change": float(changes[i]),
                "eta_lambda": float(eta_lambda[i]),
            }
            self.snapshots.append(snapshot)

    def _kernel_changes(self, part: FullyConnected, numbers: np.ndarray) -> np.ndarray:
        """Return the norm of the change of kernels over that of the kernels at the start."""
        kernels = traced_kernel(part, self.x).to(self.x.device)
        index = torch.from_numpy(numbers).to(kernels.device)
        if self.kernels is None:
            shape = (self.initial.count, *kernels.shape[1:])
            self.kernels = kernels.new_full(shape, torch.nan)
            self.kernels[index] = kernels
        before = self.kernels[index]
        changes = (kernels - before).flatten(1).norm(dim=1) / before.flatten(1).norm(dim=1)
        return changes.cpu().numpy()

    def _end(self, number: int, diverged: bool) -> dict[str, Any]:
        """Return the row of a network that has ended."""
        stops = self.stops
        clocks = self.clocks
        return {
            "replica": number,
            "rate": float(self.rates[number]),
            "method": self._method_of(number),
            "steps_taken": int(clocks.time[number]),
            "gradients": int(clocks.gradients[number]),
            "largest_jump": int(clocks.largest_jump[number]),
            "first_loss": float(stops.first[number]),
            "lowest_loss": float(stops.lowest[number]),
            "last_loss": float(stops.last[number]),
            "stop_window": int(stops.window[number]),
            "stop_each": int(stops.each[number]),
            "eta_lambda_start": float(clocks.eta_lambda_start[number]),
            "eta_lambda_end": float(clocks.eta_lambda[number]),
            "eta_lambda_max": float(clocks.eta_lambda_max[number]),
            "exceeded": int(clocks.eta_lambda_max[number] > 2),
            "diverged": int(diverged),
        }

    def _method_of(self, number: int) -> str:
        """Return how a network descended; graded steps that were all single are plain steps."""
        clocks = self.clocks
        if clocks.flowed[number] == 0:
            return "graded" if clocks.largest_jump[number] > 1 else "steps"
        after_start = clocks.time[number] - self.plan.flow_from
        return "flow" if clocks.flowed[number] == after_start else "flow, then graded"


def _clocks(count: int) -> SimpleNamespace:
    """Return the counters of `DescentState` at the start."""
    return SimpleNamespace(
        time=np.zeros(count, dtype=np.int64),
        jump=np.zeros(count, dtype=np.int64),
        gradients=np.zeros(count, dtype=np.int64),
        largest_jump=np.zeros(count, dtype=np.int64),
        flowed=np.zeros(count, dtype=np.int64),
        recorded=np.full(count, NEVER),
        eta_lambda=np.full(count, np.nan),
        eta_lambda_start=np.full(count, np.nan),
        eta_lambda_max=np.zeros(count),
    )


def first_vectors(stack: FullyConnected, y: Tensor) -> Tensor:
    """Return the vectors (R, S, K) from which power iterations start, the same for all networks."""
    start = torch.randn(y.shape, generator=torch.Generator().manual_seed(0))
    start = (start / start.norm()).to(stack.weights[0])
    return start.expand(stack.count, *start.shape).clone()
