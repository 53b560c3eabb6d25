"""What a complete run takes: sums of the table of costs, and the longest chain of jobs."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from graphlib import TopologicalSorter

from finitewidth.common.number_words import rough_duration
from finitewidth.pipeline.costs import Cost

# An assumption of ours: no GPU was at hand. The rows of the trainings of `collapse` at preset
# `paper` are operations, of which a core makes 45 GFLOP/s, so that a GPU makes 1.1 TFLOP/s. Those
# of Figures 3 to 11 are 2,040 hours of a GPU then. The authors report 312 for panes a to e, and
# about 1,350 for the others, which are 1,695 by the hours of one run (appendix C, compute).
CORES_OF_A_GPU = 25
HEADER = (
    f"{'':<24} {'jobs':>4} {'no row':>6} {'one core':>10} {'and a GPU':>10} {'estimated':>9} "
    f"{'memory':>7}"
)
NOTES = (
    "Times are sums over all jobs, started from nothing; a job that several artifacts need counts",
    "in each of them and once in a sum. Jobs without a row in the table are left out.",
    "`and a GPU` is an assumption, not measured: in trainings one GPU does the work of",
    f"{CORES_OF_A_GPU} cores. Networks of other presets than `paper` are too small for it.",
    "`estimated` is the share of the time that no run has measured at this preset. Memory is that",
    "of the largest job.",
)
Needs = Mapping[str, Collection[str]]  # job -> the jobs whose files it reads


def behind(needs: Needs, targets: Iterable[str]) -> set[str]:
    """Some jobs and all that they rest on."""
    jobs, waiting = set(), [*targets]
    while waiting:
        name = waiting.pop()
        if name not in jobs:
            jobs.add(name)
            waiting += needs[name]
    return jobs


def chains(needs: Needs, seconds: Mapping[str, float]) -> dict[str, list[str]]:
    """Job -> the longest chain of jobs that begins with it and ends with the last of a run.

    A job without ``seconds`` counts as none.
    """
    readers: dict[str, list[str]] = {name: [] for name in needs}
    for name, before in needs.items():
        for each in before:
            readers[each].append(name)
    longest: dict[str, list[str]] = {}
    for name in TopologicalSorter(readers).static_order():  # the readers of a job come before it
        after = [longest[each] for each in readers[name]]
        longest[name] = [name, *max(after, key=lambda each: length(each, seconds), default=())]
    return longest


def length(chain: Sequence[str], seconds: Mapping[str, float]) -> float:
    """Seconds of the jobs of a chain, one after another."""
    return sum(seconds.get(name, 0.0) for name in chain)


def table(
    needs: Needs,
    costs: Mapping[str, Cost],
    sums: Mapping[str, Iterable[str]],
    on_gpu: Collection[str] = (),
) -> str:
    """The forecast of ``finitewidth plan``: a line for each sum, and the longest chain of jobs.

    Args:
        needs: job -> the jobs whose files it reads.
        costs: job -> its row.
        sums: name of a line -> the jobs that are wanted; what they rest on is counted, too.
        on_gpu: jobs that run on a GPU where there is one.
    """
    presets = dict.fromkeys(cost.preset for cost in costs.values())
    core = {name: cost.seconds for name, cost in costs.items()}
    gpu = {name: cost / CORES_OF_A_GPU if name in on_gpu else cost for name, cost in core.items()}
    longest = []
    for name, seconds in (("a core", core), ("a GPU", gpu)):
        chain = max(chains(needs, seconds).values(), key=lambda each: length(each, seconds))
        jobs = ", ".join(f"{job} {rough_duration(seconds.get(job, 0.0))}" for job in chain)
        longest.append(f"{name} each {rough_duration(length(chain, seconds))} ({jobs})")
    missing = [name for name in needs if name not in costs]
    return "\n".join([
        f"preset {', '.join(presets)}, from workflow/costs.tsv", "", HEADER,
        *(_line(name, behind(needs, targets), costs, gpu) for name, targets in sums.items()), "",
        "longest chain of jobs:", *longest,
        f"jobs without a row in the table: {len(missing)} of {len(needs)}"
        + (f" ({', '.join(missing)})" if 0 < len(missing) <= 5 else ""),
        "", *NOTES,
    ])  # fmt: skip


def _line(
    name: str, jobs: Collection[str], costs: Mapping[str, Cost], gpu: Mapping[str, float]
) -> str:
    rows = [costs[job] for job in jobs if job in costs]
    seconds = sum(row.seconds for row in rows)
    estimated = sum(row.seconds for row in rows if row.estimated)
    share = f"{100 * estimated / seconds:.0f} %" if seconds else ""
    memory = f"{max((row.memory_mb for row in rows), default=0) / 1000:.2g} GB"
    missing = len(jobs) - len(rows) or ""
    core, faster = map(rough_duration, (seconds, sum(gpu[row.job] for row in rows)))
    return f"{name:<24} {len(jobs):>4} {missing:>6} {core:>10} {faster:>10} {share:>9} {memory:>7}"
