"""The forecast of a run: what ``finitewidth plan`` prints, and what the terminal counts down."""

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from finitewidth.common.number_words import rough_duration
from finitewidth.pipeline.costs import ESTIMATED, Cost
from finitewidth.pipeline.disk import disk_space
from finitewidth.pipeline.evidence import Evidence
from finitewidth.pipeline.graph import Graph, Needs, behind, chains, length, longest_of
from finitewidth.pipeline.jobs import Jobs
from finitewidth.pipeline.requests import Requests
from finitewidth.pipeline.runs.schedule import START, Step, ends

# An assumption of ours: no GPU was at hand. The rows of the trainings of `collapse` at preset
# `paper` are operations, of which a core makes 45 GFLOP/s, so that a GPU makes 1.1 TFLOP/s. Those
# of Figures 3 to 11 are 2,040 hours of a GPU then. The authors report 312 for panes a to e, and
# about 1,350 for the others, which are 1,695 by the hours of one run (appendix C, compute).
CORES_OF_A_GPU = 25
LINE = "{:<24} {:>4} {:>6} {:>10} {:>10} {:>9} {:>7}"
HEADER = LINE.format("", "jobs", "no row", "one core", "and a GPU", "estimated", "memory")
NOTES = (
    "Times are sums over all jobs, started from nothing; a job that several artifacts need counts",
    "in each of them and once in a sum. Jobs without a row in the table are left out.",
    "`and a GPU` is an assumption, not measured: in trainings one GPU does the work of",
    f"{CORES_OF_A_GPU} cores. Networks of other presets than `paper` are too small for it.",
    "`estimated` is the share of the time that no run has measured at this preset. Memory is that",
    "of the largest job.",
)
MOST_NAMED = 5  # jobs without a row that are named
SIZES = (1, 2, 8, 64)  # cores of the table of wall times
WALL = "{:>5} {:>10} {:>6} {:>10}  {}"
BUSY = 0.85  # share of the cores that work, from which they limit a run


class Forecast:
    """What the jobs of one configuration take, by the table of costs."""

    def __init__(
        self,
        jobs: Jobs,
        graph: Graph,
        evidence: Evidence,
        costs: Mapping[str, Cost],
        requests: Requests,
    ):
        self._jobs = jobs
        self._graph = graph
        self._evidence = evidence
        self._costs = costs
        self._requests = requests

    def seconds(self, job: str) -> float | None:
        """CPU seconds of a job by the table; None without a row, or with modified settings."""
        if job not in self._costs or job in self._evidence.modified:
            return None
        return self._costs[job].seconds

    def step(self, job: str, names: Mapping[str, str]) -> Step:
        """What is known of a job before it runs.

        Args:
            job: its name
            names: job of the run -> its name in the result, in which only these jobs are needed
        """
        needs = [names[need] for need in self._graph.needs.get(job, ()) if need in names]
        return Step(self.seconds(job), needs, self._requests.priority(job, {}))

    def text(self, cores: int) -> str:
        """What every artifact, every paper and everything takes, and a run on some ``cores``."""
        needs = self._graph.needs
        targets = {name: [name] for name in self._jobs.artifacts}
        for paper in self._jobs.papers:
            targets[f"all of {paper.name}"] = [entry.artifact for entry in paper.artifacts]
        targets["everything"] = list(needs)
        on_gpu = set(self._jobs.trainings)
        on_gpu |= {name for name in self._jobs.experiments if self._jobs[name].on_device}
        names = {job: job for job in needs}
        steps = {job: self.step(job, names) for job in needs}
        parts = [
            cost_table(needs, self._costs, targets, on_gpu),
            wall_times(steps, self._costs, cores),
            disk_space(self._jobs),
        ]
        return "\n\n".join(parts)


# --- what jobs take in sum -----------------------------------------------------------------------


def cost_table(
    needs: Needs,
    costs: Mapping[str, Cost],
    targets: Mapping[str, Iterable[str]],
    on_gpu: Collection[str] = (),
) -> str:
    """A line for each sum, and the longest chain of jobs.

    Args:
        needs: of all jobs
        costs: of those that have a row in the table
        targets: name of a sum -> its jobs; those that they rest on are counted, too
        on_gpu: the jobs that run on a GPU where there is one
    """
    presets = dict.fromkeys(cost.preset for cost in costs.values())
    on_cores = {name: cost.seconds for name, cost in costs.items()}
    with_gpu = dict(on_cores)
    for name in with_gpu:
        if name in on_gpu:
            with_gpu[name] /= CORES_OF_A_GPU
    lines = [f"preset {', '.join(presets)}, from workflow/costs.tsv", "", HEADER]
    for name, jobs in targets.items():
        lines.append(_line(name, behind(needs, jobs), costs, with_gpu))
    lines += [
        "",
        "longest chain of jobs:",
        f"a core each {_longest_chain(needs, on_cores)}",
        f"a GPU each {_longest_chain(needs, with_gpu)}",
        _without_row(needs, costs),
        "",
        *NOTES,
    ]
    return "\n".join(lines)


