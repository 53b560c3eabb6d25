"""Rule -> figure: draw it from tables, and write its rows."""

import gc

from finitewidth.pipeline.runs.recorded import PROVENANCE, inputs_of, recorded

with recorded(snakemake):
    gc.disable()  # searches for garbage would take a tenth of the time of a figure
    from finitewidth.figures.job import render_figure

    render_figure(
        module=snakemake.params.module,
        inputs=inputs_of(snakemake),
        outputs={key: file for key, file in snakemake.output.items() if key != PROVENANCE},
        settings=snakemake.params.settings,
        footer=snakemake.params.footer,
        mark=snakemake.params.mark,
    )
