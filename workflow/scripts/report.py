"""Rule -> report: read whatever results there are, write the pages."""

import logging
from pathlib import Path

from finitewidth.common.progress import logged_to
from finitewidth.pipeline.runs.recorded import recorded
from finitewidth.report.lock import alone
from finitewidth.settings.presets import overrides

# a library that the report uses sends what is logged to the terminal, too
logging.getLogger("finitewidth").propagate = False
params, results = snakemake.params, snakemake.params.settings["results"]
root = Path(snakemake.scriptdir).resolve().parents[1]
# `finitewidth report` is of the results that there are, while others may be made
with alone(results), recorded(snakemake) if snakemake.output else logged_to(snakemake.log[0]):
    from finitewidth.report.job import build_report

    build_report(
        folder=f"{results}/report",
        settings={
            **params.settings,
            "jobs": params.jobs,
            # all is of this run if the report is one of its jobs
            "outdated": params.get("outdated", {}),
            # kept out of `params`: a new device, say, must not trigger a rerun
            "overrides": overrides(snakemake.config, root / "config"),
        },
        root=root,
    )
    if not snakemake.output:
        Path(results, "provenance/report.json").unlink(missing_ok=True)  # of earlier pages
