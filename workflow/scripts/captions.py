"""Rule -> captions: write the captions of a paper, with settings and verdicts of this run."""

from finitewidth.pipeline.runs.recorded import recorded

with recorded(snakemake):
    from finitewidth.claims.captions import write_captions

    captions = {}
    templates = snakemake.input.templates  # in the order of the captions, and with the real paths
    for artifact, template in zip(snakemake.params.captions, templates, strict=True):
        captions[artifact] = {**snakemake.params.captions[artifact], "template": template}
    write_captions(captions, list(snakemake.input.get("verdicts", [])))
