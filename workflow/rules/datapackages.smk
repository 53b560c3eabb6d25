# One Frictionless data package for each paper: what every column of every data file means.


rule datapackages:
    input:
        plan.package_files(),
    output:
        list(plan.packages()),
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
        packages=plan.packages,
        code=plan.package_code(),
    script:
        "../scripts/datapackages.py"
