"""Rule -> experiment: measure, and write the tables."""

from finitewidth.pipeline.runs.recorded import PROVENANCE, code_digest_of, inputs_of, recorded

with recorded(snakemake) as provenance:
    from finitewidth.measures.job import run_experiment

    params = snakemake.params
    provenance |= run_experiment(
        module=params.module,
        inputs=inputs_of(snakemake),
        outputs={key: file for key, file in snakemake.output.items() if key != PROVENANCE},
        settings=params.settings,
        code=code_digest_of(snakemake),
        threads=snakemake.threads,
        seed=params.seed,
        device=snakemake.config["device"] if params.get("on_device") else None,
        checkpoints=params.get("checkpoints"),
        checkpoint_seconds=snakemake.config["checkpoint_seconds"],
    )
