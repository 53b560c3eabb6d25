"""Rule -> figure: draw rows, write pictures and the rows drawn."""

from finitewidth.common.progress import logged_to
from finitewidth.figures.job import render_figure

with logged_to(snakemake.log[0]):
    render_figure(
        module=snakemake.params.module,
        inputs=dict(snakemake.input.items()),
        outputs=dict(snakemake.output.items()),
        settings=snakemake.params.settings,
        footer=snakemake.params.footer,
    )
