"""Rule -> table: typeset rows, write all formats."""

from finitewidth.common.progress import logged_to
from finitewidth.tables.job import render_table

with logged_to(snakemake.log[0]):
    render_table(
        module=snakemake.params.module,
        inputs=dict(snakemake.input.items()),
        outputs=dict(snakemake.output.items()),
        settings=snakemake.params.settings,
        footer=snakemake.params.footer,
    )
