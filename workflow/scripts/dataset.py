"""Rule -> dataset: make, read or fetch a source and write it as one verified file."""

from finitewidth.common.recorded import recorded
from finitewidth.data.build import build_dataset
from finitewidth.data.store import write_dataset

with recorded(snakemake):
    write_dataset(
        snakemake.output.data, build_dataset(snakemake.wildcards.source, snakemake.config["data"])
    )
