"""Rule -> verdicts: judge a paper's claims and compare its numbers."""

from finitewidth.claims.job import run_claims
from finitewidth.common.progress import logged_to

with logged_to(snakemake.log[0]):
    run_claims(
        paper=snakemake.wildcards.paper,
        tables=list(snakemake.input.get("tables", [])),
        reported_file=snakemake.input.get("reported"),
        outputs=dict(snakemake.output.items()),
        settings=snakemake.params.settings,
    )
