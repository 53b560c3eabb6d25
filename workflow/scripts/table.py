"""Rule -> table: typeset it from tables, and write its rows."""

from finitewidth.pipeline.runs.recorded import PROVENANCE, inputs_of, recorded

with recorded(snakemake):
    from finitewidth.tables.job import render_table

    render_table(
        module=snakemake.params.module,
        inputs=inputs_of(snakemake),
        outputs={key: file for key, file in snakemake.output.items() if key != PROVENANCE},
        settings=snakemake.params.settings,
        footer=snakemake.params.footer,
    )
