"""What some inputs show of the jobs behind them: not every table depends on every setting."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from finitewidth.common.declarations import Artifact, Experiment
from finitewidth.common.settings import at, leaves, replaced
from finitewidth.pipeline.jobs import Jobs, Read

Path = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Seen:
    """The settings of the jobs behind some inputs that can be seen in them.

    Attributes:
        unseen: job -> paths of settings on which none of its tables that are read depends
            (`Experiment.independent`).
        shown: path of the setting with the number of runs that an artifact shows, or this number;
            empty for all runs.
        first: the experiments of which it shows the first runs only.
    """

    unseen: Mapping[str, frozenset[Path]]
    shown: str | int = ""
    first: frozenset[str] = frozenset()

    @classmethod
    def of(cls, jobs: Jobs, reads: Sequence[Read], artifact: Artifact | None = None) -> "Seen":
        """What is seen in some inputs of a claim or number, or of an artifact."""
        every, names = jobs.closure(reads)
        unseen = {}
        for name in names:
            declared = jobs[name].declared
            if isinstance(declared, Experiment) and declared.independent:
                tables = [r.reference.split(".")[-1] for r in every if name in r.jobs]
                parts = [set(declared.independent.get(table, ())) for table in tables]
                paths = set.intersection(*parts)
                unseen[name] = frozenset(tuple(path.split(".")) for path in paths)
        shown = artifact.shown if artifact else ""
        read = {name for each in reads for name in each.jobs}
        if isinstance(shown, str):
            read &= {"_".join(shown.split(".")[:2])}
        return cls(unseen=unseen, shown=shown, first=frozenset(read if shown else ()))

    @property
    def key(self) -> Any:
        """A value by which equal objects can be found again."""
        return frozenset(self.unseen.items()), self.shown, self.first

    def params(self, jobs: Jobs, name: str) -> Mapping[str, Any]:
        """The settings of one job that can be seen; numbers of runs are at most those shown."""
        params = _without(jobs[name].params, self.unseen.get(name, ()))
        if name not in self.first:
            return params
        most, own = self.shown, None
        if isinstance(self.shown, str):
            most, own = at(jobs.config, self.shown), self.shown.split(".")[-1]
        changed = {path: min(value, most) for path, value in leaves(params).items()
                   if path[-1] == "runs"}  # fmt: skip
        shown = params.get("shown")
        names = shown if isinstance(shown, Mapping) else ()
        others = {("shown", other) for other in names if other != own}
        return _without(replaced(params, changed), others)


def _without(settings: Mapping[str, Any], paths: Collection[Path]) -> Mapping[str, Any]:
    """The settings without some parts."""
    if not paths:
        return settings
    below = {key: {path[1:] for path in paths if path[0] == key and path[1:]} for key in settings}
    return {
        key: _without(value, below[key]) if below[key] else value
        for key, value in settings.items() if (key,) not in paths
    }  # fmt: skip
