"""The plan of a run: all that follows from its settings before a job runs.

Imports no torch: Snakemake reads this at every start.
"""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from finitewidth.data.catalogue import ROLES, source_for
from finitewidth.data.places import registered
from finitewidth.declarations.papers import Artifact, artifacts_of, read_papers
from finitewidth.pipeline import configuration
from finitewidth.pipeline.caption_input import CaptionInput
from finitewidth.pipeline.claim_input import ClaimInput
from finitewidth.pipeline.costs import TABLE, Cost, read_costs
from finitewidth.pipeline.evidence import Evidence
from finitewidth.pipeline.files import Files
from finitewidth.pipeline.footers import Footers
from finitewidth.pipeline.forecast import Forecast
from finitewidth.pipeline.graph import Graph
from finitewidth.pipeline.jobs import Jobs
from finitewidth.pipeline.report_input import ReportInput
from finitewidth.pipeline.requests import Requests
from finitewidth.settings.presets import preset_only


class Plan:
    """A checked configuration, and what follows from it.

    Attributes:
        root: folder of the project
        config: the settings
        papers: declarations of all papers, and ``paper_names``
        artifacts: declarations of all figures and tables
        jobs: of the configuration
        evidence: how their results compare with the papers
        footers: the same in words
        files: where results are; ``results`` is their folder
        claim_input, caption_input, report_input: files and settings of these rules
        graph: which job needs which
        gpus: number that a training asks a scheduler for
    """

    def __init__(self, config: Mapping[str, Any], root: str | Path):
        """Check the settings of a run.

        Args:
            config: all settings
            root: folder of the Snakefile

        Raises:
            ConfigError: a setting is refused.
        """
        self.root = Path(root)
        self.papers = read_papers(self.root / "workflow/papers")
        self.paper_names = tuple(paper.name for paper in self.papers)
        configuration.check(config, self.paper_names)
        self.config = {**config, "data": registered(config["data"])}
        for role in ROLES:
            source_for(role, self.config["data"])
        self.artifacts: list[Artifact] = artifacts_of(self.papers)
        self.jobs = Jobs(self.papers, self.config)
        self.results = self.jobs.results
        self.evidence = self._evidence()
        self.footers = Footers(self.jobs, self.evidence)
        self.files = Files(self.jobs)
        self.claim_input = ClaimInput(self.jobs, self.evidence, self.footers, self.root)
        self.caption_input = CaptionInput(
            self.jobs, self.files, self.evidence, self.footers, self.root
        )
        self.report_input = ReportInput(self.jobs, self.files, self.evidence, self.footers)
        self.graph = Graph(self.jobs, self.claim_input, self.caption_input, self.report_input)
        self.gpus = int(self.config["device"] != "cpu")

    def _evidence(self) -> Evidence:
        """Compare this run with its unmodified preset, and with preset ``paper``."""
        paper = preset_only("paper", self.root / "config")
        preset = preset_only(self.config["preset"], self.root / "config")
        unmodified = self.jobs if self.config == preset else Jobs(self.papers, preset)
        sources = configuration.sources_of(paper, self.paper_names)
        return Evidence(self.jobs, unmodified, Jobs(self.papers, paper), sources)

    @cached_property
    def costs(self) -> dict[str, Cost]:
        """Job -> its row at this preset in the table of costs; not every job has one."""
        return read_costs(self.root / TABLE, self.config["preset"])

    @cached_property
    def requests(self) -> Requests:
        """Memory, time, priority and group of every job."""
        return Requests(self.jobs, self.costs, self.graph)

    @cached_property
    def forecast(self) -> Forecast:
        """What jobs take, by the table of costs."""
        return Forecast(self.jobs, self.graph, self.evidence, self.costs, self.requests)
