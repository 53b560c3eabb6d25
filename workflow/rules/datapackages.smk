# One Frictionless data package for each paper: what every column of every data file means.
from finitewidth.pipeline.packages import Packages

packages = Packages(plan)


rule datapackages:
    input:
        packages.files(),
    output:
        *packages.described(),
        provenance=f"{results}/provenance/datapackages.json",
    log:
        f"{results}/logs/datapackages.log",
    benchmark:
        f"{results}/benchmarks/datapackages.tsv"
    conda:
        "../envs/finitewidth.yaml"
    threads: 1
    resources:
        mem_mb=partial(plan.memory, "datapackages"),
        runtime=partial(plan.minutes, "datapackages"),
    params:
        packages=packages.described,
        code=packages.code(),
    script:
        "../scripts/datapackages.py"
