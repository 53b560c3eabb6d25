"""Rule -> captions: write the captions of a paper, with settings and verdicts of this run."""

from finitewidth.captions.job import write_captions
from finitewidth.common.recorded import recorded

with recorded(snakemake):
    write_captions(snakemake.params.captions, list(snakemake.input.get("verdicts", [])))
