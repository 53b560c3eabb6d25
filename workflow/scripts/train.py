"""Rule -> training: train a stack and write history, weights and provenance."""

from finitewidth.pipeline.runs.recorded import code_digest_of, inputs_of, recorded

with recorded(snakemake) as provenance:
    from finitewidth.training.job import run_training

    provenance |= run_training(
        inputs=inputs_of(snakemake),
        outputs=dict(snakemake.output.items()),
        settings=snakemake.params.settings,
        code=code_digest_of(snakemake),
        seed=snakemake.params.seed,
        runtime={
            "threads": snakemake.threads,
            "device": snakemake.config["device"],
            # no output of the rule: Snakemake would delete them with a failed job
            "checkpoints": snakemake.params.checkpoints,
            "checkpoint_seconds": snakemake.config["checkpoint_seconds"],
        },
    )
