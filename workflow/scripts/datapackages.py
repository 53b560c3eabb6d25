"""Rule -> datapackages: describe the columns of all data files."""

from finitewidth.pipeline.recorded import recorded

with recorded(snakemake):
    from finitewidth.report.datapackages import write_packages

    write_packages(snakemake.params.packages)