def _line(
    name: str, jobs: Collection[str], costs: Mapping[str, Cost], with_gpu: Mapping[str, float]
) -> str:
    """Number, times and memory of some jobs."""
    rows = [costs[job] for job in jobs if job in costs]
    seconds = sum(row.seconds for row in rows)
    seconds_with_gpu = sum(with_gpu[row.job] for row in rows)
    estimated = sum(row.seconds for row in rows if row.source == ESTIMATED)
    largest = max((row.memory_mb for row in rows), default=0)
    return LINE.format(
        name,
        len(jobs),
        len(jobs) - len(rows) or "",
        rough_duration(seconds),
        rough_duration(seconds_with_gpu),
        f"{100 * estimated / seconds:.0f} %" if seconds else "",
        f"{largest / 1000:.2g} GB",
    )


def _longest_chain(needs: Needs, seconds: Mapping[str, float]) -> str:
    """The time of the longest chain of jobs, and that of each of its jobs."""
    chain = longest_of(chains(needs, seconds).values(), seconds)
    jobs = [f"{job} {rough_duration(seconds.get(job, 0.0))}" for job in chain]
    return f"{rough_duration(length(chain, seconds))} ({', '.join(jobs)})"


def _without_row(needs: Needs, costs: Mapping[str, Cost]) -> str:
    """How many jobs have no row in the table; a few are named."""
    missing = [name for name in needs if name not in costs]
    line = f"jobs without a row in the table: {len(missing)} of {len(needs)}"
    if 0 < len(missing) <= MOST_NAMED:
        line += f" ({', '.join(missing)})"
    return line


# --- how long a run takes ------------------------------------------------------------------------


class WallTime(NamedTuple):
    """A complete run on some cores: seconds, share of the cores that work, MB at once."""

    seconds: float
    busy: float
    memory_mb: float


def wall_times(steps: Mapping[str, Step], costs: Mapping[str, Cost], cores: int) -> str:
    """The wall times of a complete run on several numbers of ``cores``, and what limits it."""
    seconds = {name: step.wall for name, step in steps.items()}
    needs = {name: step.needs for name, step in steps.items()}
    lines = [
        "a whole run, forecast for idle cores as fast as those of the table:",
        "",
        WALL.format("cores", "wall time", "busy", "memory", "limited by"),
    ]
    for number in sorted({*SIZES, cores}):
        lines.append(_wall_line(number, wall_time(steps, costs, number)))
    chain = longest_of(chains(needs, seconds).values(), seconds)
    longest = max(chain, key=lambda job: seconds[job])
    lines += [
        "",
        f"the longest chain of jobs takes {rough_duration(length(chain, seconds))}, of which "
        f"{longest} {rough_duration(seconds[longest])}",
    ]
    return "\n".join(lines)


def _wall_line(cores: int, wall: WallTime) -> str:
    limit = "cores" if wall.busy >= BUSY else "the longest chain of jobs"
    return WALL.format(
        cores,
        rough_duration(wall.seconds),
        f"{100 * wall.busy:.0f} %",
        f"{wall.memory_mb / 1000:,.1f} GB",
        limit,
    )


def wall_time(steps: Mapping[str, Step], costs: Mapping[str, Cost], cores: int) -> WallTime:
    """What a complete run takes on a number of cores."""
    end_of = ends(steps, cores)
    seconds = START + max(end_of.values())
    work = sum(step.wall for step in steps.values())
    memory = {job: cost.memory_mb for job, cost in costs.items()}
    return WallTime(seconds, work / (cores * seconds), memory_at_once(end_of, steps, memory))


def memory_at_once(
    end_of: Mapping[str, float], steps: Mapping[str, Step], memory: Mapping[str, float]
) -> float:
    """The largest sum of the memory of jobs that run side by side, from job -> its end."""
    changes = []
    for job, end in end_of.items():
        size = memory.get(job, 0.0)
        start = end - steps[job].wall
        changes += [(start, size), (end, -size)]
    most = now = 0.0
    for _, change in sorted(changes):  # of those at one time, ends come first
        now += change
        most = max(most, now)
    return most
