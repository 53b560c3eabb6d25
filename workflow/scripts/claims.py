"""Rule -> verdicts: judge a paper's claims and compare its numbers."""

from finitewidth.pipeline.runs.recorded import recorded

with recorded(snakemake):
    from finitewidth.claims.job import run_claims

    run_claims(
        paper=snakemake.wildcards.paper,
        tables=list(snakemake.input.get("tables", [])),
        reported_file=snakemake.input.get("reported"),
        outputs=dict(snakemake.output.items()),
        settings=snakemake.params.settings,
    )
