# One Frictionless data package for each paper: what every column of every data file means.


rule datapackages:
    input:
        [plan.jobs.outputs(entry.artifact)["csv"] for entry in plan.artifacts],
        plan.captions(),
    output:
        *plan.packages(),
        provenance=f"{results}/provenance/datapackages.json",
    log:
        f"{results}/logs/datapackages.log",
    benchmark:
        f"{results}/benchmarks/datapackages.tsv"
    conda:
        "../envs/finitewidth.yaml"
    resources:
        mem_mb=partial(plan.requests.memory, "datapackages"),
        runtime=partial(plan.requests.minutes, "datapackages"),
    params:
        packages=plan.packages,
        code=plan.code_of(
            "finitewidth.report.datapackages",
            *sorted({entry.module for entry in plan.artifacts}),
            script="datapackages",
        ),
    script:
        "../scripts/datapackages.py"
