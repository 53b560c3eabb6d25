"""Rule -> a declared job: run an experiment, or draw or typeset an artifact."""

import gc

from finitewidth.pipeline.recorded import PROVENANCE, code_digest_of, inputs_of, recorded

with recorded(snakemake) as provenance:
    params = snakemake.params
    call = {
        "module": params.module,
        "inputs": inputs_of(snakemake),
        "outputs": {key: file for key, file in snakemake.output.items() if key != PROVENANCE},
        "settings": params.settings,
    }
    layer = params.module.split(".")[-2]
    if layer == "figures":
        gc.disable()  # searches for garbage would take a tenth of the time of a figure
        from finitewidth.figures.job import render_figure

        render_figure(**call, footer=params.footer, mark=params.mark)
    elif layer == "tables":
        from finitewidth.tables.job import render_table

        render_table(**call, footer=params.footer)
    else:
        from finitewidth.measures.job import run_experiment

        provenance |= run_experiment(
            **call,
            code=code_digest_of(snakemake),
            threads=snakemake.threads,
            seed=params.seed,
            device=snakemake.config["device"] if params.get("on_device") else None,
            checkpoints=params.get("checkpoints"),
            checkpoint_seconds=snakemake.config["checkpoint_seconds"],
        )
