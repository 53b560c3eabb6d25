"""Rule -> experiment: read inputs, measure, write tables and provenance."""

from finitewidth.common.progress import logged_to
from finitewidth.experiments.job import run_experiment

with logged_to(snakemake.log[0]):
    run_experiment(
        module=snakemake.params.module,
        inputs=dict(snakemake.input.items()),
        outputs=dict(snakemake.output.items()),
        settings=snakemake.params.settings,
        code=snakemake.params.code,
        threads=snakemake.threads,
    )
