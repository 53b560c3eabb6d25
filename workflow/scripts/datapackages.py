"""Rule -> datapackages: describe the columns of all data files."""

from pathlib import Path

from finitewidth.pipeline.runs.recorded import recorded

with recorded(snakemake):
    from finitewidth.report.datapackages import write_packages

    root = Path(snakemake.scriptdir).resolve().parents[1]
    write_packages(snakemake.params.packages, root)
