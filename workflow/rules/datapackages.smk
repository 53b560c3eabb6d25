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
    resources:
        **plan.requests.of("datapackages"),
    params:
        packages=plan.packages,
        code=plan.code_of(
            "finitewidth.report.datapackages",
            *sorted({entry.module for entry in plan.artifacts}),
            script="datapackages",
        ),
    script:
        "../scripts/datapackages.py"
