"""Rule -> experiment: read inputs, measure, write tables and provenance."""

from finitewidth.experiments.job import run_experiment
from finitewidth.progress import logged_to

with logged_to(snakemake.log[0]):
    run_experiment(
        module=snakemake.params.module,
        inputs=dict(snakemake.input.items()),
        outputs=dict(snakemake.output.items()),
        settings=snakemake.params.settings,
        code=snakemake.params.code,
        threads=snakemake.threads,
    )
