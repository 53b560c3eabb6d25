"""Plans of runs, for tests of what follows from settings."""

from tests.helpers.project import ROOT

from finitewidth.pipeline.plan import Plan
from finitewidth.settings.nested import merged
from finitewidth.settings.presets import preset_only


def plan(preset: str = "quick", **over) -> Plan:
    """The plan of a run at a preset, with other settings in place of its own."""
    return Plan(merged(preset_only(preset, ROOT / "config"), over), ROOT)
