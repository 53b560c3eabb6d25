"""Rule -> report: read whatever results there are, write the pages."""

import logging
from pathlib import Path

from finitewidth.common.progress import logged_to
from finitewidth.pipeline.runs.recorded import recorded
from finitewidth.report.lock import alone
from finitewidth.settings.presets import overrides

# a library that the report uses sends what is logged to the terminal, too
logging.getLogger("finitewidth").propagate = False
params = snakemake.params
results = params.settings["results"]
root = Path(snakemake.scriptdir).resolve().parents[1]
# rule report_now has no output: `finitewidth report` shows results so far, and leaves no provenance
is_recorded = bool(snakemake.output)
record = recorded(snakemake) if is_recorded else logged_to(snakemake.log[0])
with alone(results), record:
    from finitewidth.report.job import build_report

    build_report(
        folder=f"{results}/report",
        settings={
            **params.settings,
            "jobs": params.jobs,
            # nothing is outdated if the report is a job of the run that made the results
            "outdated": params.get("outdated", {}),
            # kept out of `params`: a new device, say, must not trigger a rerun
            "overrides": overrides(snakemake.config, root / "config"),
        },
        root=root,
    )
    if not is_recorded:
        # the provenance of earlier pages
        Path(results, "provenance/report.json").unlink(missing_ok=True)
