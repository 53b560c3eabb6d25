# One Frictionless data package for each paper: what every column of every data file means.


rule datapackages:
    """Data packages: what every column of every data file means"""
    input:
        unpack(partial(inputs_of, "datapackages")),
    output:
        *plan.files.packages(),
        provenance=f"{results}/provenance/datapackages.json",
    log:
        plan.files.log("datapackages"),
    benchmark:
        plan.files.benchmark("datapackages")
    resources:
        **plan.requests.resources("datapackages"),
    params:
        packages=partial(parameter, "datapackages", "packages"),
    script:
        "../scripts/datapackages.py"
