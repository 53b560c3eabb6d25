"""Rule -> dataset: make, read or fetch a source and write it as one verified file."""

from finitewidth.pipeline.runs.recorded import recorded

with recorded(snakemake):
    from finitewidth.common.errors import DataError
    from finitewidth.data.build import build_dataset
    from finitewidth.data.places import tree_of
    from finitewidth.data.store import write_dataset

    source = snakemake.params.source
    data = snakemake.config["data"]
    write_dataset(snakemake.output.data, build_dataset(source, data))
    if tree_of(source, data, known=None) != snakemake.params.tree:
        raise DataError(f"the pictures of {source} have changed during the run; run again")
