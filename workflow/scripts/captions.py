"""Rule -> captions: write the captions of a paper, with settings and verdicts of this run."""

from finitewidth.pipeline.runs.recorded import recorded

with recorded(snakemake):
    from finitewidth.claims.captions import write_captions

    captions = snakemake.params.captions
    templates = zip(captions, snakemake.input.templates, strict=True)
    write_captions(
        {artifact: {**captions[artifact], "template": file} for artifact, file in templates},
        list(snakemake.input.get("verdicts", [])),
    )
