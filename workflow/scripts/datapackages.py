"""Rule -> datapackages: describe the columns of all data files."""

from finitewidth.pipeline.recorded import recorded
from finitewidth.report.datapackages import write_packages

with recorded(snakemake):
    write_packages(snakemake.params.packages)
