"""Rule -> report: read whatever results there are, write the pages."""

import logging
from pathlib import Path

from finitewidth.common.progress import logged_to
from finitewidth.common.settings import overrides
from finitewidth.pipeline.recorded import recorded
from finitewidth.report.job import build_report


def build(folder: str) -> None:
    params = snakemake.params
    root = Path(snakemake.scriptdir).resolve().parents[1]
    build_report(
        folder=folder,
        settings={
            **params.settings,
            "jobs": params.jobs,
            # not a parameter: the device, say, is told but makes nothing anew
            "overrides": overrides(snakemake.config, root / "config"),
        },
        root=root,
    )


# a library that the report uses sends what is logged to the terminal, too
logging.getLogger("finitewidth").propagate = False
if snakemake.output:
    with recorded(snakemake):
        build(snakemake.output.pages)
else:  # `finitewidth report`: of the results that there are, while others may be made
    with logged_to(snakemake.log[0]):
        build(snakemake.params.pages)
        Path(snakemake.params.provenance).unlink(missing_ok=True)  # of earlier pages
