"""Gradient descent of a stack of fully connected networks, with the change of their kernels.

A descent can be interrupted and resumed exactly. The result of a network does not depend on the
others of its stack (bit for bit if widths, samples and outputs times samples are multiples of 16;
up to rounding otherwise, as in `finitewidth.training.gated`).
"""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from finitewidth.kernels.trained import FullyConnected, traced_kernel
from finitewidth.training.checkpoints import CheckpointStore
from finitewidth.training.flow import Flow
from finitewidth.training.fully_connected import Passes
from finitewidth.training.graded import GradedSteps
from finitewidth.training.loop import Training, carry_out, packed, unpacked
from finitewidth.training.stopping import NEVER, Stops

START_ITERATIONS = 30  # of the power iteration, at the start
RATE_ITERATIONS = 100  # for a rate that is set by the largest eigenvalue
RECORD_ITERATIONS = 10  # at a recorded time, from the last vector
PHASES = {"steps": ("steps",), "graded": ("graded",), "flow": ("start", "flow", "graded")}
KEPT = (  # of a descent in a checkpoint, as they are
    "rates",
    "places",
    "waiting",
    "phase",
    "count",
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


@dataclass(frozen=True)
class Descent:
    """The result of a descent.

    ``snapshots`` has a row per network and recorded time that it reached: ``replica`` (its number
    in the stack), ``time``, ``loss``, ``change`` (norm of the change of its tangent kernel over
    that of the kernel at time 0, Frobenius), ``eta_lambda`` (rate times lambda_max).

    ``ends`` has a row per network: ``replica``; its ``rate``; ``method`` (``steps``, ``graded``,
    ``flow`` or ``flow, then graded``); ``steps_taken``; ``gradients`` computed; ``largest_jump``,
    the steps made at once; ``first_loss``, ``lowest_loss``, ``last_loss``; ``stop_window``,
    ``stop_each``, the steps at which the two readings of the rule stop it, -1 if they did not
    before it ended; ``eta_lambda_start``, ``eta_lambda_end``, ``eta_lambda_max``, the largest at
    recorded times; ``exceeded``, whether this was above 2; ``diverged``, whether its loss became
    infinite or undefined. Its last row of ``snapshots`` is then from before, and ``last_loss`` is
    not finite.
    """

    snapshots: list[dict[str, Any]]
    ends: list[dict[str, Any]]


def descend(
    stack: FullyConnected,
    x: Tensor,
    y: Tensor,
    plan: DescentPlan,
    checkpoints: CheckpointStore | None = None,
    title: str = "descent",
) -> Descent:
    """Minimise 1/(2S) sum_s |f(x_s) - y_s|^2 for all networks, from the newest checkpoint.

    The initial networks do not change. Inputs are (S, n_0) on their device, targets (S, K). The
    ``title`` is that of the progress that is shown, in steps of all networks together.
    """
    return Descent(**carry_out(DescentRun(stack, x, y, plan, title), checkpoints))


class DescentRun(Training):
    """A descent in progress: its phases, one after the other.

    ``clocks`` are counters of all networks, (R,) each: ``time``, steps of gradient descent made;
    ``jump``, steps that the last gradient made, until its result has been taken account of;
    ``gradients`` computed; ``largest_jump``, steps made with one gradient; ``flowed``, steps made
    by the flow; ``recorded``, the last recorded time; ``eta_lambda``, the last estimate of rate
    times lambda_max, with that at the start and the largest at recorded times.
    """

    def __init__(
        self, stack: FullyConnected, x: Tensor, y: Tensor, plan: DescentPlan, title: str
    ) -> None:
        self.initial, self.x, self.y, self.plan, self.title = stack, x, y, plan, title
        self.total = plan.steps * stack.count
        self.rates = np.asarray(plan.rates, dtype=np.float64)
        ends = [plan.steps, *([plan.flow_from] if plan.mode == "flow" else [])]
        self.is_recorded = np.zeros(plan.steps + 1, dtype=bool)
        self.is_recorded[[0, *plan.times, plan.steps]] = True
        self.wanted = np.unique([0, *plan.times, *ends])  # steps are cut at these
        self.places = np.arange(stack.count)  # of the networks that descend now, ascending
        self.stack = stack.copy()  # these networks, changed in place
        # name of a later phase -> places and parameters of networks that take part in it
        self.waiting: dict[str, list[tuple[np.ndarray, list[Tensor]]]] = {}
        self.phase = self.count = 0  # number of the phase, and gradients since it began
        self.stops = Stops(stack.count, plan.fall, plan.patience)
        counts = ("time", "jump", "gradients", "largest_jump", "flowed")
        self.clocks = SimpleNamespace(
            **{name: np.zeros(stack.count, dtype=np.int64) for name in counts},
            recorded=np.full(stack.count, NEVER),
            eta_lambda=np.full(stack.count, np.nan),
            eta_lambda_start=np.full(stack.count, np.nan),
            eta_lambda_max=np.zeros(stack.count),
        )
        self.vectors = _first_vectors(self.stack, y)  # of the power iteration, (R, S, K)
        self.kernels: Tensor | None = None  # at the start, (R, S, S)
        self.snapshots: list[dict[str, Any]] = []
        self.ends: list[dict[str, Any]] = []
        self.solver: dict[str, Any] = {}  # tensors and arrays of the method of the phase
        self._method: GradedSteps | Flow | None = None  # of the phase
        self._passes: Passes | None = None  # of the networks that descend now

    @property
    def done(self) -> int:
        """Steps that all networks together have made; those of a network that has ended are all."""
        ended = [row["replica"] for row in self.ends]
        time = self.clocks.time
        return int(time.sum() - time[ended].sum()) + len(ended) * self.plan.steps

    def measure(self) -> None:
        """Take account of the losses, until no network leaves; begin the next phase after that."""
        phases = PHASES[self.plan.mode]
        while self.places.size or self.phase + 1 < len(phases):
            if not self.places.size:
                self._begin(self.phase + 1, phases[self.phase + 1])
                continue
            if not self._method:
                phase = phases[self.phase]
                until = self.plan.flow_from if phase == "start" else None
                self._method = Flow(self) if phase == "flow" else GradedSteps(self, until)
            self._passes = self._passes or Passes(self.stack, self.x, self.y)
            self._passes.forward()
            leaving = self._method.arrive(self._passes)
            if not leaving.any():
                return
            self._keep(np.flatnonzero(~leaving))

    def _begin(self, number: int, name: str) -> None:
        parked = self.waiting.pop(name, [])
        places = np.concatenate([np.zeros(0, dtype=np.int64), *(each for each, _ in parked)])
        order = np.argsort(places)
        self.places = places[order]
        if parked:
            tensors = zip(*(parameters for _, parameters in parked), strict=True)
            joined = self.initial.with_parameters([torch.cat(parts) for parts in tensors])
            self.stack = joined.select(order)
        self.phase, self.count, self.solver = number, 0, {}
        self._method = self._passes = None

    def _keep(self, positions: np.ndarray) -> None:
        """Let only the networks at some positions of ``stack`` go on."""
        self.places, self.stack = self.places[positions], self.stack.select(positions)
        index = torch.from_numpy(positions).to(self.x.device)
        for name, value in self.solver.items():
            is_list = isinstance(value, list)
            self.solver[name] = [t[index] for t in value] if is_list else value[positions]
        self._passes = None

    def step(self) -> None:
        """Compute a gradient of each network that descends now, and move it."""
        if self._method.tracked and self.count % self._method.tracked == 0:
            self.measure_slope(self._passes, np.arange(self.places.size), 1)
        self._method.step(self._passes)
        self.clocks.gradients[self.places] += 1
        self.count += 1

    def result(self) -> dict[str, Any]:
        """Return the entries of `Descent`."""
        self.ends.sort(key=lambda row: row["replica"])
        self.snapshots.sort(key=lambda row: (row["replica"], row["time"]))
        return {"snapshots": self.snapshots, "ends": self.ends}

    def checkpoint(self) -> dict[str, Any]:
        """Return the state of the run as tensors and plain values."""
        kept = {name: getattr(self, name) for name in KEPT}
        counted = {"stops": vars(self.stops), "clocks": vars(self.clocks)}
        return packed({**kept, **counted, "stack": self.stack.parameters})

    def restore(self, state: dict[str, Any]) -> None:
        """Bring the run into a state that `checkpoint` returned."""
        saved = unpacked(state, self.x.device)
        self.stack = self.initial.with_parameters(saved.pop("stack"))
        for name in ("stops", "clocks"):
            vars(getattr(self, name)).update(saved.pop(name))
        vars(self).update(saved)

    def arrive(self, at: np.ndarray, losses: np.ndarray) -> np.ndarray:
        """Take account of the losses of networks that have reached a new point.

        Records those that are due, and ends those that have diverged, stopped or made all steps.
        A second call at the same point changes nothing. Returns for each position ``at`` in
        ``stack`` whether its descent has ended.
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
        columns = {
            "replica": places,
            "time": clocks.time[places],
            "loss": losses,
            "change": change.cpu().numpy(),
            "eta_lambda": steep,
        }
        rows = zip(*(column.tolist() for column in columns.values()), strict=True)
        self.snapshots += [dict(zip(columns, row, strict=True)) for row in rows]

    def _end(self, place: int, diverged: bool) -> dict[str, Any]:
        stops, clocks = self.stops, self.clocks
        numbers = {
            "steps_taken": clocks.time,
            "gradients": clocks.gradients,
            "largest_jump": clocks.largest_jump,
            "first_loss": stops.first,
            "lowest_loss": stops.lowest,
            "last_loss": stops.last,
            "stop_window": stops.window,
            "stop_each": stops.each,
            "eta_lambda_start": clocks.eta_lambda_start,
            "eta_lambda_end": clocks.eta_lambda,
            "eta_lambda_max": clocks.eta_lambda_max,
            "exceeded": 1 * (clocks.eta_lambda_max > 2),
        }
        return {
            "replica": place,
            "rate": self.rates[place].item(),
            "method": self._method_name(place),
            **{name: column[place].item() for name, column in numbers.items()},
            "diverged": int(diverged),
        }

    def _method_name(self, place: int) -> str:
        """How the network descended. Graded steps that never joined steps are plain steps."""
        clocks = self.clocks
        if clocks.flowed[place]:
            whole = clocks.flowed[place] == clocks.time[place] - self.plan.flow_from
            return "flow" if whole else "flow, then graded"
        return "graded" if clocks.largest_jump[place] > 1 else "steps"

    def advance(self, places: np.ndarray, jumps: np.ndarray) -> None:
        """Count the steps that networks have made at once."""
        clocks = self.clocks
        clocks.time[places] += jumps
        clocks.jump[places] = jumps
        clocks.largest_jump[places] = np.maximum(clocks.largest_jump[places], jumps)

    def measure_slope(self, passes: Passes, at: np.ndarray, iterations: int) -> None:
        """Go on with the power iteration of the networks at some positions in ``stack``.

        ``passes`` are of these networks, after `Passes.forward`.
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

    def park(self, positions: np.ndarray, phase: str) -> None:
        """Let copies of the networks at some positions of ``stack`` take part in a later phase."""
        if positions.size:
            parked = (self.places[positions], self.stack.select(positions).parameters)
            self.waiting.setdefault(phase, []).append(parked)


def largest_eigenvalues(stack: FullyConnected, x: Tensor, y: Tensor) -> np.ndarray:
    """Estimate lambda_max of the tangent kernel over S of each network of a stack, (R,).

    Gradient descent is stable up to a rate of 2/lambda_max. The power iteration approaches it from
    below. Inputs are (S, n_0), targets (S, K).
    """
    passes = Passes(stack, x, y)
    passes.forward()
    return passes.largest_eigenvalue(_first_vectors(stack, y), RATE_ITERATIONS)[0]


def _first_vectors(stack: FullyConnected, y: Tensor) -> Tensor:
    """Return the vectors (R, S, K) from which power iterations start, the same for all networks."""
    start = torch.randn(y.shape, generator=torch.Generator().manual_seed(0))
    start = (start / start.norm()).to(stack.weights[0])
    return start.expand(stack.count, *start.shape).clone()
