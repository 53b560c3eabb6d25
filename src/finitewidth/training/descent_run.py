"""A gradient descent of a stack in progress: clocks, records and stops of every network."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from finitewidth.kernels.trained import FullyConnected, traced_kernel
from finitewidth.training.fully_connected import Passes, joined
from finitewidth.training.stopping import NEVER, Stops

START_ITERATIONS = 30  # of the power iteration, at the start
RATE_ITERATIONS = 100  # for a rate that is set by the largest eigenvalue
RECORD_ITERATIONS = 10  # at a recorded time, from the last vector


@dataclass(frozen=True, kw_only=True)
class DescentPlan:
    """What a descent does.

    Attributes:
        steps: number of steps of gradient descent.
        rates: rate of each network, (R,).
        times: numbers of steps after which a network is recorded, besides 0 and its last step.
        mode: ``steps`` for gradient descent as written; ``graded`` for steps that are several at
            once where that is accurate, see `graded`; ``flow`` for gradient flow where that is
            accurate, see `flow`, and graded steps elsewhere.
        cap: largest rate of a graded step in units of 1/lambda_max, at most 0.5.
        share: a graded step makes at most t/share steps at once after t steps. For tanh a cap of
            0.5 and a share of 32 are accurate to about 0.1 %.
        flow_from: number of steps after which the flow takes over from graded steps.
        tolerance: error of a step of the flow, relative to the way from the initial weights.
        steepest: largest rate in units of 1/lambda_max for which the flow is used.
        stop: reading of the stopping rule by which networks stop, ``window`` or ``each``; None if
            they do not stop. Both readings are recorded in any case.
        fall, patience: of the stopping rule.
    """

    steps: int
    rates: tuple[float, ...]
    times: tuple[int, ...] = ()
    mode: str = "graded"
    cap: float = 0.25
    share: int = 64
    flow_from: int = 128
    tolerance: float = 3e-4
    steepest: float = 0.25
    stop: str | None = "window"
    fall: float = 1e-7
    patience: int = 100


@dataclass
class Clocks:
    """Counters of all networks of a descent, (R,) each.

    Attributes:
        time: steps of gradient descent made.
        jump: steps that the last gradient made, until its result has been taken account of.
        gradients: gradients computed.
        largest_jump: largest number of steps made with one gradient.
        recorded: last recorded time.
        flowed: number of steps made by the flow.
        eta_lambda: last estimate of rate times lambda_max.
        eta_lambda_start, eta_lambda_max: at the start, and the largest at recorded times.
    """

    time: np.ndarray
    jump: np.ndarray
    gradients: np.ndarray
    largest_jump: np.ndarray
    recorded: np.ndarray
    flowed: np.ndarray
    eta_lambda: np.ndarray
    eta_lambda_start: np.ndarray
    eta_lambda_max: np.ndarray

    @classmethod
    def started(cls, replicas: int) -> "Clocks":
        """Return counters at the start."""
        zeros = [np.zeros(replicas, dtype=np.int64) for _ in range(4)]
        numbers = [np.full(replicas, np.nan), np.full(replicas, np.nan), np.zeros(replicas)]
        return cls(*zeros, np.full(replicas, NEVER), np.zeros(replicas, dtype=np.int64), *numbers)


@dataclass
class DescentRun:
    """A descent in progress. All but the first four attributes change and are in a checkpoint.

    Attributes:
        plan: what is done.
        initial: the initial networks; never changed.
        x, y: inputs (S, n_0) and targets (S, K).
        places: numbers, within ``initial``, of the networks that are descending now, ascending.
        stack: these networks, changed in place.
        waiting: name of a later phase -> networks that take part in it, with their numbers.
        phase: number of the phase.
        count: gradients of each descending network since the phase began.
        stops, clocks: of all networks.
        vectors: of the power iteration, (R, S, K).
        kernels: at the start, (R, S, S).
        snapshots, ends: rows so far, see `finitewidth.training.descent.Descent`.
        solver: tensors of the flow.
    """

    plan: DescentPlan
    initial: FullyConnected
    x: Tensor
    y: Tensor
    places: np.ndarray = field(init=False)
    stack: FullyConnected = field(init=False)
    waiting: dict[str, list[tuple[np.ndarray, FullyConnected]]] = field(default_factory=dict)
    phase: int = 0
    count: int = 0
    stops: Stops = field(init=False)
    clocks: Clocks = field(init=False)
    vectors: Tensor = field(init=False)
    kernels: Tensor | None = None
    snapshots: list[dict[str, Any]] = field(default_factory=list)
    ends: list[dict[str, Any]] = field(default_factory=list)
    solver: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Start: all networks are at time 0."""
        replicas, plan = self.initial.count, self.plan
        self.rates = np.asarray(plan.rates, dtype=np.float64)
        ends = [plan.steps, *([plan.flow_from] if plan.mode == "flow" else [])]
        self.is_recorded = np.zeros(plan.steps + 1, dtype=bool)
        self.is_recorded[[0, *plan.times, plan.steps]] = True
        self.wanted = np.unique([0, *plan.times, *ends])  # steps are cut at these
        self.places, self.stack = np.arange(replicas), self.initial.copy()
        self.stops = Stops(replicas, plan.fall, plan.patience)
        self.clocks = Clocks.started(replicas)
        self.vectors = _first_vectors(self.stack, self.y)

    def arrive(self, at: np.ndarray, losses: np.ndarray) -> np.ndarray:
        """Take account of the losses of networks that have reached a new point.

        Records those that are due, and ends those that have diverged, stopped or made all steps.
        A second call at the same point changes nothing.

        Args:
            at: positions in ``stack``.
            losses: one per position.

        Returns:
            For each position whether its descent has ended.
        """
        plan, clocks, places = self.plan, self.clocks, self.places[at]
        times = clocks.time[places]
        new = (clocks.jump[places] > 0) | np.isnan(self.stops.first[places])
        fresh = places[new]
        self.stops.note(fresh, times[new], clocks.jump[fresh], losses[new])
        clocks.jump[places] = 0
        diverged = ~np.isfinite(losses)
        ended = diverged | (times >= plan.steps)
        if plan.stop is not None:
            ended |= getattr(self.stops, plan.stop)[places] != NEVER
        due = (self.is_recorded[times] | ended) & (clocks.recorded[places] != times)
        self._record(at[due & ~diverged], losses[due & ~diverged])
        for place, lost in zip(places[ended], diverged[ended], strict=True):
            self.ends.append(self._end(int(place), bool(lost)))
        return ended

    def _record(self, at: np.ndarray, losses: np.ndarray) -> None:
        """Add a row for each position, with the change of its kernel."""
        if not at.size:
            return
        clocks, places = self.clocks, self.places[at]
        part = self.stack.select(at)
        kernels = traced_kernel(part, self.x).to(self.x.device)
        index = torch.from_numpy(places).to(kernels.device)
        first = self.kernels is None  # all networks at time 0
        if first:
            shape = (self.initial.count, *kernels.shape[1:])
            self.kernels = kernels.new_full(shape, torch.nan)
            self.kernels[index] = kernels
        before = self.kernels[index]
        change = (kernels - before).flatten(1).norm(dim=1) / before.flatten(1).norm(dim=1)
        passes = Passes(part, self.x, self.y)
        passes.forward()
        self.measure_slope(passes, at, START_ITERATIONS if first else RECORD_ITERATIONS)
        steep = clocks.eta_lambda[places]
        if first:
            clocks.eta_lambda_start[places] = steep
        clocks.eta_lambda_max[places] = np.fmax(clocks.eta_lambda_max[places], steep)
        clocks.recorded[places] = clocks.time[places]
        columns = (places, clocks.time[places], losses, change.cpu().numpy(), steep)
        names = ("replica", "time", "loss", "change", "eta_lambda")
        self.snapshots += [
            dict(zip(names, row, strict=True))
            for row in zip(*(column.tolist() for column in columns), strict=True)
        ]

    def _end(self, place: int, diverged: bool) -> dict[str, Any]:
        stops, clocks = self.stops, self.clocks
        return {
            "replica": place,
            "rate": float(self.rates[place]),
            "method": self._method(place),
            "steps_taken": int(clocks.time[place]),
            "gradients": int(clocks.gradients[place]),
            "largest_jump": int(clocks.largest_jump[place]),
            "first_loss": float(stops.first[place]),
            "lowest_loss": float(stops.lowest[place]),
            "last_loss": float(stops.last[place]),
            "stop_window": int(stops.window[place]),
            "stop_each": int(stops.each[place]),
            "eta_lambda_start": float(clocks.eta_lambda_start[place]),
            "eta_lambda_end": float(clocks.eta_lambda[place]),
            "eta_lambda_max": float(clocks.eta_lambda_max[place]),
            "exceeded": int(clocks.eta_lambda_max[place] > 2),
            "diverged": int(diverged),
        }

    def made(self) -> int:
        """Steps that all networks together have made; those of a network that has ended are all."""
        ended = [row["replica"] for row in self.ends]
        time = self.clocks.time
        return int(time.sum() - time[ended].sum()) + len(ended) * self.plan.steps

    def _method(self, place: int) -> str:
        """How the network descended. Graded steps that never joined steps are plain steps."""
        clocks = self.clocks
        if clocks.flowed[place]:
            own = clocks.flowed[place] == clocks.time[place] - self.plan.flow_from
            return "flow" if own else "flow, then graded"
        return "graded" if clocks.largest_jump[place] > 1 else "steps"

    def measure_slope(self, passes: Passes, at: np.ndarray, iterations: int) -> None:
        """Go on with the power iteration of the networks at some positions.

        Args:
            passes: of these networks, after `Passes.forward`.
            at: their positions in ``stack``.
            iterations: number of them.
        """
        places = self.places[at]
        index = torch.from_numpy(places).to(self.vectors.device)
        values, vectors = passes.largest_eigenvalue(self.vectors[index], iterations)
        self.vectors[index] = vectors
        self.clocks.eta_lambda[places] = values * self.rates[places]

    def gaps(self, places: np.ndarray) -> np.ndarray:
        """Steps from the present time of networks to their next wanted time."""
        times = self.clocks.time[places]
        last = len(self.wanted) - 1
        return self.wanted[np.minimum(np.searchsorted(self.wanted, times, "right"), last)] - times

    def keep(self, positions: np.ndarray) -> None:
        """Let only the networks at some positions of ``stack`` go on."""
        self.places, self.stack = self.places[positions], self.stack.select(positions)

    def park(self, positions: np.ndarray, phase: str) -> None:
        """Let copies of the networks at some positions of ``stack`` take part in a later phase."""
        if positions.size:
            parked = (self.places[positions], self.stack.select(positions))
            self.waiting.setdefault(phase, []).append(parked)

    def begin(self, number: int, name: str) -> None:
        """Begin a phase with the networks that wait for it, or with all in the first phase."""
        if number:
            parked = self.waiting.pop(name, [])
            places = np.concatenate([np.zeros(0, dtype=np.int64), *(each for each, _ in parked)])
            order = np.argsort(places)
            self.places = places[order]
            if parked:
                self.stack = joined([stack for _, stack in parked]).select(order)
        self.phase, self.count, self.solver = number, 0, {}


def largest_eigenvalues(
    stack: FullyConnected, x: Tensor, y: Tensor, iterations: int = RATE_ITERATIONS
) -> np.ndarray:
    """Estimate lambda_max of the tangent kernel over S of each network of a stack, (R,).

    Gradient descent is stable up to a rate of 2/lambda_max.

    Args:
        stack: the networks.
        x: inputs, (S, n_0).
        y: targets, (S, K).
        iterations: of the power iteration, which approaches the eigenvalue from below.
    """
    passes = Passes(stack, x, y)
    passes.forward()
    return passes.largest_eigenvalue(_first_vectors(stack, y), iterations)[0]


def _first_vectors(stack: FullyConnected, y: Tensor) -> Tensor:
    """Return the vectors (R, S, K) from which power iterations start, the same for all networks."""
    start = torch.randn(y.shape, generator=torch.Generator().manual_seed(0))
    start = (start / start.norm()).to(stack.weights[0])
    return start.expand(stack.count, *start.shape).clone()
