"""Rule -> verdicts under one base seed: judge the claims that rest on cheap experiments."""

from finitewidth.claims.robustness import run_again
from finitewidth.pipeline.recorded import recorded

with recorded(snakemake) as provenance:
    run_again(
        paper=snakemake.wildcards.paper,
        claims=snakemake.params.claims,
        tables=list(snakemake.input),
        outputs=dict(snakemake.output.items()),
        settings=snakemake.params.settings,
    )
    provenance["claims"] = snakemake.params.claims
    provenance |= snakemake.params.stamp
