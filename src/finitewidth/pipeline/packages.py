"""The data packages of the papers: files, content and code."""

from typing import Any

from finitewidth.common.declarations import Artifact, artifacts_of, done
from finitewidth.pipeline.plan import Plan


class Packages:
    """What the rule that writes data packages asks for, of one configuration.

    Args:
        plan: the configuration and its jobs.
    """

    def __init__(self, plan: Plan):
        self._plan = plan
        self._papers = [paper for paper in plan.papers if done(paper.artifacts)]
        self._entries = done(artifacts_of(self._papers))

    def described(self, wildcards: Any = None) -> dict[str, dict[str, Any]]:
        """Data package -> what it describes, one for each paper with finished artifacts."""
        return {
            f"{self._plan.results}/{paper.name}/datapackage.json": {
                "paper": paper.name, "title": paper.title, "preset": self._plan.config["preset"],
                "resources": [self._resource(entry) for entry in done(paper.artifacts)],
            }
            for paper in self._papers
        }  # fmt: skip

    def _resource(self, entry: Artifact) -> dict[str, Any]:
        """What the data package of a paper tells about one artifact."""
        plan, name = self._plan, entry.artifact
        return {
            "artifact": name, "title": f"{entry.label}: {entry.title}",
            "footer": plan.footer(name), "module": entry.module,
            "file": plan.jobs.outputs(name)["csv"], "caption": plan.caption(name),
            "inputs": {read.reference: list(read.files) for read in plan.jobs[name].reads},
            "drawn": {"settings": plan.params(name), "mark": plan.mark(name)},
        }  # fmt: skip

    def files(self) -> list[str]:
        """The data files and the captions of all finished artifacts."""
        names = [entry.artifact for entry in self._entries]
        data = [self._plan.jobs.outputs(name)["csv"] for name in names]
        return data + [self._plan.caption(name) for name in names]

    def code(self) -> dict[str, Any]:
        """The code that describes the columns of all data files."""
        modules = "finitewidth.report.datapackages", *sorted({e.module for e in self._entries})
        return self._plan.code_of(*modules, script="datapackages")
