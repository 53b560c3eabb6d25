"""The workflow's rules as Snakemake itself knows them."""

import contextlib
from functools import cache
from typing import Any

from snakemake.api import SnakemakeApi
from snakemake.settings.enums import Quietness
from snakemake.settings.types import (
    ConfigSettings,
    ExecMode,
    OutputSettings,
    ResourceSettings,
    WorkflowSettings,
)
from tests.helpers.project import ROOT


@cache
def rules(preset: str = "quick", seed: int = 0) -> dict[str, Any]:
    """Name -> rule, after Snakemake has read the Snakefile with these settings; nothing is run."""
    quiet = OutputSettings(quiet={Quietness.ALL})
    with contextlib.chdir(ROOT), SnakemakeApi(quiet) as api:
        loaded = api.workflow(
            resource_settings=ResourceSettings(cores=1),
            config_settings=ConfigSettings(config={"preset": preset, "seed": seed}),
            # as the process of a single job, which changes nothing at its start
            workflow_settings=WorkflowSettings(exec_mode=ExecMode.SUBPROCESS),
            snakefile=ROOT / "Snakefile",
            workdir=ROOT,
        )
        return {rule.name: rule for rule in loaded._workflow.rules}
