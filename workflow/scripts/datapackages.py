"""Rule -> datapackages: describe the columns of all data files."""

from finitewidth.common.progress import logged_to
from finitewidth.report.datapackages import write_packages

with logged_to(snakemake.log[0]):
    write_packages(snakemake.params.packages)
