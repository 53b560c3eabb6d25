"""Rule -> verdicts: judge a paper's claims and compare its numbers."""

from finitewidth.claims.job import run_claims
from finitewidth.pipeline.recorded import recorded

with recorded(snakemake):
    run_claims(
        paper=snakemake.wildcards.paper,
        tables=list(snakemake.input.get("tables", [])),
        reported_file=snakemake.input.get("reported"),
        outputs=dict(snakemake.output.items()),
        settings=snakemake.params.settings,
    )
