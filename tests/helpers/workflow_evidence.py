"""Evidence and footers of configurations, without the plan of a whole run."""

from tests.helpers.project import ROOT

from finitewidth.declarations.papers import read_papers
from finitewidth.pipeline.configuration import sources_of
from finitewidth.pipeline.evidence import Evidence
from finitewidth.pipeline.footers import Footers
from finitewidth.pipeline.jobs import Jobs
from finitewidth.settings.nested import merged
from finitewidth.settings.presets import preset_only

PAPERS = read_papers(ROOT / "workflow/papers")
PRESETS = {name: preset_only(name, ROOT / "config") for name in ("quick", "laptop", "paper")}
JOBS = {name: Jobs(PAPERS, preset) for name, preset in PRESETS.items()}
SOURCES = sources_of(PRESETS["paper"], [paper.name for paper in PAPERS])


def evidence(preset="quick", **over):
    """The evidence of a run at a preset, with other settings in place of its own."""
    jobs = Jobs(PAPERS, merged(PRESETS[preset], over))
    return Evidence(jobs, JOBS[preset], JOBS["paper"], SOURCES)


def footer(artifact, preset="quick", **over):
    """The footer of an artifact in such a run."""
    run = evidence(preset, **over)
    return Footers(run.jobs, run).footer(artifact)
