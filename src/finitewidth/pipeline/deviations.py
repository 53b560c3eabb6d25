"""Deviations: what a job of this run does otherwise than the same job of the paper.

Each job has one list of them. The footer, the mark, the grade and the status of what rests on the
job are filters of it. Values that the paper accepts as well are no deviations
(`finitewidth.settings.sections.Source.accepts`).
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from finitewidth.claims.needs import is_original
from finitewidth.data.catalogue import SOURCES
from finitewidth.pipeline.descriptions import (
    EPOCHS,
    LAYERS,
    PIXELS,
    TEST,
    TRAIN,
    describe_settings,
    describe_training,
)
from finitewidth.pipeline.jobs import Jobs
from finitewidth.pipeline.views import View
from finitewidth.settings.nested import leaves, replaced
from finitewidth.settings.sections import Source
from finitewidth.training.planned import PlannedTraining

Path = tuple[str, ...]  # of a setting
REPETITIONS = ("runs", "draws", "paper_draws")  # settings that are no sizes


class Origin(Enum):
    """Where the paper's value comes from: the paper or its code states it, or we have chosen it."""

    STATED = "stated"
    OURS = "ours"


class Kind(Enum):
    """What the value is of.

    A size is all that the paper states but repetitions, and of our own choices what makes a
    training smaller. Repetitions are numbers of runs and draws.
    """

    SIZE = "size"
    REPETITION = "repetition"
    CHOICE = "choice"


@dataclass(frozen=True)
class Deviation:
    """One value of a job of this run, and that of the same job of the paper.

    Attributes:
        name: what it is the value of, in words
        ours: value of this run; None if it has none
        theirs: value of the paper; None if it has none
        origin: of the paper's value
        kind: of the value
    """

    name: str
    ours: Any
    theirs: Any
    origin: Origin
    kind: Kind

    @property
    def stated(self) -> bool:
        """Whether the paper or its code states its value."""
        return self.origin is Origin.STATED


class Deviations:
    """The deviations of all jobs of a configuration from preset ``paper``.

    They come from three runs between this one and that of the paper, which have more and more of
    the paper's values: where the paper accepts ours as well, for all that is our own choice, and
    for numbers of runs and draws. What is left in each of them deviates.
    """

    def __init__(self, jobs: Jobs, paper: Jobs, sources: Mapping[Path, Source]):
        """Compare nothing yet.

        Args:
            jobs: of this run
            paper: jobs of preset ``paper``
            sources: path of a setting -> where its value in preset ``paper`` comes from
        """

        def is_ours(path: Path) -> bool:
            return not sources[path].stated

        def is_no_size(path: Path) -> bool:
            return is_ours(path) or path[-1] in REPETITIONS or "shown" in path

        self._data = jobs.config["data"]
        self._paper = paper
        self._unaccepted = _with_values_of(paper, jobs, sources, lambda path: False)
        self._stated = _with_values_of(paper, jobs, sources, is_ours)
        self._sizes = _with_values_of(paper, jobs, sources, is_no_size)
        self._lists: dict[Any, list[Deviation]] = {}  # a start of Snakemake asks for many often

    def of_job(self, job: str, view: View) -> list[Deviation]:
        """The deviations of one job that can be seen; those that the paper states come first."""
        key = job, view.of_job(job)
        if key not in self._lists:
            self._lists[key] = list(self._compare(job, view))
        return self._lists[key]

    def _compare(self, job: str, view: View) -> Iterator[Deviation]:
        stated = self._differences(self._stated, job, view)
        sizes = self._differences(self._sizes, job, view)
        for name, (ours, theirs) in stated.items():
            kind = Kind.SIZE if name in sizes else Kind.REPETITION
            yield Deviation(name, ours, theirs, Origin.STATED, kind)
        unaccepted = self._differences(self._unaccepted, job, view)
        for name, (ours, theirs) in unaccepted.items():
            if name not in stated:
                smaller = job in self._paper.trainings and makes_smaller(name, ours, theirs)
                kind = Kind.SIZE if smaller else Kind.CHOICE
                yield Deviation(name, ours, theirs, Origin.OURS, kind)

    def _differences(self, jobs: Jobs, job: str, view: View) -> dict[str, tuple[Any, Any]]:
        """Name of a value in words -> that of one of the runs, and that of the paper."""
        if not view.differs(jobs, self._paper, job):
            return {}
        ours, theirs = self._descriptions(jobs, job, view)
        differences = {}
        for name in {**ours, **theirs}:
            if ours.get(name) != theirs.get(name):
                differences[name] = (ours.get(name), theirs.get(name))
        return differences or {f"{job} is set up otherwise": (None, None)}

    def _descriptions(
        self, jobs: Jobs, job: str, view: View
    ) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """A job in words, of one of the runs and of the paper; empty for a job of one of them."""
        if job in jobs.experiments:
            ours = describe_settings(view.params(jobs, job))
            return ours, describe_settings(view.params(self._paper, job))
        if job in self._paper.trainings:
            training = jobs.trainings[job]
            images = self._number_of_images(training.dataset)
            return _describe(training, images), _describe(self._paper.trainings[job], images)
        return {}, {}

    def _number_of_images(self, role: str) -> dict[str, int]:
        """What "all images" means, if a dataset of the papers is at hand or a re-encoded copy."""
        source = self._data[role]
        images = SOURCES[source].images if is_original(source, role) else None
        return dict(zip((TRAIN, TEST), images, strict=True)) if images else {}


def _describe(training: PlannedTraining, images: Mapping[str, int]) -> dict[str, Any]:
    """A training in words, with the number of ``images`` where it takes all."""
    description = describe_training(training)
    for name, number in images.items():
        description[name] = description[name] or number
    return description


def _with_values_of(
    paper: Jobs, jobs: Jobs, sources: Mapping[Path, Source], replaces: Callable[[Path], bool]
) -> Jobs:
    """The jobs of a run with the paper's values where it accepts ours, and at further paths."""
    theirs = leaves(paper.config)
    values = {}
    for path, ours in leaves(jobs.config).items():
        if path not in sources or theirs.get(path, ours) == ours:
            continue
        if replaces(path) or sources[path].accepts(theirs[path], ours):
            values[path] = theirs[path]
    return Jobs(jobs.papers, replaced(jobs.config, values))


def makes_smaller(name: str, ours: Any, theirs: Any) -> bool:
    """Whether a value makes a training smaller: its images, their pixels, its layers or epochs."""
    if name in (LAYERS, PIXELS):
        return True
    if name not in (TRAIN, TEST, EPOCHS) or ours is None:
        return False
    return theirs is None or ours < theirs
