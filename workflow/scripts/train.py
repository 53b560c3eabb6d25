"""Rule -> training: train a stack and write history, weights and provenance."""

from finitewidth.pipeline.recorded import recorded

with recorded(snakemake) as provenance:
    from finitewidth.training.job import run_training

    provenance |= run_training(
        inputs=dict(snakemake.input.items()),
        outputs=dict(snakemake.output.items()),
        settings=snakemake.params.run,
        code=snakemake.params.code["digest"],
        seed=snakemake.params.seed,
        runtime={
            "threads": snakemake.threads,
            "device": snakemake.config["device"],
            # no output of the rule: Snakemake would delete them with a failed job
            "checkpoints": snakemake.params.checkpoints,
            "checkpoint_seconds": snakemake.config["checkpoint_seconds"],
        },
    )
