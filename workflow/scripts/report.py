"""Rule -> report: read whatever results there are, write the pages."""

import logging
import time

from finitewidth.common.recorded import record_in_place_of, recorded
from finitewidth.common.settings import overrides
from finitewidth.report.job import build_report

# a library that the report uses sends what is logged to the terminal, too
logging.getLogger("finitewidth").propagate = False
with recorded(snakemake, check=False):
    started = time.monotonic()
    build_report(
        folder=snakemake.output[0] if snakemake.output else snakemake.params.folder,
        settings={
            **snakemake.params.settings,
            "jobs": snakemake.params.jobs,
            # not a parameter: the device, say, is told but makes nothing anew
            "overrides": overrides(snakemake.config, "config"),
        },
    )
    if not snakemake.output:
        record_in_place_of("report", snakemake, time.monotonic() - started)
