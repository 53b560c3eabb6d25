# One Frictionless data package for each paper: what every column of every data file means. The user's
# network, if there is one, has a package of its own.
from finitewidth.pipeline.packages import Packages

for name, papers in {"datapackages": plan.papers, "datapackage_own": plan.own}.items():
    if papers:
        packages = Packages(plan, papers)

        rule:
            name:
                name
            input:
                packages.files(),
            output:
                *packages.described(),
                provenance=f"{results}/provenance/{name}.json",
            log:
                f"{results}/logs/{name}.log",
            benchmark:
                f"{results}/benchmarks/{name}.tsv"
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
