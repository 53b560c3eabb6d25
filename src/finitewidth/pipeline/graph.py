"""The graph of the jobs of a run: which job needs the files of which others."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from graphlib import TopologicalSorter

from finitewidth.pipeline.caption_input import CaptionInput
from finitewidth.pipeline.claim_input import ClaimInput
from finitewidth.pipeline.jobs import Input, Jobs, makers_of
from finitewidth.pipeline.report_input import ReportInput

Needs = Mapping[str, Collection[str]]  # job -> the jobs whose files it reads


class Graph:
    """All jobs of one configuration, and what each of them needs.

    The names of the jobs are those of `finitewidth.pipeline.job_names`.
    """

    def __init__(self, jobs: Jobs, claims: ClaimInput, captions: CaptionInput, report: ReportInput):
        self._jobs = jobs
        self._papers = [paper.name for paper in jobs.papers]
        self._claims = claims
        self._captions = captions
        self._report = report

    @cached_property
    def needs(self) -> dict[str, list[str]]:
        """Job -> the jobs whose files it reads, of all jobs."""
        last = self._needs_of_last_jobs()
        return {**self._needs_of_jobs(), **last, "report": [*self._jobs.artifacts, *last]}

    def _needs_of_jobs(self) -> dict[str, list[str]]:
        """The needs of experiments, artifacts and trainings, and of the datasets, which have none.

        The datasets follow in the order in which the other jobs read them.
        """
        jobs = self._jobs.declared()
        jobs += [self._jobs[name] for name in self._jobs.trainings]
        needs = {job.name: _makers(job.inputs) for job in jobs}
        for makers in list(needs.values()):
            for maker in makers:
                needs.setdefault(maker, [])
        return needs

    def _needs_of_last_jobs(self) -> dict[str, list[str]]:
        """The needs of claims, captions, data packages and errata, on which only the report rests.

        A job that makes a header of the data packages is one of their needs.
        """
        needs: dict[str, list[str]] = {}
        for paper in self._papers:
            needs[f"claims {paper}"] = _makers(self._claims.tables(paper))
        captions = [f"captions_{paper}" for paper in self._papers]
        for paper, caption in zip(self._papers, captions, strict=True):
            needs[caption] = [f"claims {judge}" for judge in self._captions.judges_of(paper)]
            needs[caption] += self._captions.data_files(paper).values()
        makers = [maker for maker in self._report.headers().values() if maker]
        experiments = self._jobs.experiments
        needs["datapackages"] = list(
            dict.fromkeys([*makers, *experiments, *self._jobs.artifacts, *captions])
        )
        needs["errata"] = []
        return needs


def _makers(inputs: Iterable[Input]) -> list[str]:
    """The jobs that make some inputs."""
    return list(dict.fromkeys(makers_of(inputs).values()))


def behind(needs: Needs, targets: Iterable[str]) -> set[str]:
    """Some jobs and all that they rest on."""
    jobs: set[str] = set()
    waiting = list(targets)
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
    for name, makers in needs.items():
        for maker in makers:
            readers[maker].append(name)
    longest: dict[str, list[str]] = {}
    for name in TopologicalSorter(readers).static_order():  # the readers of a job come before it
        after = [longest[reader] for reader in readers[name]]
        longest[name] = [name, *longest_of(after, seconds)]
    return longest


def longest_of(
    chains_of_jobs: Iterable[Sequence[str]], seconds: Mapping[str, float]
) -> Sequence[str]:
    """The chain that takes longest; empty if there is none."""
    return max(chains_of_jobs, key=lambda chain: length(chain, seconds), default=())


def length(chain: Iterable[str], seconds: Mapping[str, float]) -> float:
    """Seconds of the jobs of a chain, one after another."""
    return sum(seconds.get(name, 0.0) for name in chain)
